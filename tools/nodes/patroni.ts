import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { handsOf } from './hands.ts';
import { finalBooks, lossesOf, printTable, startLoad, totals, type Load } from './load.ts';
import { startPatroni, type PatroniCluster } from './patroni-cluster.ts';
import type { Machine } from './patroni-machines.ts';
import { freePort, productionEnv, startServer, startService, until, type Stage } from './stage.ts';

const SHOPPERS = 6;
const QUIET_MS = 6_000;
/** Longer than the statement time-out: no answer may come of a commit that waits for its replica. */
const HELD_MS = 7_000;
const AWAY_MS = 2_000;
const LIMIT_MS = 120_000;

/** Does harm to the leader; what it returns makes it good again. */
type Harm = (leader: Machine, cluster: PatroniCluster) => Promise<() => unknown>;
/** `mayStay`: the same one may lead again, as it is back before the others may take over. */
type Fault = { name: string; harm: Harm; mayStay?: boolean };

const nothing = (): void => undefined;
const kill: Harm = async (leader) => {
  await leader.kill();
  return leader.start;
};

const LAST: Fault = {
  name: 'nothing replicated for 7 s, then lost',
  harm: async (leader, cluster) => {
    await cluster.holdReplication();
    await pause(HELD_MS);
    return kill(leader, cluster);
  },
};
const FAULTS: readonly Fault[] = [
  { name: 'leader lost', harm: kill },
  { name: 'leader lost again', harm: kill },
  {
    name: 'leader killed, started again after 2 s',
    mayStay: true,
    harm: async (leader) => {
      await leader.kill();
      await pause(AWAY_MS);
      leader.start();
      return nothing;
    },
  },
  {
    name: 'switchover',
    harm: async (_leader, cluster) => {
      await cluster.switchover();
      return nothing;
    },
  },
  {
    name: 'leader cut off from etcd',
    harm: (leader) => Promise.resolve(leader.cutFromEtcd()),
  },
  {
    name: 'Patroni of the leader hangs',
    harm: (leader) => Promise.resolve(leader.freeze()),
  },
  LAST,
];

/**
 * Two servers and a worker on the cluster of docs/high-availability.md, to which everything happens while shoppers buy.
 * Asynchronous, it loses what it acknowledged when the leader dies ahead of its replicas: that run holds when the loss
 * is seen.
 */
export async function patroni(stage: Stage, isSynchronous: boolean): Promise<boolean> {
  const cluster = await startPatroni(stage, isSynchronous);
  const ports = [await freePort(), await freePort()];
  const serviceUrl = await startService(stage, `http://127.0.0.1:${ports[0] ?? 0}/webhooks/payments`);
  const env = { ...productionEnv(cluster.url, serviceUrl), LOG_LEVEL: 'error' };
  for (const port of ports) await startServer(stage, env, port);
  const workerPort = await freePort();
  const worker = stage.node('worker', 'worker.js', { ...env, WORKER_PORT: String(workerPort) });
  // One that begins while the leader dies ends, as it should; here no systemd starts it again.
  await until('the worker works', async () => (await fetch(`http://127.0.0.1:${workerPort}/readyz`)).ok);
  const loads = ports.map((port) =>
    startLoad({ url: `http://127.0.0.1:${port}`, serviceUrl, shoppers: SHOPPERS / 2, pauseMs: 100 }),
  );
  for (const load of loads) stage.later(load.stop);
  const rows: Record<string, string | number> = {};
  for (const fault of isSynchronous ? FAULTS : [LAST]) {
    await pause(QUIET_MS);
    rows[fault.name] = await suffer(cluster, ports, loads, fault);
    process.stderr.write(`${new Date().toISOString()} ${fault.name}: ${rows[fault.name]}\n`);
  }
  await pause(QUIET_MS);
  await Promise.all(loads.map((load) => load.stop()));

  const pool = new pg.Pool({ connectionString: cluster.url, max: 1 });
  pool.on('error', () => undefined);
  stage.later(() => pool.end());
  const books = await finalBooks(loads, (sql) => pool.query(sql), serviceUrl);
  const lost = lossesOf(books);
  const { rows: kept } = await pool.query<{ id: string }>('SELECT id FROM orders');
  const ids = new Set(kept.map(({ id }) => id));
  // With the times above it shows which fault lost them.
  for (const [id, at] of loads.flatMap(({ orders }) => [...orders]))
    if (!ids.has(id)) process.stderr.write(`lost: order ${id}, answered at ${at}\n`);
  const byWorker = await pool.query<{ count: string }>(BY_WORKER);
  const workerRuns = worker.child.exitCode === null;
  const { verdict } = await handsOf(env).reconcile();
  const seen: Record<string, number> = {};
  for (const [what, count] of loads.flatMap((load) => Object.entries(load.seen)))
    seen[what] = (seen[what] ?? 0) + count;
  printTable(`Patroni, three nodes, ${isSynchronous ? 'synchronous' : 'asynchronous'}`, {
    ...rows,
    'requests sent, failed': `${books.sent}, ${books.failed}`,
    'what shoppers saw': Object.entries(seen)
      .map(([what, count]) => `${count} times ${what}`)
      .join(', '),
    'payments acknowledged': books.paid,
    ...lost,
    'of them confirmed by the worker': byWorker.rows[0]?.count ?? 0,
    'worker still runs': workerRuns ? 'yes' : 'no',
    'reconcile at the end': verdict,
  });
  if (!isSynchronous) return books.ordersLost + books.paymentsLost > 0;
  const isWhole = verdict === 'agreed' && Object.values(lost).every((count) => count === 0);
  return books.paid > 0 && workerRuns && isWhole;
}

/** Servers confirm what a shopper's return asks for, and leave all the rest to the worker. */
const BY_WORKER = `SELECT count(*) FROM releases r JOIN verifications v ON v.id = r.verification_id
  WHERE v.cause <> 'return'`;

/** Has a fault happen under load. @returns what came of it, in words */
async function suffer(
  cluster: PatroniCluster,
  ports: readonly number[],
  loads: readonly Load[],
  { harm, mayStay = false }: Fault,
): Promise<string> {
  await until('the cluster is whole', cluster.isWhole, LIMIT_MS);
  const count = (): { sent: number; failed: number } => {
    const all = loads.map(totals);
    return {
      sent: all.reduce((sum, { sent }) => sum + sent, 0),
      failed: all.reduce((sum, { failed }) => sum + failed, 0),
    };
  };
  const [old, before, beganMs] = [await cluster.leader(), count(), performance.now()];
  const seconds = (): string => ((performance.now() - beganMs) / 1_000).toFixed(1);
  const makeGood = await harm(old, cluster);
  const isTakenOver = async (): Promise<boolean> =>
    (await cluster.isWritable()) && ((await cluster.leader()) !== old || mayStay);
  await until('there is a leader again', isTakenOver, LIMIT_MS);
  const takenOver = seconds();
  const isReady = async (port: number): Promise<boolean> =>
    (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
  await until('the nodes are ready', async () => (await Promise.all(ports.map(isReady))).every(Boolean));
  const ready = seconds();
  await makeGood();
  await until('the cluster is whole again', cluster.isWhole, LIMIT_MS);
  const { sent, failed } = count();
  return (
    `a leader after ${takenOver} s, nodes ready after ${ready} s, whole after ${seconds()} s; ` +
    `${failed - before.failed} of ${sent - before.sent} requests failed`
  );
}
