import { afterEach, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { startShop } from '../support/shop.ts';
import { booked, kill, openBooks, rowOf, type Books, type Row } from './books.ts';

// Runs other than the daily one: over a window, dry, the first run, of the other mode, and
// scheduled runs.

let books: Books;
afterEach(() => books.close());
const ours = () => books.orders.map((order) => rowOf(order));
const strangers = (count: number): Row[] =>
  Array.from({ length: count }, (_, index) => ({ ...ours()[0], reference: `stranger${index}`, id: `other${index}` }));
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

test.each(['2026-10-31T00:00:00', '2026-02-30T00:00:00Z', ''])(
  '--since and --until need a valid time with its zone: %j is refused with 64 and causes no call',
  async (time) => {
    books = await openBooks({ count: 1 });
    for (const option of ['--since', '--until']) {
      const { exit, err } = await books.reconcile([option, time]);
      expect([exit, err]).toEqual([64, expect.stringMatching(/time with its zone/)]);
    }
    expect(books.service.calls.pages).toEqual([]);
  },
);

test('a window reads a part of the history, judges no totals, and reports unmatched payments', async () => {
  books = await openBooks();
  const back = { ...ours()[0], id: 'second', amount: -85, createdAt: minutesAgo(5) };
  const more = { ...ours()[1], id: 'third', amount: 17_000, createdAt: minutesAgo(4) };
  const stranger = { ...strangers(1)[0], createdAt: minutesAgo(6) };
  books.service.rows = [more, back, stranger, ...ours()];
  const [since, middle] = [minutesAgo(30).replace('Z', '+00:00'), minutesAgo(5.5)];
  const before = await booked(books.database);
  const quiet = await books.reconcile(['--since', middle]);
  expect(quiet).toMatchObject({
    exit: 0,
    report: { verified: 2, identity: [], findings: {}, history: { records: 2 } },
  });
  expect(await booked(books.database)).toEqual(before);
  // A refund after the window's end is not in it. The run books nothing for this unmatched payment,
  // and says so.
  const ended = await books.reconcile(['--since', since, '--until', middle]);
  const reason = expect.stringContaining('1 payments that differ could not be judged') as unknown;
  expect(ended).toMatchObject({ exit: 1, report: { findings: {}, history: { records: 1 }, reason } });
  const loud = await books.reconcile(['--since', since]);
  expect(loud).toMatchObject({ exit: 1, report: { findings: { unknown_reference: 1 }, history: { records: 3 } } });
});

test('--dry-run verifies nothing and writes nothing, and an interrupted run continues later', async () => {
  books = await openBooks();
  books.service.rows = [...strangers(2), ...ours().slice(3)];
  const run = books.start(['reconcile']);
  books.onPage = (page) => page === 3 && process.kill(run.pid, 'SIGKILL');
  await run.end();
  await kill(books.database, run);
  books.onPage = () => undefined;
  const runs = 'SELECT id, started_at, ended_at, verdict FROM runs';
  const all = async () => [await booked(books.database), await books.database.query(runs)];
  const before = await all();
  const { exit, report } = await books.reconcile(['--dry-run']);
  expect({ exit, ...report }).toMatchObject({ exit: 1, complete: true, findings: { differs: 5 }, verified: 0 });
  expect([books.service.calls.verified, await all()]).toEqual([[], before]);
});

test('--begin with --dry-run sets nothing aside', async () => {
  books = await openBooks();
  books.service.rows = [...strangers(101), ...ours()];
  expect((await books.reconcile(['--begin', '--dry-run'])).report).not.toBeNull();
  const sql = 'SELECT count(*)::int AS payments FROM payments WHERE order_id IS NULL';
  expect(await books.database.query(sql)).toEqual([{ payments: 0 }]);
});

test('101 earlier payments open no cases: --begin sets them aside, and later runs ignore them', async () => {
  books = await openBooks();
  const past = strangers(101);
  books.service.rows = [...past, ...ours()];
  const before = await booked(books.database);
  const advised = await books.reconcile();
  const reason = expect.stringMatching(/^101 payments .* none of ours.*right account.*reconcile --begin/) as unknown;
  expect(advised).toMatchObject({ exit: 2, report: { complete: false, reason, items: [] } });
  expect(await booked(books.database)).toEqual(before);

  const begun = await books.reconcile(['--begin']);
  expect(begun).toMatchObject({ exit: 0, report: { verdict: 'agreed', history: { setAside: { records: 101 } } } });
  expect(await books.reconcile()).toMatchObject({ exit: 0, report: { findings: {}, verified: 0 } });
  books.service.rows = [...strangers(102), ...ours()];
  expect(await books.reconcile()).toMatchObject({ exit: 1, report: { findings: { unknown_reference: 1 } } });
});

test('two modes in one database do not see each other', async () => {
  books = await openBooks();
  const live = {
    GATEWAY_SECRET_KEY: 'sk_live_no_real_money',
    ALLOW_LIVE_KEY_ON_LOOPBACK: 'on',
    CHECKOUT_HOSTS: 'a.example',
  };
  const before = await booked(books.database);
  const [stranger] = strangers(1);
  books.service.rows = [{ ...stranger, mode: 'live' }, ...ours().map((row) => ({ ...row, mode: 'test' }))];
  const lives = await books.reconcile([], live);
  expect(lives).toMatchObject({ exit: 1, report: { mode: 'live', payments: 0, findings: { unknown_reference: 1 } } });
  const { ledgers, cases } = await booked(books.database);
  expect(cases).toMatchObject([{ reference: 'stranger0' }]);
  expect(ledgers).toEqual([...before.ledgers, expect.objectContaining({ reference: 'stranger0' })]);
  const tests = await books.reconcile();
  expect(tests).toMatchObject({ exit: 0, report: { mode: 'test', payments: 24, matched: 24, findings: {} } });
});

test.each([
  ['a whole run a day, and light runs between if the history can be filtered', '15', 'shared', [true, false, true]],
  ['only a whole run a day if it cannot be filtered', '15', 'prompt', [true, true]],
  ['no run with RECONCILE_EVERY_MIN=0', '0', 'shared', []],
])('the schedule: %s', async (_what, every, adapter, wanted) => {
  books = await openBooks({ count: 1 });
  const row = { reference: 'pending', status: 'PENDING', amount: 1, currency: 'NGN' };
  const old = { ...row, createdAt: minutesAgo(200) };
  books.service.rows = [{ ...row, reference: 'new', createdAt: minutesAgo(50) }, old];
  const file = fileURLToPath(new URL(`../support/adapters/${adapter}.ts`, import.meta.url));
  const env = { GATEWAY_ADAPTER: file, RECONCILE_EVERY_MIN: every };
  const shop = await startShop({ gatewayUrl: books.service.url, env });
  const seen = () =>
    shop.database.query<{ full: boolean; records: number }>(
      `SELECT "full", (report #>> '{history,records}')::int AS records FROM runs ORDER BY id`,
    );
  try {
    // A server checks the schedule as it starts, and finishes a running pass before it stops.
    for (const ago of ['1 minute', '20 minutes', '25 hours']) {
      await shop.restart();
      await shop.database.query(`UPDATE runs SET started_at = started_at - interval '${ago}'`);
    }
    await shop.restart();
    await shop.kill('SIGTERM');
    expect(await seen()).toEqual(wanted.map((full) => ({ full, records: full ? 2 : 1 })));
  } finally {
    await shop.stop();
  }
});
