import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { waitsForLock } from '../support/failures.ts';
import { booked, hold, kill, openBooks, ranOf, rowOf, type Books, type Row } from './books.ts';

// Runs that are killed, or that cannot continue. The books are the same each time: 24 orders, of
// which some differ.

const PAGE = 5_000;
/**
 * Enough rows before those of our orders that a checkpoint is stored after four pages and after
 * eight.
 */
const FILLERS = 8 * PAGE + 10;
const filler = (index: number): Row => ({ reference: `filler${index}`, status: 'PENDING', amount: 1, currency: 'NGN' });
const COMPARING = 'LOCK TABLE cases IN ACCESS EXCLUSIVE MODE';

const opened: Books[] = [];
/**
 * One order is reversed, one is paid twice, one payment is unmatched, and the history lacks ten.
 * @param fillers rows before them
 */
async function open(fillers = 0): Promise<Books> {
  const books = await openBooks({ pageSize: fillers > 0 ? PAGE : 4 });
  opened.push(books);
  const [reversed, twice, other, ...others] = books.orders.map((order) => rowOf(order)) as [Row, Row, Row, ...Row[]];
  const stranger = { ...other, reference: 'stranger', id: 'third' };
  const rows = [{ ...reversed, status: 'REVERSED' }, twice, { ...twice, id: 'second' }, other, stranger];
  const before = Array.from({ length: fillers }, (_, index) => filler(index));
  books.service.rows = [...before, ...rows, ...others.slice(10)];
  return books;
}

let whole: Awaited<ReturnType<typeof booked>>;
beforeAll(async () => {
  const books = await open();
  expect(await books.reconcile()).toMatchObject({ exit: 1, report: { complete: true } });
  whole = await booked(books.database);
  expect(whole.cases).toHaveLength(13);
});
afterAll(() => Promise.all(opened.map((books) => books.close())));

/** The next run completes, and everything is booked once, as by an undisturbed run. */
async function endsRight(books: Books): Promise<void> {
  books.service.calls.pages = [];
  const { exit, report } = await books.reconcile();
  expect({ exit, ...report }).toMatchObject({
    ...{ exit: 1, complete: true, verdict: 'findings', payments: 24, reason: null },
    findings: { absent_from_history: 10, charged_again: 1, reversed: 1, unknown_reference: 1 },
    identity: [{ difference: '0.00' }],
  });
  expect(await booked(books.database)).toEqual(whole);
}

/** Ends the leases of a dead run. */
const leasesEnd = (books: Books) =>
  books.database.query(`UPDATE payments SET leased_until = leased_until - interval '31 seconds'`);

describe('a run that is killed: the next one completes', () => {
  test.each([
    ['before the first checkpoint', 3, 1],
    ['after a checkpoint, whose pages are not requested again', 7, 5],
  ])('while the history is read, %s', async (_when, at, from) => {
    const books = await open(FILLERS);
    const run = books.start(['reconcile']);
    books.onPage = (page) => page === at && process.kill(run.pid, 'SIGKILL');
    expect(await run.end()).toBe('SIGKILL');
    await kill(books.database, run);
    books.onPage = () => undefined;
    await endsRight(books);
    expect(books.service.calls.pages).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].slice(from - 1));
  });

  test('while it compares', async () => {
    const books = await open();
    const letGo = await hold(books.database, COMPARING);
    const run = books.start(['reconcile']);
    await waitsForLock(books.database, /WITH\s+\w+ AS/);
    await kill(books.database, run);
    await letGo();
    await endsRight(books);
    expect(books.service.calls.pages).toEqual([]);
  });

  test('while it verifies, with some payments done and some not', async () => {
    const books = await open();
    const run = books.start(['reconcile']);
    // Eight verifications run at once, so when the tenth starts, two are done.
    books.onVerify = () => books.service.calls.verified.length === 10 && process.kill(run.pid, 'SIGKILL');
    expect(await run.end()).toBe('SIGKILL');
    await kill(books.database, run);
    const { cases } = await booked(books.database);
    expect([cases.length > 0, cases.length < whole.cases.length]).toEqual([true, true]);
    await leasesEnd(books);
    await endsRight(books);
  });

  test('before its report is stored', async () => {
    const books = await open();
    const letCompare = await hold(books.database, COMPARING);
    const run = books.start(['reconcile']);
    await waitsForLock(books.database, /WITH\s+\w+ AS/);
    const letReport = await hold(books.database, 'SELECT 1 FROM runs FOR UPDATE');
    await letCompare();
    await waitsForLock(books.database, /^UPDATE [^]*runs/);
    expect(await booked(books.database)).toEqual(whole);
    await kill(books.database, run);
    await letReport();
    await endsRight(books);
  });
});

