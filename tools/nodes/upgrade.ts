import type { ExecFileException } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { openDatabase } from '../../src/platform/database/database.ts';
import { Secret } from '../../src/platform/secret.ts';
import { checkInvariants } from '../../test/support/invariants.ts';
import { openDebianPostgres } from './debian-postgres.ts';
import { handsOf } from './hands.ts';
import { finalBooks, lossesOf, printTable, startLoad, type Load } from './load.ts';
import * as major from './major.ts';
import { ROLE, type Compared, type Server } from './major.ts';
import { relay } from './relay.ts';
import { freePort, productionEnv, startServer, startService, until, type Stage } from './stage.ts';

const SHOPPERS = 4;
const RUN_MS = 8_000;
const PASSWORD = 'of-this-rehearsal';
const SETTINGS = { wal_level: 'logical' };

/**
 * Debian's PostgreSQL is replaced by the newer one from npm while shoppers buy, and after that the other way round: the
 * way back is one that was gone.
 */
export async function upgrade(stage: Stage): Promise<boolean> {
  const debian = await openDebianPostgres(stage, join(stage.folder, 'old'), SETTINGS);
  await debian.begin();
  const embedded = await startEmbeddedPostgres({
    dataDir: join(stage.folder, 'new'),
    logger: createLogger('error'),
    purpose: 'npm run nodes',
    settings: SETTINGS,
  });
  stage.later(embedded.stop);
  const [old, next] = [await serverAt(debian.url), await serverAt(embedded.url)];
  let current = old;
  const front = await relay(stage, () => ({
    host: '127.0.0.1',
    port: Number(new URL(current.program).port),
  }));
  const url = Object.assign(new URL(old.program), { port: String(front.port) }).href;

  const ports = [await freePort(), await freePort()];
  const serviceUrl = await startService(stage, `http://127.0.0.1:${ports[0] ?? 0}/webhooks/payments`);
  const env = { ...productionEnv(url, serviceUrl), LOG_LEVEL: 'error' };
  for (const port of ports) await startServer(stage, env, port);
  stage.node('worker', 'worker.js', env);
  const loads = ports.map((port) =>
    startLoad({ url: `http://127.0.0.1:${port}`, serviceUrl, shoppers: SHOPPERS / 2, pauseMs: 50 }),
  );
  for (const load of loads) stage.later(load.stop);
  await pause(RUN_MS);

  const faults = await major.look(old);
  if (faults.length > 0) throw new Error(`the old server is not ready: ${JSON.stringify(faults)}`);
  await major.prepare(next, env);
  const beganMs = performance.now();
  await major.follow(old, next);
  const copied = ((performance.now() - beganMs) / 1_000).toFixed(1);
  await pause(RUN_MS);
  const rows: Record<string, string> = { 'the first copy, s': copied };
  let isSame = true;
  for (const [from, to] of [
    [old, next],
    [next, old],
  ] as const) {
    const title = `${from.name} to ${to.name}`;
    const before = failedIn(loads);
    const switched = await switchOver(from, to, () => {
      current = to;
      front.cut();
    });
    isSame &&= switched.different.length === 0;
    await until('the nodes are ready', () => areReady(ports));
    await pause(RUN_MS);
    rows[title] =
      `${switched.seconds} s without writing, ${failedIn(loads) - before} requests failed, ` +
      `${switched.equal} of ${switched.tables} tables equal, ` +
      `${switched.sequences} sequences carried over`;
    if (switched.different.length > 0) rows[`${title}, different`] = switched.different.join(', ');
  }
  await Promise.all(loads.map((load) => load.stop()));
  return report(stage, { rows, isSame, loads, env, url, serviceUrl });
}

const failedIn = (loads: readonly Load[]): number =>
  loads.reduce((sum, { seen }) => sum + Object.values(seen).reduce((a, b) => a + b, 0), 0);

async function areReady(ports: readonly number[]): Promise<boolean> {
  const answers = await Promise.all(ports.map((port) => fetch(`http://127.0.0.1:${port}/readyz`)));
  return answers.every(({ ok }) => ok);
}

/** The role of the program, which owns its database and nothing else. */
async function serverAt(admin: string): Promise<Server> {
  const address = new URL(admin);
  const client = new pg.Client({ connectionString: admin });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    `SELECT 'PostgreSQL ' || current_setting('server_version_num')::int / 10000 AS name`,
  );
  await client.query(`CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}'`);
  await client
    .query(`CREATE DATABASE shop OWNER ${ROLE}`)
    .catch(() => client.query(`ALTER DATABASE shop OWNER TO ${ROLE}`));
  await client.end();
  const at = (user: string, password: string): string =>
    Object.assign(new URL(admin), { username: user, password, pathname: '/shop' }).href;
  return {
    name: rows[0]?.name ?? 'PostgreSQL',
    admin: at(address.username, address.password),
    program: at(ROLE, PASSWORD),
  };
}

type Switched = Compared & { seconds: string; sequences: number };

async function switchOver(from: Server, to: Server, turnAddress: () => void): Promise<Switched> {
  const beganMs = performance.now();
  await major.stopWriting(from);
  await major.caughtUp(from);
  const sequences = await major.carrySequences(from, to);
  const compared = await major.compare(from, to);
  await major.turn(from, to);
  await major.writeAgain(to);
  turnAddress();
  return { seconds: ((performance.now() - beganMs) / 1_000).toFixed(1), sequences, ...compared };
}

type Ending = {
  rows: Record<string, string>;
  isSame: boolean;
  loads: readonly Load[];
  env: Record<string, string>;
  url: string;
  serviceUrl: string;
};

async function report(stage: Stage, { rows, isSame, loads, env, url, serviceUrl }: Ending): Promise<boolean> {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  stage.later(() => pool.end());
  const books = await finalBooks(loads, (sql) => pool.query(sql), serviceUrl);
  const lost = lossesOf(books);
  const hands = handsOf(env);
  const { verdict } = await hands.reconcile();
  const chained = await hands.type('explain', '--all');
  const database = openDatabase(new Secret(url), createLogger('silent'));
  const broken = await checkInvariants({ database, sandboxUrl: serviceUrl }).finally(() => database.close());
  // Last: it asks the service about a reference that is nobody's.
  const doctor = await hands
    .type('doctor')
    .catch((error: unknown) => (error as ExecFileException).stdout ?? '');
  const seen: Record<string, number> = {};
  for (const [what, count] of loads.flatMap((load) => Object.entries(load.seen)))
    seen[what] = (seen[what] ?? 0) + count;
  printTable('A major version of PostgreSQL is replaced while orders are paid, and back', {
    ...rows,
    'requests sent, failed': `${books.sent}, ${books.failed}`,
    'what shoppers saw': Object.entries(seen)
      .map(([what, count]) => `${count} times ${what}`)
      .join(', '),
    'payments acknowledged': books.paid,
    ...lost,
    'reconcile at the end': verdict,
    'doctor says': doctor.trim().split('\n').at(-1) ?? '',
    'explain --all says': chained.trim().split('\n').at(-1) ?? '',
    'invariants broken': broken.join('; ') || 0,
  });
  const isHarmless = Object.values(lost).every((count) => count === 0) && broken.length === 0;
  return isSame && isHarmless && verdict === 'agreed' && books.paid > 0;
}
