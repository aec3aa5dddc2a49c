import { afterEach, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import type { PageStyle } from '../support/list-service.ts';
import { booked, kill, openBooks, rowOf, type Books, type Row } from './books.ts';

// Histories that are incomplete or endless, or that contain unreadable or forbidden content.

let books: Books;
afterEach(() => books.close());
const ours = () => books.orders.map((order) => rowOf(order));

/** The run is incomplete and gives the reason. Nothing is booked, and no case is opened. */
async function isIncomplete(why: RegExp): Promise<void> {
  const before = await booked(books.database);
  const { exit, report } = await books.reconcile();
  const says = expect.stringMatching(why) as unknown;
  expect({ exit, ...report }).toMatchObject({ exit: 2, complete: false, verdict: 'incomplete', reason: says });
  expect(await booked(books.database)).toEqual(before);
  expect(books.service.calls.verified).toEqual([]);
}

test('a history that lacks more than ten payments and more than one in a hundred is incomplete', async () => {
  books = await openBooks();
  books.service.faults = [{ kind: 'cut', rows: 13 }];
  await isIncomplete(/lacks 11 of 24/);
  books.service.faults = [{ kind: 'cut', rows: 14 }];
  const { exit, report } = await books.reconcile();
  expect({ exit, ...report }).toMatchObject({ exit: 1, complete: true, findings: { absent_from_history: 10 } });
});

test.each([
  ['is the first page', 0, 4],
  ['leads back to the first page', 0, 8],
  ['leads back to a middle page', 8, 8],
])('a history whose every page, by rising numbers, %s is incomplete', async (_where, start, period) => {
  books = await openBooks();
  const all = ours();
  const at = (index: number) => (index < start + period ? index : start + ((index - start) % period));
  // The history ends, so that a run that misses the fault ends, too.
  books.service.rows = Array.from({ length: 400 }, (_, index) => all[at(index)] ?? {});
  await isIncomplete(/^page \d (of the history )?(has no new row|was read before)/);
});

test.each([{}, { merchant: 'another' }])(
  'a last row that repeats for ever, changed (%j), makes the history incomplete',
  async (more) => {
    let last: unknown;
    const style: PageStyle = (rows, { page }) => {
      last = rows.at(-1) ?? { ...(last as Row), ...more, receipt: page };
      // The history ends, so that a run that misses the fault ends, too.
      return { status: true, data: { data: rows.length > 0 ? rows : [last], hasNextPage: page < 100 } };
    };
    books = await openBooks({ style });
    await isIncomplete(/^page \d+ of the history has no new row/);
  },
);

test('without ids, a last page that equals earlier rows is not taken for a loop', async () => {
  books = await openBooks();
  const rows = [...ours(), { ...ours().at(-1), createdAt: new Date(0).toISOString() }];
  books.service.rows = rows.map((row) => ({ ...row, id: undefined }));
  expect(await books.reconcile()).toMatchObject({ exit: 1, report: { findings: { charged_again: 1 } } });
});

test('unreadable rows are counted and reported, and the others are compared', async () => {
  books = await openBooks();
  const [first] = ours() as [Row];
  const odd = { reference: 'odd', status: 'P\tE\\N\nD\\.\r\0"\ud800', id: '\\', currency: 'N\tN', amount: 1 };
  const other = { ...first, reference: 'other' };
  const amounts = ['1e3', '25,00', 99.99995, 2 ** 53 + 2, null, {}, '', 'NaN', '-'];
  const rows = [null, 7, 'text', [], {}, { ...other, id: 'x'.repeat(201) }, { ...other, currency: 'ZZZ' }];
  const poison = [odd, ...rows, { ...other, reference: '\0' }, ...amounts.map((amount) => ({ ...other, amount }))];
  books.service.rows = [...(poison as Row[]), ...ours()];
  for (let run = 0; run < 2; run += 1) {
    const { exit, report } = await books.reconcile();
    const reason = expect.stringMatching(`^${poison.length} rows of the history cannot be read: `) as unknown;
    expect({ exit, ...report }).toMatchObject({ exit: 1, complete: true, matched: 24, findings: {}, reason });
    expect(report?.history.unreadable).toBe(poison.length);
  }
});

const KEY = ['sk_test', 'aB3dE6gH9jKm2N5pQ8sT1vW4xY7zA0cD'].join('_');
const PIECE = KEY.slice(8, 20).toLowerCase();

/** Rows of any table that contain a text, in upper or lower case. */
async function rowsWith(text: string): Promise<string[]> {
  const named = `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'`;
  const tables = await books.database.query<{ name: string }>(named);
  const found = tables.map(async ({ name }) => {
    const rows = await books.database.query<{ t: string }>(`SELECT t::text AS t FROM ${name} t`);
    return rows.filter(({ t }) => t.toLowerCase().includes(text.toLowerCase())).map(({ t }) => `${name}: ${t}`);
  });
  return (await Promise.all(found)).flat();
}

test('our own key in any field of the history is in no table and in no output', async () => {
  books = await openBooks();
  const [first] = ours() as [Row];
  const as = (name: string, more: Row = {}) => ({ ...first, reference: `key${name}`, id: name, ...more, [name]: KEY });
  const names = ['reference', 'status', 'id', 'currency', 'amount', 'mode', 'merchant', 'createdAt', 'doubt'];
  const rows = names.flatMap((name) => [as(name), as(name, { status: 'PENDING' }), as(name, { mode: 'live' })]);
  books.service.rows = [{ [KEY]: KEY }, ...rows, ...ours()];
  const { exit, report, out, err } = await books.reconcile([], { GATEWAY_SECRET_KEY: KEY });
  expect([exit, report?.complete]).toEqual([1, true]);
  expect(await rowsWith('[redacted]')).not.toEqual([]);
  expect(await rowsWith(PIECE)).toEqual([]);
  expect(`${out}${err}`.toLowerCase()).not.toContain(PIECE);
});

test('our own key in the URL of the next page is not stored with the checkpoint', async () => {
  const style: PageStyle = (records, { next }) => ({
    records,
    links: { next: { href: next && `${next}&key=${KEY}` } },
  });
  books = await openBooks({ pageSize: 10_000, style });
  books.service.rows = Array.from({ length: 40_000 }, (_, index) => ({ reference: `filler${index}`, status: 'open' }));
  const adapter = fileURLToPath(new URL('../services/adapters/absolute.ts', import.meta.url));
  const run = books.start(['reconcile'], { GATEWAY_SECRET_KEY: KEY, GATEWAY_ADAPTER: adapter });
  // The first checkpoint is stored after two pages.
  books.onPage = (page) => page === 4 && process.kill(run.pid, 'SIGKILL');
  await run.end();
  await kill(books.database, run);
  expect(await rowsWith('filler19999')).toHaveLength(1);
  expect(await rowsWith(PIECE)).toEqual([]);
});
