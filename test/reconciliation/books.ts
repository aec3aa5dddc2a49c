import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { seedPaidOrders } from '../../bench/seed.ts';
import { formatMajor } from '../../src/platform/money.ts';
import type { Report } from '../../src/reconciliation/report.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { startListService, type PageStyle } from '../support/list-service.ts';
import { startProcess, type Running } from '../support/process.ts';
import { TEST_KEY } from '../support/shop.ts';

// Paid orders written by SQL, a service whose history a test controls, and commands. There is no
// server.

export type Paid = { reference: string; orderId: string; amount: bigint; currency: string; id: string; at: Date };
export type Row = Record<string, unknown>;
/** `report` is null if the command printed none. */
export type Ran = { exit: number | string; report: Report | null; out: string; err: string; peakMiB: number };
export type Books = Awaited<ReturnType<typeof openBooks>>;

const HOUR_MS = 3_600_000;
/** A command waits for a test's lock as long as the test needs. */
const PATIENT = { options: '-c lock_timeout=60000 -c statement_timeout=60000', application_name: 'command' };
const ADAPTER = fileURLToPath(new URL('../support/adapters/shared.ts', import.meta.url));

/** The record of a paid order at the service. @param more changes to it */
export const rowOf = ({ reference, id, amount, currency, at }: Paid, more: Row = {}): Row => {
  const said = { id, reference, status: 'SUCCESS', amount: Number(formatMajor({ amount, currency })), currency };
  return { ...said, createdAt: at.toISOString(), ...more };
};

const DEFAULT: PageStyle = (data, { next }) => ({ status: true, data: { data, hasNextPage: next !== null } });
type Options = { count?: number; pageSize?: number; style?: PageStyle };

/**
 * This many orders, newest first, paid one minute apart until an hour ago. Verify and the history
 * agree with them.
 */
export async function openBooks({ count = 24, pageSize = 4, style = DEFAULT }: Options = {}) {
  const database = await cloneDatabase();
  await seedPaidOrders(database.url, { count, newestMs: Date.now() - HOUR_MS, stepMs: 60_000, plantedEvery: 0 });
  await writeDigests(database);
  const sql =
    'SELECT * FROM (SELECT p.reference, order_id AS "orderId", p.amount, p.currency, service_id AS id, at FROM proof_payments p JOIN proofs USING (order_id)) x ORDER BY at DESC';
  const orders = (await database.query<Paid>(sql)).map((one) => ({ ...one, amount: BigInt(String(one.amount)) }));
  /** By reference; undefined: verify knows no such transaction. */
  const truth = new Map<string, unknown>(orders.map((order) => [order.reference, rowOf(order)]));
  const verify = (reference: string) => {
    books.onVerify();
    return truth.get(reference);
  };
  const pageOf: PageStyle = (data, at) => {
    books.onPage(at.page);
    return style(data, at);
  };
  const rows: Row[] = orders.map((order) => rowOf(order));
  const service = Object.assign(await startListService({ rows, pageSize, verify, style: pageOf }), { rows });
  const url = new URL(database.url);
  for (const [name, value] of Object.entries(PATIENT)) url.searchParams.set(name, value);
  const own = { DATABASE_URL: url.href, GATEWAY_URL: service.url, GATEWAY_SECRET_KEY: TEST_KEY, USER: 'ada' };
  const start = (words: string[], env: Record<string, string> = {}) =>
    startProcess('src/cli.ts', { ...own, GATEWAY_CALLS_PER_SECOND: '0', GATEWAY_ADAPTER: ADAPTER, ...env }, words);
  const books = {
    ...{ database, service, orders, truth, start },
    /** Called before verify or the history answers. */
    ...{ onVerify: (): unknown => undefined, onPage: (page: number): unknown => page },
    reconcile: (words: string[] = [], env: Record<string, string> = {}): Promise<Ran> =>
      ranOf(start(['reconcile', '--json', ...words], env)),
    close: () => {
      service.close();
      return database.drop();
    },
  };
  return books;
}

/** As the program writes them, so that it can tell whether the next answer is new. */
export const writeDigests = (database: TestDatabase) =>
  database.query(`ALTER TABLE verifications DISABLE TRIGGER USER;
    UPDATE verifications SET digest = sha256(convert_to(format('["%s","%s","%s",null,%s,"%s","%s",null]',
      outcome, word, amount, coalesce('"' || balance || '"', 'null'), currency, service_id), 'UTF8'));
    ALTER TABLE verifications ENABLE TRIGGER USER`);

/**
 * The result of a command. `peakMiB`: its highest resident memory; NaN where the system does not
 * report it.
 */
export async function ranOf(run: Running): Promise<Ran> {
  const status = `/proc/${run.pid}/status`;
  let peakMiB = NaN;
  const looking = setInterval(() => {
    const peak = existsSync(status) ? /VmHWM:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1] : undefined;
    peakMiB = peak === undefined ? peakMiB : Number(peak) / 1_024;
  }, 100);
  const exit = await run.end();
  clearInterval(looking);
  const [out, err] = [run.stdout(), run.stderr()];
  return { exit, report: out.startsWith('{') ? (JSON.parse(out) as Report) : null, out, err, peakMiB };
}

/** Holds the locks of a statement. @returns a function that releases them */
export async function hold(database: TestDatabase, statement: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: database.url }).on('error', () => undefined);
  await client.connect();
  await client.query(`BEGIN; ${statement}`);
  return () => client.end();
}

/** Kills a command, and waits until the database has noticed. */
export async function kill(database: TestDatabase, run: Running): Promise<void> {
  await run.kill('SIGKILL');
  const its = `FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'command'`;
  await database.query(`SELECT pg_terminate_backend(pid, 5000) ${its} AND wait_event_type = 'Lock'`);
  await eventually(async () => (await database.query(`SELECT 1 ${its}`)).length === 0);
}

/**
 * All booked amounts and cases, without ids and times. The figures of the history may be applied
 * without a change.
 */
export const booked = async ({ query }: TestDatabase) => ({
  ledgers: await query(`SELECT reference, currency, captured, retained, returned, refunded, verify_received,
    verify_outflow FROM ledgers ORDER BY 1, 2`),
  cases: await query('SELECT reference, currency, class, held, missing, closed_by FROM cases ORDER BY 1, 2, 3'),
  payments: await query('SELECT reference, order_id, status FROM payments ORDER BY 1'),
  journal: await query(`SELECT reference, what, counter, amount, currency, count(*) FROM journal
    GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`),
});
