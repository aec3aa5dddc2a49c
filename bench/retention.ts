import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetch } from 'undici';
import { openDatabase, type Database } from '../src/platform/database/database.ts';
import { createLogger } from '../src/platform/logger.ts';
import { Secret } from '../src/platform/secret.ts';
import { formatTable } from '../src/platform/terminal.ts';
import { checkIntegrity } from '../src/reporting/integrity.ts';
import { prune } from '../src/retention.ts';
import { withFilledShop } from './filled-shop.ts';
import type { Row } from './row.ts';
import { startIntegrator, startStandIn } from './shop/contestants.ts';
import { cpuMsOf } from './shop/cpu.ts';
import { BASKET } from './shop/turn.ts';

const KEPT_DAYS = 30;
const CHECKOUTS_PER_SECOND = 5;
const QUIET_SEC = 20;

/**
 * What a shop of so many orders in ninety days weighs, what pruning two thirds of its bodies costs, what shoppers see of
 * it, and whether every journal is whole afterwards.
 * @param argv how many orders, a hundred thousand unless given
 */
export async function benchRetention(argv: string[]): Promise<Row[]> {
  const rows: Row[] = [];
  await withFilledShop(Number(argv[0] ?? '100000'), async (url, pid) => {
    rows.push(...(await measureRetention(url, pid)));
  });
  return rows;
}

/** @param pid of the database's server */
export async function measureRetention(url: string, pid: number): Promise<Row[]> {
  const database = openDatabase(new Secret(url), createLogger('warn'));
  const folder = await mkdtemp(join(tmpdir(), 'bench-retention-'));
  const standIn = await startStandIn();
  const shop = await startIntegrator({ databaseUrl: url, serviceUrl: standIn.url, folder });
  const rows: Row[] = [];
  const add = (what: string, ours: string): void => {
    rows.push({ what, ours });
    process.stdout.write(`${what}: ${ours}\n`);
  };
  try {
    process.stdout.write(`${await describeSizes(database)}\n`);
    let isOver = false;
    setTimeout(() => (isOver = true), QUIET_SEC * 1_000);
    add('checkouts, quiet', await buy(shop.origin, () => isOver));
    isOver = false;
    const buying = buy(shop.origin, () => isOver);
    add('pruned', await pruned(database, pid));
    isOver = true;
    add('checkouts beside it', await buying);
    add('pruned again', await pruned(database, pid));
    add('rows that are dead', await deadRows(database));
    add('VACUUM of the three tables', await vacuumed(database, pid));
    const [startMs, cpuMs] = [performance.now(), cpuMsOf(pid)];
    const { orders, contradictions } = await checkIntegrity(database, { onFound: () => undefined });
    add(
      'explain --all',
      `${orders} orders, ${contradictions} contradictions, ${seconds(performance.now() - startMs)}, processor of PostgreSQL ${seconds(cpuMsOf(pid) - cpuMs)}`,
    );
    process.stdout.write(`${await describeSizes(database)}\n`);
    return rows;
  } finally {
    await shop.stop();
    await standIn.stop();
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

function atShare(times: readonly number[], share: number): string {
  const sorted = [...times].sort((a, b) => a - b);
  return `${(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(0)} ms`;
}

const describeTimes = (times: readonly number[]): string =>
  `p50 ${atShare(times, 0.5)}, p99 ${atShare(times, 0.99)}, slowest ${atShare(times, 1)}`;

/** Checkouts begin on schedule, and each counts from when it was due: one that waits delays none. */
async function buy(origin: string, isOver: () => boolean): Promise<string> {
  const times: number[] = [];
  const sent: Promise<void>[] = [];
  const startMs = performance.now();
  const refusals: string[] = [];
  while (!isOver()) {
    const dueMs = startMs + (sent.length * 1_000) / CHECKOUTS_PER_SECOND;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
    const headers = { 'content-type': 'application/json' };
    sent.push(
      fetch(`${origin}/checkout`, { method: 'POST', headers, body: BASKET }).then(async (answer) => {
        const said = await answer.text();
        if (!answer.ok) refusals.push(`${answer.status} ${said}`);
        times.push(performance.now() - dueMs);
      }),
    );
  }
  await Promise.all(sent);
  for (const refusal of new Set(refusals)) process.stderr.write(`refused: ${refusal}\n`);
  return `${times.length}, ${refusals.length} refused, ${describeTimes(times)}`;
}

async function pruned(database: Database, pid: number): Promise<string> {
  const batches: number[] = [];
  const [startMs, cpuMs, from] = [performance.now(), cpuMsOf(pid), await walAt(database)];
  const done = await prune(
    {
      transaction: async (work) => {
        const sentMs = performance.now();
        const done = await database.transaction(work);
        batches.push(performance.now() - sentMs);
        return done;
      },
    },
    KEPT_DAYS,
  );
  const megabytes = Number((await walAt(database)) - from) / 2 ** 20;
  return `${done.answers} answers, ${done.webhooks} webhooks, ${done.messages} messages in ${seconds(performance.now() - startMs)}, processor of PostgreSQL ${seconds(cpuMsOf(pid) - cpuMs)}, ${batches.length} batches (${describeTimes(batches)}), ${megabytes.toFixed(0)} MiB of write-ahead log`;
}

async function walAt(database: Database): Promise<bigint> {
  const [row] = await database.query<{ at: bigint }>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint AS at`,
  );
  return row?.at ?? 0n;
}

const PRUNED = ['verifications', 'webhooks', 'releases'] as const;

async function deadRows(database: Database): Promise<string> {
  const rows = await database.query<{ said: string }>(
    `SELECT relname || ' ' || n_dead_tup || ' (vacuumed ' || autovacuum_count || ' times)' AS said
     FROM pg_stat_user_tables WHERE relname = ANY($1) ORDER BY 1`,
    [PRUNED],
  );
  return rows.map(({ said }) => said).join(', ');
}

async function vacuumed(database: Database, pid: number): Promise<string> {
  const [startMs, cpuMs] = [performance.now(), cpuMsOf(pid)];
  const client = await database.pool.connect();
  try {
    await client.query('SET statement_timeout = 0');
    for (const table of PRUNED) await client.query(`VACUUM ${table}`);
  } finally {
    client.release(true);
  }
  return `${seconds(performance.now() - startMs)}, processor ${seconds(cpuMsOf(pid) - cpuMs)}`;
}

/** The large tables: rows, and megabytes of rows and of indexes. */
async function describeSizes(database: Database): Promise<string> {
  const rows = await database.query<{ name: string; rows: bigint; heap: bigint; indexes: bigint }>(
    `SELECT relname AS name, reltuples::bigint AS rows, pg_table_size(oid) / 1048576 AS heap,
       pg_indexes_size(oid) / 1048576 AS indexes
     FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
     ORDER BY pg_total_relation_size(oid) DESC LIMIT 12`,
  );
  return formatTable(
    ['table', 'rows', 'MiB of rows', 'of indexes'],
    rows.map((row) => [row.name, row.rows, row.heap, row.indexes].map(String)),
  );
}
