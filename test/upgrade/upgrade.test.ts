import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { figuresOf, ledgerOf } from '../../src/ledger/stored.ts';
import { sum } from '../../src/ledger/sources.ts';
import { openDatabase, type Database } from '../../src/platform/db.ts';
import { applyMigrations } from '../../src/platform/migrate.ts';
import { Secret } from '../../src/platform/secret.ts';
import type { Report } from '../../src/reconciliation/report.ts';
import { bookPages, bookTotals } from '../../src/reporting/books.ts';
import { explain } from '../../src/reporting/explain.ts';
import { TEST_KEY } from '../support/shop.ts';
import { openTerminal, type Terminal } from '../support/terminal.ts';
import { EXCEPTIONS, type Amounts } from './exceptions.ts';
import { countRows, loadOld, moveToNow, readDump, readKept, startService, type Old, type Said } from './support.ts';

// Upgrades databases that version 1.0.0 wrote. `day` is the day of `npm run demo`. `cases` has each
// class of cases, open and decided by each decision. In `sources`, verify and the history differ,
// or money comes back. In `week`, the history reaches back a week, and charges have left it. The
// code of 1.0.0 made each database and its books.

const ZONE = 'Africa/Lagos';
const DUMPS = [
  ['day', 'prompt'],
  ['cases', 'prompt'],
  ['sources', 'prompt'],
  ['week', 'promptweek'],
] as const;

type About = { reference: string; currency: string };
type Open = About & Amounts & { class: string };

const MONEY = `SELECT reference, currency, (came - earned - kept - send_back)::text AS held,
    greatest(0, went - (refunded - refunded_elsewhere + send_back - send_back_elsewhere) - lost)::text AS missing
  FROM money ORDER BY 1, 2`;
const OPEN = 'SELECT reference, currency, class, held, missing FROM cases WHERE closed_at IS NULL ORDER BY 1, 2';

type Upgraded = {
  old: Old;
  said: Said;
  database: Database;
  /** Of 1.0.0. */
  before: { counts: Record<string, number>; kept: unknown[]; money: (About & Amounts)[]; open: Open[] };
};

async function upgrade(name: string): Promise<Upgraded> {
  const { sql, said } = await readDump(name);
  const old = await loadOld(sql);
  const [counts, kept] = [await countRows(old), await readKept(old)];
  const before = { counts, kept, money: await old.query<About & Amounts>(MONEY), open: await old.query<Open>(OPEN) };
  await applyMigrations(old.url);
  return { old, said, database: openDatabase(new Secret(old.url)), before };
}

function openService(adapter: string, { old }: Upgraded, { url }: { url: string }): Terminal {
  return openTerminal({
    ...{ DATABASE_URL: old.url, GATEWAY_URL: url, GATEWAY_SECRET_KEY: TEST_KEY, GATEWAY_CALLS_PER_SECOND: '0' },
    GATEWAY_ADAPTER: fileURLToPath(new URL(`../support/adapters/${adapter}.ts`, import.meta.url)),
  });
}

/** Held and missing money by the ledgers. */
async function figuresIn({ database: { prisma } }: Upgraded): Promise<(About & Amounts)[]> {
  const rows = await prisma.ledger.findMany({ orderBy: [{ reference: 'asc' }, { currency: 'asc' }] });
  return rows.map((row) => {
    const { held, missing } = figuresOf(ledgerOf(row));
    return { reference: row.reference, currency: row.currency, held: String(held), missing: String(missing) };
  });
}

/** Held and missing money by the journal, with the column names of both versions. */
const JOURNAL = `
  SELECT l.reference, l.currency, coalesce(sum(CASE WHEN counter IN ('came', 'held') THEN amount
      WHEN counter IN ('earned', 'kept', 'sendBack') THEN -amount END), 0)::text AS held,
    coalesce(sum(amount) FILTER (WHERE counter = 'missing'), 0)::text AS missing
  FROM ledgers l LEFT JOIN journal j ON j.reference = l.reference AND j.currency = l.currency
  GROUP BY 1, 2 ORDER BY 1, 2`;

/**
 * The books of a month in figures that both versions have. Version 1.0.0 had one row for each
 * change of what is earned, and no rows about held money.
 */
async function booksOf({ database: { prisma } }: Upgraded, month: string) {
  const changes: Change[] = [];
  for await (const page of bookPages(prisma, 'test', month, ZONE))
    for (const { earned, ...row } of page) changes.push({ ...row, amount: earned });
  const totals = await bookTotals(prisma, 'test', month, ZONE);
  return {
    totals: totals.map(({ currency, earned, held }) => ({ currency, earned, held })),
    changes: sumsOf(changes),
  };
}

function booksOfOld(books: Upgraded['said']['books'][string] | undefined) {
  const { totals = [], rows = [] } = books ?? {};
  const figures = totals as Record<'currency' | 'earned' | 'held', string>[];
  return {
    totals: figures.map(({ currency, earned, held }) => ({ currency, earned, held })),
    changes: sumsOf(rows as Change[]),
  };
}

