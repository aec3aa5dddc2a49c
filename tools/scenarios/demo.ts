import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config.ts';
import { createDay, STORIES, type Day, type Story } from './demo-day.ts';
import { endOf, type OrderEnd } from './order-end.sql.ts';
import { createDatabaseAnew } from '../../local/postgres/database-admin.ts';
import { startEmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { formatReport } from '../../src/reconciliation/report/format-report.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { DATA_DIR, localServices } from '../../local/backing-services.ts';
import { runProcess } from '../../src/bootstrap/run-process.ts';
import { startServer, type StartedServer } from '../../src/bootstrap/start-server.ts';
import { formatTable } from '../../src/platform/table.ts';

/**
 * `npm run demo`: one scripted day on parts of its own (database, sandbox, ports), beside whatever runs already. Ends
 * with 0 only if every order ended as it should and the reconciliation found exactly what was planted.
 */

type Ending = { story: Story; orderId: string; end: OrderEnd | null; isRight: boolean };

await runProcess(async () => {
  const dataDir = join(DATA_DIR, 'demo');
  const logger = createLogger('warn', process.stderr);
  const postgres = await startEmbeddedPostgres({ dataDir, purpose: 'npm run demo', logger });
  try {
    rmSync(join(dataDir, 'sandbox'), { recursive: true, force: true });
    const databaseUrl = await createDatabaseAnew(postgres.url, 'demo');
    // Only what the day needs: a .env that points at a real service or database must not be touched by it.
    const config = loadConfig({
      DATABASE_URL: databaseUrl,
      PORT: '0',
      RECONCILE_EVERY_MIN: '0',
      CHECKOUTS_PER_MINUTE: '0',
    });
    const server = await startServer({
      config,
      prepare: localServices(dataDir),
      purpose: 'npm run demo',
      logger,
    });
    return await playDay(server).finally(() => server.stop());
  } finally {
    await postgres.stop();
  }
});

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
  return { story, orderId, end, isRight };
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
  const rows = endings.map(({ story, orderId, end, isRight }) => [
    story.shopper,
    orderId,
    story.did,
    story.lost,
    end?.foundBy ?? '-',
    [end?.status ?? 'unknown', ...(end?.suspense ?? [])].join(', '),
    isRight ? 'right' : 'WRONG',
  ]);
  return formatTable(['shopper', 'order', 'did', 'got lost', 'found by', 'final state', ''], rows);
}
