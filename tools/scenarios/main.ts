import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadConfig } from '../../src/config.ts';
import { createDatabaseAnew } from '../../local/postgres/database-admin.ts';
import { startEmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { EXIT_USAGE, readOptions, refuse, usageText } from '../../src/platform/usage.ts';
import { formatTable } from '../../src/platform/terminal.ts';
import { DATA_DIR, localServices } from '../../local/backing-services.ts';
import { runProcess } from '../../src/bootstrap/run-process.ts';
import { DECK, type Card } from '../../local/sandbox/faults/deck.ts';
import { rehearsalsPage } from './page.ts';
import { playCards, type Rehearsal } from './run-scenarios.ts';
import { startServer } from '../../src/bootstrap/start-server.ts';

/**
 * `npm run scenario`: rehearses named faults on parts of its own (database, sandbox, ports), beside whatever runs
 * already. Ends with 0 only if every rehearsal ended as it should.
 */

const HELP = usageText('npm run scenario', {
  does: 'Rehearses named faults and compares how each order ended with how it should.',
  forms: ['<name> [<name> ...]', '--all | --list | --page'],
  options: {
    '--all': 'rehearses all of them, about half a minute',
    '--list': 'lists the names',
    '--page': 'prints docs/rehearsals.md',
  },
  exits: '0 all ended as they should, 1 one did not',
  example: 'pay-less',
});

const wanted = readArguments();
if (wanted !== null) await runProcess(() => rehearse(wanted));

function readArguments(): readonly Card[] | null {
  const given = argumentsOf();
  if (given === null) return null;
  const { values, positionals } = given;
  const unknown = positionals.filter((name) => !DECK.some((card) => card.name === name));
  if (unknown.length > 0) {
    process.stderr.write(
      `there is no fault named ${unknown.join(', ')}: npm run scenario -- --list names them\n`,
    );
    process.exitCode = EXIT_USAGE;
    return null;
  }
  if (values.list) {
    process.stdout.write(
      `${formatTable(
        ['name', 'what'],
        DECK.map(({ name, title }) => [name, title]),
      )}\n`,
    );
    return null;
  }
  if (values.page) {
    process.stdout.write(rehearsalsPage(DECK));
    return null;
  }
  if (values.all) return DECK;
  if (positionals.length > 0) return DECK.filter(({ name }) => positionals.includes(name));
  refuse('Which fault?', HELP);
  return null;
}

function argumentsOf() {
  const flag = { type: 'boolean', default: false } as const;
  const options = { all: flag, list: flag, page: flag };
  return readOptions(HELP, process.argv.slice(2), () => parseArgs({ allowPositionals: true, options }));
}

async function rehearse(cards: readonly Card[]): Promise<number> {
  const dataDir = join(DATA_DIR, 'scenario');
  const logger = createLogger('fatal', process.stderr);
  const postgres = await startEmbeddedPostgres({ dataDir, purpose: 'npm run scenario', logger });
  try {
    rmSync(join(dataDir, 'sandbox'), { recursive: true, force: true });
    const dialect = join(dataDir, 'dialect.json');
    mkdirSync(dataDir, { recursive: true });
    // Pages of two rows: a history of a few transactions has several.
    writeFileSync(dialect, JSON.stringify({ history: { paging: { size: 2 } } }));
    // Only what is needed: a .env that points at a real service or database must not be touched.
    const config = loadConfig({
      DATABASE_URL: await createDatabaseAnew(postgres.url, 'scenario'),
      GATEWAY_DIALECT: dialect,
      PORT: '0',
      RECONCILE_EVERY_MIN: '0',
      CHECKOUTS_PER_MINUTE: '0',
    });
    const server = await startServer({
      config,
      prepare: localServices(dataDir),
      purpose: 'npm run scenario',
      logger,
    });
    process.stdout.write(`${String(cards.length)} to rehearse ...\n\n`);
    const rehearsals = await playCards(server, cards).finally(() => server.stop());
    return tell(rehearsals);
  } finally {
    await postgres.stop();
  }
}

function tell(rehearsals: readonly Rehearsal[]): number {
  for (const { card, seen, end, isRight } of rehearsals) {
    const lines = [
      `${card.name}: ${card.title}`,
      `  happens   ${card.happens}`,
      ...seen.map((line, at) => `  ${at === 0 ? 'seen     ' : '         '} ${line}`),
      `  expected  ${card.ends}`,
      `  ended     ${end}   ${isRight ? 'right' : 'WRONG'}`,
    ];
    process.stdout.write(`${lines.join('\n')}\n\n`);
  }
  const wrong = rehearsals.filter(({ isRight }) => !isRight).map(({ card }) => card.name);
  process.stdout.write(
    wrong.length === 0 ? 'Every rehearsal ended as it should.\n' : `NOT as it should: ${wrong.join(', ')}\n`,
  );
  return wrong.length === 0 ? 0 : 1;
}
