import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { happens as isTold } from '../money/support.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { startProcess } from '../support/process.ts';
import { readSources } from '../support/sources.ts';
import { TEST_KEY } from '../support/shop.ts';
import { openBooks, type Books } from './books.ts';
import { buy, happens } from './makers.ts';
import { look, startDesk, type Desk } from './support.ts';

// Rules that keep an incomplete history, or a figure that was not applied, from opening cases.

describe('a history that lacks more than ten paid payments, and more than one in a hundred of them', () => {
  let books: Books;
  afterEach(() => books.close());

  /**
   * A run whose history has only the newest payments.
   * @returns how many are called absent, or why the history is incomplete
   */
  async function listed(rows: number): Promise<unknown> {
    books.service.faults = [{ kind: 'cut', rows }];
    const { report } = await books.reconcile();
    return report?.complete ? (report.findings.absent_from_history ?? 0) : report?.reason;
  }
  const lacks = (some: number, all: number) => expect.stringContaining(`lacks ${some} of ${all} `) as unknown;

  test('payments that are known to be absent do not count again, and payments that came back count again', async () => {
    books = await openBooks();
    expect(await listed(14)).toBe(10);
    expect(await listed(3)).toEqual(lacks(11, 24));
    expect(await listed(4)).toBe(20);
    expect(await listed(24)).toBe(0);
    expect(await listed(13)).toEqual(lacks(11, 24));
    // Without a reading of the history, no payment is known to be absent.
    await books.database
      .query(`UPDATE ledgers SET history_received = 0, history_transactions = '[]', history_word = NULL,
      history_read_at = NULL, history_reached_at = NULL`);
    expect(await listed(13)).toEqual(lacks(11, 24));
  });

  test('one in a hundred may be absent at once if that is more than ten', async () => {
    books = await openBooks({ count: 1_100, pageSize: 200 });
    expect(await listed(1_088)).toEqual(lacks(12, 1_100));
    expect(await listed(1_089)).toBe(11);
  });

  test('a payment that was verified within the history’s lag does not count as absent', async () => {
    books = await openBooks();
    const said = (ago: string) =>
      books.database.query(`BEGIN; SET LOCAL session_replication_role = replica;
        UPDATE verifications SET at = now() - interval '${ago}';
        UPDATE ledgers SET booked_in_at = now() - interval '${ago}'; COMMIT`);
    await said('9 minutes');
    expect(await listed(0)).toBe(0);
    await said('11 minutes');
    expect(await listed(0)).toEqual(lacks(24, 24));
  });
});