type Change = Record<'date' | 'time' | 'reference' | 'currency' | 'amount', string>;

/** What each payment earned in each second, without zeros. */
function sumsOf(changes: readonly Change[]): [change: string, amount: number][] {
  const sums = new Map<string, number>();
  for (const { date, time, reference, currency, amount } of changes) {
    const key = `${date} ${time} ${reference} ${currency}`;
    sums.set(key, (sums.get(key) ?? 0) + Number(amount));
  }
  return [...sums].filter(([, amount]) => amount !== 0).sort();
}

const openAfter = (before: readonly Open[], references: ReadonlySet<string>): Open[] => {
  const others = [...EXCEPTIONS].flatMap(([reference, { opens }]) =>
    opens !== undefined && references.has(reference) ? [{ reference, currency: 'NGN', ...opens }] : [],
  );
  const stay = before.filter(({ reference }) => !others.some((one) => one.reference === reference));
  return [...stay, ...others].sort((a, b) => (a.reference < b.reference ? -1 : 1));
};

describe.each(DUMPS)('%s', (name, adapter) => {
  let up: Upgraded;
  let service: Server & { url: string };
  let terminal: Terminal;
  beforeAll(async () => {
    up = await upgrade(name);
    service = await startService(up.said);
    terminal = openService(adapter, up, service);
  });
  afterAll(async () => {
    await terminal.close();
    service.close().closeAllConnections();
    await up.database.close();
    await up.old.drop();
  });

  test('no row is lost, and rows that are written once are unchanged', async () => {
    const { money = NaN, listed, releases = NaN, ...others } = up.before.counts;
    const [added] = await up.old.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM journal WHERE what = 'upgraded'`,
    );
    const journal = Number(others.journal) + Number(added?.count);
    const renamed = { ledgers: money, history_rows: listed, proofs: releases, proof_payments: releases };
    // A shop may have migrations of its own.
    const counts = { ...others, ...renamed, journal, _prisma_migrations: expect.any(Number) };
    expect(await countRows(up.old)).toEqual(counts);
    expect(await readKept(up.old)).toEqual(up.before.kept);
  });

  test('each ledger agrees with its transactions', async () => {
    const rows = await up.database.prisma.ledger.findMany();
    for (const { verify, history } of rows.map(ledgerOf))
      for (const { transactions, received, outflow } of [verify, history]) {
        expect(sum(transactions.map((one) => one.received))).toBe(received);
        expect(sum(transactions.map((one) => one.outflow))).toBe(outflow);
      }
    const open = `SELECT conname FROM pg_constraint WHERE conrelid = 'ledgers'::regclass AND NOT convalidated`;
    expect(await up.old.query(open)).toEqual([]);
  });

  test('held and missing money are unchanged, in the ledgers and in the journal', async () => {
    const wanted = up.before.money.map((one) => ({ ...one, ...EXCEPTIONS.get(one.reference)?.figures }));
    expect(await figuresIn(up)).toEqual(wanted);
    expect(await up.old.query(JOURNAL)).toEqual(wanted);
  });

  test.each(['2026-09', '2026-10'])('the books of %s are those that 1.0.0 printed', async (month) => {
    expect(await booksOf(up, month)).toEqual(booksOfOld(up.said.books[month]));
  });

  test('the journal chain of each order is whole', async () => {
    const { prisma } = up.database;
    for (const { id } of await prisma.order.findMany()) {
      const story = await explain(prisma, 'test', { orderId: id }, { timeZone: ZONE, now: new Date() });
      expect(story?.chain.brokenAt).toBeNull();
    }
  });

  test('a paid order cannot be set back', async () => {
    const back = `UPDATE orders SET status = 'pending', paid_reference = NULL, paid_at = NULL WHERE id = (
      SELECT id FROM orders WHERE status = 'paid' LIMIT 1)`;
    await expect(up.old.query(back)).rejects.toThrow('proofs_pay_their_order');
  });

  test('after whole runs, open cases stay open, closed cases stay closed, and all differences are explained', async () => {
    const references = new Set(up.before.money.map(({ reference }) => reference));
    const statuses = 'SELECT id, status FROM orders ORDER BY 1';
    const before = await up.old.query(statuses);
    await moveToNow(up.old, up.said.at);
    for (const run of ['first', 'second']) {
      const { out } = await terminal.run(['reconcile', '--json']);
      const { complete, verdict, identity } = JSON.parse(out) as Report;
      expect({ run, open: await up.old.query(OPEN) }).toEqual({ run, open: openAfter(up.before.open, references) });
      expect({ complete, verdict }).toEqual({ complete: true, verdict: name === 'day' ? 'agreed' : 'findings' });
      expect(identity.filter(({ difference }) => Number(difference) !== 0)).toEqual([]);
      expect(await up.old.query(JOURNAL)).toEqual(await figuresIn(up));
      expect(await up.old.query(statuses)).toEqual(before);
    }
  });
});
