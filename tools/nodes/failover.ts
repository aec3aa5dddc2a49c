import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { finalBooks, lossesOf, printTable, startLoad } from './load.ts';
import { freePort, productionEnv, startServer, startService, until, type Stage } from './stage.ts';
import { startPair } from './standby.ts';

const SHOPPERS = 6;
const OUTAGE_MS = 2_000;

/** Two servers and a worker on a primary with a synchronous standby; the primary is killed while shoppers buy. */
export async function failover(stage: Stage): Promise<boolean> {
  const pair = await startPair(stage);
  const [first, second] = [await freePort(), await freePort()];
  const serviceUrl = await startService(stage, `http://127.0.0.1:${first}/webhooks/payments`);
  const env = { ...productionEnv(pair.url, serviceUrl), LOG_LEVEL: 'error' };
  await startServer(stage, env, first);
  await startServer(stage, env, second);
  stage.node('worker', 'worker.js', env);
  const loads = [first, second].map((node) =>
    startLoad({ url: `http://127.0.0.1:${node}`, serviceUrl, shoppers: SHOPPERS / 2, pauseMs: 20 }),
  );
  await pause(8_000);
  const wasSynchronous = await pair.isSynchronous();
  const paidBefore = loads.reduce((sum, load) => sum + load.paid.size, 0);
  pair.killPrimary();
  const killedMs = performance.now();
  await pause(OUTAGE_MS);
  await pair.promote();
  await until('the nodes are ready again', async () => {
    const answers = await Promise.all(
      [first, second].map((port) => fetch(`http://127.0.0.1:${port}/readyz`)),
    );
    return answers.every(({ ok }) => ok);
  });
  const awaySec = (performance.now() - killedMs) / 1_000;
  await pause(8_000);
  for (const load of loads) await load.stop();

  const pool = new pg.Pool({ connectionString: pair.url, max: 1 });
  pool.on('error', () => undefined);
  stage.later(() => pool.end());
  const books = await finalBooks(loads, (sql) => pool.query(sql), serviceUrl);
  const lost = lossesOf(books);
  printTable('The primary is killed under load, the synchronous standby promoted', {
    'standby was synchronous': wasSynchronous ? 'yes' : 'no',
    'requests sent': books.sent,
    'requests failed (while there was no primary)': books.failed,
    'kill to ready again, s': `${awaySec.toFixed(1)}, of them ${OUTAGE_MS / 1_000} until somebody promotes`,
    'payments acknowledged before the kill': paidBefore,
    'payments acknowledged in all': books.paid,
    ...lost,
  });
  return wasSynchronous && paidBefore > 0 && Object.values(lost).every((count) => count === 0);
}