describe('an answer of verify after a run has applied the history', () => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await startDesk();
  });
  afterAll(() => desk.stop());

  /**
   * The state of a payment, and the figures of the history: balance, status word, and whether a run
   * has read it.
   */
  async function stands(reference: string) {
    const balance = 'history_received - history_outflow';
    const figure = `concat_ws(' ', ${balance}, history_word, history_read_at IS NOT NULL) AS list`;
    const rows = await desk.database.query(`SELECT ${figure} FROM ledgers WHERE reference = $1`, [reference]);
    return { ...(await look(desk, reference)), ...rows[0] };
  }
  const [list, sound] = ['850000 SUCCESS t', { message: 'goes', cases: [] }];
  /** Equal figures are not stored, so the payment is absent for one run first. */
  async function buyHeard(): Promise<string> {
    const { reference } = await buy(desk);
    for (const hidden of [true, false]) {
      await happens(desk, reference, 'hide', { from: 'list', hidden });
      await desk.reconcile();
    }
    expect(await stands(reference)).toMatchObject({ ...sound, list });
    return reference;
  }
  const says = (reference: string, said: object) => isTold(desk, reference, 'record', { ...said, verifyOnly: true });

  test.each<[says: string, said: object, finds: string | null]>([
    ['the same with another status word', { status: 'PAID' }, null],
    ['failed', { status: 'FAILED' }, 'contradicted 0 850000 NGN'],
    ['a lower amount without an outflow', { amount: 8000 }, 'contradicted 0 50000 NGN'],
    ['a partial refund', { amount_refunded: 42 }, 'reversed 0 4200 NGN'],
    ['a full reversal', { status: 'REVERSED' }, 'reversed 0 850000 NGN'],
  ])(
    'verify says %s, and then that the money is there: the history still shows it, and no case stays open',
    async (_, said, finds) => {
      const reference = await buyHeard();
      await says(reference, said);
      const found = finds === null ? sound : { message: 'held', cases: [finds] };
      expect(await stands(reference)).toMatchObject({ ...found, list });
      await says(reference, { status: 'SUCCESS', amount: 8500, amount_refunded: null });
      expect(await stands(reference)).toMatchObject({ ...sound, list });
      await desk.reconcile();
      expect(await stands(reference)).toMatchObject({ ...sound, list });
    },
  );

  test('verify repeats the reversal that the history has shown: one outflow and one case', async () => {
    const reference = await buyHeard();
    await happens(desk, reference, 'reverse');
    await says(reference, { status: 'SUCCESS', amount_refunded: null });
    await desk.reconcile();
    const money = ['NGN received 850000 outflow 850000 captured 850000'];
    const gone = { cases: ['reversed 0 850000 NGN'], money, list: '0 REVERSED t' };
    expect(await stands(reference)).toMatchObject(gone);
    await says(reference, { status: 'REVERSED', amount_refunded: 8500 });
    expect(await stands(reference)).toMatchObject(gone);
    expect((await desk.database.query('SELECT 1 FROM cases WHERE reference = $1', [reference])).length).toBe(2);
  });

  test('two servers with one database each use their own settings', async () => {
    const PORT = String(await freePort());
    const places = { PORT, DATABASE_URL: desk.database.url, GATEWAY_URL: desk.sandbox?.url ?? '' };
    const env = { ...places, GATEWAY_SECRET_KEY: TEST_KEY, CHECKOUTS_PER_MINUTE: '1', WORKER: 'off' };
    const other = startProcess('src/server.ts', env);
    await eventually(() => other.lines().some(({ msg }) => msg === 'ready'));
    const json = { email: 'ada@example.com', items: [{ sku: 'ankara-tote', quantity: 1 }] };
    const at = async (url: string) => (await desk.request('POST', `${url}/checkout`, { json })).status;
    const theirs = `http://127.0.0.1:${PORT}`;
    const statuses = [await at(theirs), await at(theirs), await at(desk.url)];
    await desk.restart();
    statuses.push(await at(desk.url), await at(theirs));
    await other.kill('SIGTERM');
    expect(statuses).toEqual([201, 429, 201, 201, 429]);
  });
});

test('no test sleeps, or depends on the time of day', () => {
  // The first ends hanging servers, and the second sends a flood at a fixed rate.
  const others = readSources('test').filter(({ path }) => !/^test.(support|failures.(database|floods))/.test(path));
  const clocks = others.filter(({ code }) => /\b(sleep|setTimeout|retryTimes)\(|\.get\w*(Hours|Day|Date)\(/.test(code));
  expect(clocks.map(({ path }) => path)).toEqual([]);
});

test('a postinstall without the dev dependencies prints what is needed and does not fail', () => {
  const script = readFileSync(new URL('../../prisma/generate.cjs', import.meta.url), 'utf8');
  const { status, stdout } = spawnSync(process.execPath, ['-e', script], { cwd: tmpdir(), encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, expect.stringContaining('generate the client where')]);
});

test('our migrations are dated in the past, so that a shop’s own come after them', () => {
  const now = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const names = readdirSync(new URL('../../prisma/migrations', import.meta.url)).filter((name) => /^\d/.test(name));
  expect([names.length > 0, names.filter((name) => name > now)]).toEqual([true, []]);
});
