import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { buildWorkerApp } from '../../src/app.ts';
import { startWorker, type Worker } from '../../src/bootstrap/start-worker.ts';
import { listen, type RunningServer } from '../../src/platform/http-server.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { createGate } from '../support/gate.ts';
import { eventually, aBasket, post, startProgram, type TestProgram } from '../support/program.ts';

// A worker of its own says whether its loops go round, and gives a sign of life only while they do.

let shop: TestProgram;
let worker: Worker;
let http: RunningServer;
beforeAll(async () => {
  shop = await startProgram();
});
afterEach(async () => {
  await http.close(0);
  await worker.stop();
});
afterAll(() => shop.close());

async function start(
  stuckMs: () => number,
  database = shop.program.database,
): Promise<(path: string) => Promise<Response>> {
  const { program } = shop;
  worker = startWorker({ ...program, database, duePayments: { ...program.duePayments, stuckMs } });
  http = await listen(buildWorkerApp(program, worker.stuckLoop), '127.0.0.1', 0);
  return (path) => fetch(`http://127.0.0.1:${http.port}${path}`);
}
const heartbeats = () =>
  shop.program.database.query<{ by: string }>('SELECT beaten_by AS by FROM worker_heartbeats');

test('a worker whose loop hangs is unhealthy and sends no heartbeat', async () => {
  const get = await start(() => 121_000);
  const answer = await get('/healthz');
  expect([answer.status, await answer.json()]).toEqual([503, { status: 'stuck', loop: 'payments' }]);
  // Ends what the start has set off; a heartbeat would be among it.
  await worker.stop();
  expect(await heartbeats()).toEqual([]);
});

test('a worker at work is healthy, ready unless its key is refused, and has metrics', async () => {
  const get = await start(shop.program.duePayments.stuckMs);
  expect([(await get('/healthz')).status, (await get('/readyz')).status]).toEqual([200, 200]);
  expect(await (await get('/metrics')).text()).toContain('integrator_due_lag_seconds');
  expect((await get('/orders/none')).status).toBe(404);
  await eventually(async () => (await heartbeats())[0]?.by.endsWith(`, process ${process.pid}`));
  await shop.hand('keys/refuse', { refuse: true });
  await post(`${shop.origin}/checkout`, aBasket);
  expect((await get('/readyz')).status).toBe(503);
});

test('an hourly job that takes long holds up no other', async () => {
  const { database } = shop.program;
  await database.query(
    `INSERT INTO refused_webhooks (minute, mode, reason, times, samples)
     VALUES (date_trunc('minute', now() - interval '8 days'), 'test', 'malformed', 1, '[]')`,
  );
  const gate = createGate();
  // The sums of the hours take as long as the test.
  const query: Database['query'] = async (statement, values) => {
    if (JSON.stringify(statement).includes('confirmed_until')) await gate.opened;
    return database.query(statement, values);
  };
  await start(shop.program.duePayments.stuckMs, { ...database, query });
  await eventually(async () => (await database.query('SELECT FROM refused_webhooks')).length === 0);
  gate.open();
});