test('a run whose database connection ends while it waits for the service can be repeated', async () => {
  const books = await open();
  books.service.faults.push({ kind: 'slow', page: 2, ms: 3_000 });
  const run = books.start(['reconcile', '--json']);
  await eventually(() => {
    expect(books.service.calls.pages).toContain(2);
  });
  await books.database.query(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`);
  expect(await ranOf(run)).toMatchObject({
    exit: 2,
    err: 'The database cannot be reached. Check it, and repeat the command.\n',
  });
  await endsRight(books);
});

test('the second of two concurrent runs reports the first and exits with 2', async () => {
  const books = await open();
  const letGo = await hold(books.database, COMPARING);
  const run = books.start(['reconcile', '--json']);
  await waitsForLock(books.database, /WITH\s+\w+ AS/);
  const second = await books.reconcile();
  expect(second).toMatchObject({ exit: 2, report: null, out: '' });
  expect(second.err).toMatch(/another reconciliation is under way/);
  await letGo();
  expect(await ranOf(run)).toMatchObject({ exit: 1, report: { complete: true } });
  expect(await booked(books.database)).toEqual(whole);
});

test.each(['status', 'broken', 'torn'] as const)(
  'a page that fails (%s) makes the run incomplete without changes, and the next run continues from that page',
  async (kind) => {
    const books = await open(FILLERS);
    const before = await booked(books.database);
    books.service.faults.push({ kind, page: 6 });
    const { exit, report, out } = await books.reconcile();
    expect({ exit, ...report }).toMatchObject({ exit: 2, complete: false, verdict: 'incomplete', items: [] });
    expect(report?.reason ?? out).toMatch(/page|history/);
    expect(await booked(books.database)).toEqual(before);
    await endsRight(books);
    expect(books.service.calls.pages).toEqual([6, 7, 8, 9]);
  },
);

test('a payment that differs and could not be verified keeps a run from agreeing', async () => {
  const books = await openBooks();
  opened.push(books);
  books.service.rows = books.orders.slice(1).map((order) => rowOf(order));
  // Another process verifies it, or died while doing so.
  await books.database.query(`UPDATE payments SET leased_until = now() + interval '1 minute'`);
  const { exit, report } = await books.reconcile();
  expect([exit, report?.verdict]).not.toEqual([0, 'agreed']);
});

test('a payment that the database refuses to write does not stop a run, and the next run applies it', async () => {
  const books = await open();
  await books.database.query('ALTER TABLE cases ADD CONSTRAINT broken CHECK (held = 0)');
  const { exit, report } = await books.reconcile();
  expect({ exit, complete: report?.complete, verdict: report?.verdict }).toEqual({
    exit: 1,
    complete: true,
    verdict: 'findings',
  });
  expect(report?.reason).toMatch(/could not be judged/);
  await books.database.query('ALTER TABLE cases DROP CONSTRAINT broken');
  await leasesEnd(books);
  await endsRight(books);
});

test('a run that ends with an error does not pass its history to the next run, which reads it again', async () => {
  const books = await open();
  // The same rows would cause the same error again.
  await books.database.query('ALTER TABLE verifications RENAME COLUMN at TO broken');
  expect(await books.reconcile()).toMatchObject({ exit: 1, report: null });
  await books.database.query('ALTER TABLE verifications RENAME COLUMN broken TO at');
  await leasesEnd(books);
  await endsRight(books);
  expect(books.service.calls.pages).toEqual([1, 2, 3, 4]);
});
