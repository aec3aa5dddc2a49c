import { parseArgs } from 'node:util';
import { inDemoShop } from './demo-shop.ts';
import { createDay, STORIES, type Day, type Story } from './demo-day.ts';
import { endOf, type OrderEnd } from './order-end.sql.ts';
import { formatReport } from '../../src/reconciliation/report/format-report.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { runProcess, terminationSignal } from '../../src/bootstrap/run-process.ts';
import type { StartedServer } from '../../src/bootstrap/start-server.ts';
import { formatTable } from '../../src/platform/terminal.ts';
import { readOptions, usageText } from '../../src/platform/usage.ts';

/**
 * `npm run demo`: one scripted day on parts of its own (database, sandbox, ports), beside whatever runs already. Ends
 * with 0 only if every order ended as it should and the reconciliation found exactly what was planted. With `--keep`
 * the shop of that day stays open, with its stories in the console, until Ctrl-C.
 */

const HELP = usageText('npm run demo', {
  does: 'One scripted day at the shop, printed as a table.',
  forms: ['[--keep]'],
  options: { '--keep': 'leaves the shop and its console running until Ctrl-C' },
  exits: '0 every order ended as it should, 1 one did not',
  example: '--keep',
});

type Ending = { story: Story; end: OrderEnd | null; isRight: boolean };

const given = readOptions(HELP, process.argv.slice(2), () =>
  parseArgs({ options: { keep: { type: 'boolean', default: false } } }),
);
if (given !== null)
  await runProcess(() => inDemoShop('npm run demo', (server) => demo(server, given.values.keep)));

async function demo(server: StartedServer, isKept: boolean): Promise<number> {
  const code = await playDay(server);
  if (isKept) {
    const stopped = terminationSignal();
    process.stdout.write(addresses(server));
    await stopped;
  }
  return code;
}

function addresses({ origin }: StartedServer): string {
  return `
The shop stays open, with this day in its console.

  shop     ${origin}/shop
  console  ${origin}/admin

Stop with Ctrl-C.
`;
}

async function playDay(server: StartedServer): Promise<number> {
  process.stdout.write('A day at the shop, about ten seconds long. Six shoppers come by ...\n');
  const day = createDay(server);
  const orders = await Promise.all(STORIES.map((story) => story.play(day)));
  await waitForTheClock(server, day, orders);
  process.stdout.write('... and in the evening the books are compared with the service.\n\n');
  const report = await server.program.reconcile({ dryRun: false });
  const endings = await Promise.all(STORIES.map((story, at) => ending(server, story, orders[at] ?? '')));
  process.stdout.write(`${formatReport(report)}\n\n${tableOf(endings)}\n\n`);
  const isRight = endings.every((one) => one.isRight) && foundWhatWasPlanted(report, endings);
  process.stdout.write(isRight ? 'Every order ended as it should.\n' : 'NOT as it should: see above.\n');
  return isRight ? 0 : 1;
}

/** The reconciliation comes after the clock has had its chance, and finds only what nothing else could. */
async function waitForTheClock(
  { program }: StartedServer,
  day: Day,
  orders: readonly string[],
): Promise<void> {
  for (const [at, { foundBy, ends }] of STORIES.entries()) {
    const orderId = orders[at] ?? '';
    if (foundBy.includes('reconciliation') || foundBy.length === 0) continue;
    await day.until(
      `order ${orderId} is ${ends}`,
      async () => (await endOf(program.database, orderId))?.status === ends,
    );
  }
}

async function ending({ program }: StartedServer, story: Story, orderId: string): Promise<Ending> {
  const end = await endOf(program.database, orderId);
  const isRight =
    end !== null &&
    end.status === story.ends &&
    end.releases === (story.ends === 'paid' ? 1 : 0) &&
    end.suspense.join() === story.suspense.join() &&
    (story.foundBy.length === 0 ? end.foundBy === null : story.foundBy.includes(end.foundBy ?? ''));
  return { story, end, isRight };
}

/** What stands in suspense is what reconciliation must raise; it must see all of it and nothing else, and repair what it found. */
function foundWhatWasPlanted(
  { complete, findings, repaired }: ReconciliationReport,
  endings: readonly Ending[],
): boolean {
  const repairs = endings.filter(({ end }) => end?.foundBy === 'reconciliation').length;
  const planted = STORIES.flatMap(({ suspense }) => suspense).sort();
  const found = Object.entries(findings)
    .flatMap(([name, count]) => Array.from({ length: count }, () => name))
    .sort();
  return complete && repaired === repairs && found.join() === planted.join();
}

function tableOf(endings: readonly Ending[]): string {
  const rows = endings.map(({ story, end, isRight }) => [
    story.shopper,
    story.did,
    story.lost,
    end?.foundBy ?? '-',
    end?.status ?? 'unknown',
    isRight ? 'right' : 'WRONG',
  ]);
  return formatTable(['shopper', 'did', 'got lost', 'found by', 'order', ''], rows);
}
