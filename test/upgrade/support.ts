import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { applyMigrations } from '../../src/platform/migrate.ts';
import { beside } from '../support/database.ts';

// Databases that version 1.0.0 filled, and the last answers of its service. A dump is loaded into
// the schema of 1.0.0. Bodies of answers, messages and webhooks, reports of runs and addresses of
// checkouts are omitted.

const FIRST = '20261101000000_init';
const MIGRATIONS = new URL('../../prisma/migrations/', import.meta.url);

/** Rows and totals of the books, by month. */
type Books = Record<string, { totals: object[]; rows: object[] }>;
/**
 * The file beside a dump: its time, the books that 1.0.0 printed, and the last answers of history
 * and verify.
 */
export type Said = {
  at: string;
  books: Books;
  list: object[];
  verify: Record<string, { status: number; body: unknown }>;
};

export async function readDump(name: string): Promise<{ sql: string; said: Said }> {
  const read = (ending: string) => readFile(new URL(`${name}.${ending}`, import.meta.url), 'utf8');
  return { sql: await read('dump'), said: JSON.parse(await read('json')) as Said };
}

export type Old = Awaited<ReturnType<typeof loadOld>>;

/** A database of 1.0.0 with these rows. */
export async function loadOld(sql: string) {
  const url = new URL(process.env.TEST_TEMPLATE_URL ?? '');
  const name = `test_${randomBytes(8).toString('hex')}`;
  url.pathname = `/${name}`;
  await beside(url, `CREATE DATABASE ${name}`);
  await applyFirst(url.href);
  const pool = new pg.Pool({ connectionString: url.href, max: 2 });
  await pool.query(sql);
  return {
    url: url.href,
    query: async <Row = Record<string, unknown>>(text: string, values: unknown[] = []) =>
      (await pool.query(text, values)).rows as Row[],
    drop: async () => {
      await pool.end();
      await beside(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

async function applyFirst(url: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'integrator-first-'));
  await cp(fileURLToPath(new URL(FIRST, MIGRATIONS)), join(folder, FIRST), { recursive: true });
  await applyMigrations(url, folder);
  await rm(folder, { recursive: true });
}

/**
 * Moves all times except those of the journal, as if the dump had been made now. Rows that are
 * written once move, too.
 */
export async function moveToNow({ query }: Old, madeAt: string): Promise<void> {
  const columns = await query<{ table: string; sets: string }>(
    `SELECT table_name AS table, string_agg(format('%1$I = %1$I + (now() - $1::timestamptz)', column_name), ', ') AS sets
     FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
     WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND data_type LIKE 'timestamp%'
       AND table_name NOT IN ('journal', '_prisma_migrations') GROUP BY table_name`,
  );
  const updates = columns.map(({ table, sets }) => `UPDATE ${table} SET ${sets.replaceAll('$1', `'${madeAt}'`)}`);
  await query(`BEGIN; SET LOCAL session_replication_role = replica; ${updates.join('; ')}; COMMIT`);
}

/** A payment service with the answers that 1.0.0 got. */
export async function startService({ list, verify }: Said): Promise<Server & { url: string }> {
  const server = createServer((req, res) => {
    const { pathname } = new URL(req.url ?? '', 'http://localhost');
    const reference = pathname.split('/').at(-1) ?? '';
    const page = { status: 200, body: { status: true, data: { data: list, hasNextPage: false } } };
    const { status, body } = pathname.endsWith('/history') ? page : (verify[reference] ?? { status: 404, body: {} });
    res.writeHead(status, { 'content-type': 'application/json' });
    res.end(typeof body === 'string' ? body : JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(server, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

/** The number of rows of each table. */
export async function countRows({ query }: Old): Promise<Record<string, number>> {
  const tables = await query<{ name: string }>(`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`);
  const text = tables
    .map(({ name }) => `SELECT '${name}' AS name, count(*)::int AS count FROM ${name}`)
    .join(' UNION ALL ');
  const counts = await query<{ name: string; count: number }>(text);
  return Object.fromEntries(counts.map(({ name, count }) => [name, count]));
}

/**
 * Values that no upgrade may change: rows that are written once, statuses, messages and decisions.
 */
export async function readKept({ query }: Old): Promise<unknown[]> {
  const [upgraded] = await query<{ proofs: string | null }>(`SELECT to_regclass('proofs') AS proofs`);
  const proofs =
    upgraded?.proofs == null
      ? 'releases'
      : 'proofs JOIN proof_payments USING (order_id, mode, reference, currency, amount)';
  return query(`
    SELECT 'journal' AS name, md5(string_agg(j::text, '' ORDER BY id)) AS rows FROM journal j WHERE what <> 'upgraded'
    UNION ALL SELECT 'verifications', md5(string_agg(v::text, '' ORDER BY id)) FROM verifications v
    UNION ALL SELECT 'proofs', md5(string_agg(concat(order_id, mode, reference, verification_id, price, currency, amount,
      shown, shown_amount, accepted_by, note, service_id, at), '' ORDER BY order_id)) FROM ${proofs}
    UNION ALL SELECT 'refunds', md5(string_agg(r::text, '' ORDER BY id)) FROM refunds r
    UNION ALL SELECT 'messages', md5(string_agg(m::text, '' ORDER BY seq)) FROM messages m
    UNION ALL SELECT 'orders', md5(string_agg(concat(id, status, paid_at), '' ORDER BY id)) FROM orders
    UNION ALL SELECT 'payments', md5(string_agg(concat(reference, replace(status::text, 'foreign', 'unmatched')), '' ORDER BY reference)) FROM payments
    UNION ALL SELECT 'cases', md5(string_agg(concat(id, class, held, missing, digest, closed_at, decision, note, number),
      '' ORDER BY id)) FROM cases`);
}
