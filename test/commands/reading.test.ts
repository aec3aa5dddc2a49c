import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { settle, statusOf } from '../support/outside.ts';
import { startShop, type Shop } from '../support/shop.ts';

// Commands that only read ask for no name. Long lists say how many rows exist.

let shop: Shop;
beforeAll(async () => {
  shop = await startShop({ worker: false });
});
afterAll(() => shop.stop());

describe.each<[string, Record<string, string>]>([
  ['unknown', {}],
  ['empty', { USER: '' }],
])('when the login name is %s', (_name, env) => {
  test('after-restore without a change asks for no name', async () => {
    expect(await shop.command(['after-restore'], env)).toEqual({
      exit: 0,
      out: 'All money belongs to an order.',
      err: '',
    });
    expect(await shop.command(['after-restore', '--json'], env)).toMatchObject({ exit: 0, out: '[]', err: '' });
  });

  test('a dry run of reconcile asks for no name', async () => {
    const { exit, out } = await shop.command(['reconcile', '--dry-run'], env);
    expect({ exit, out }).toEqual({ exit: 0, out: expect.stringMatching(/^AGREED\. /) });
  });

  test('after-restore that gives money to an order asks for a name', async () => {
    const { orderId } = await shop.checkout();
    const adopt = ['after-restore', orderId, '--adopt', 'x'.repeat(26)];
    const unnamed = await shop.command(adopt, env);
    expect(unnamed).toMatchObject({ exit: 64, out: '', err: expect.stringMatching(/^--by BY is (missing|not valid)/) });
    const named = await shop.command([...adopt, '--by', 'Ada'], env);
    expect(named).toMatchObject({ exit: 1, out: '', err: expect.stringMatching(/without an order/) });
    const program = await shop.command([...adopt, '--by', 'Schedule'], env);
    expect(program).toMatchObject({ exit: 64, err: expect.stringMatching(/^--by BY is not valid/) });
  });
});

describe('the orders of a day', () => {
  const insert = (prefix: string, day: string, count: number) =>
    shop.database.query(
      `INSERT INTO orders (id, mode, email, amount, currency, created_at)
       SELECT $1 || lpad(n::text, 20, '0'), 'test', 'a@example.com', 850000, 'NGN', $2::timestamptz + n * interval '1 second'
       FROM generate_series(1, $3) n`,
      [prefix, `${day}T08:00:00Z`, count],
    );
  /** How many orders are listed, and the text beside the list. */
  async function list(day: string, prefix: string) {
    const { exit, out, err } = await shop.command(['orders', 'list', day]);
    const [lines, isOrder] = [out.split('\n'), (line: string) => line.includes(`  ${prefix}`)];
    const said = [...lines.filter((line) => !isOrder(line)), err].join('\n');
    return { exit, listed: lines.filter(isOrder).length, said };
  }

  test('are shown up to a thousand, with the total number', async () => {
    await insert('many', '2020-01-15', 1_234);
    const { said, ...shown } = await list('2020-01-15', 'many');
    expect(shown).toEqual({ exit: 0, listed: 1_000 });
    expect(said).toMatch(/\b1,?000 of 1,?234\b/);
  });

  test('are all shown without a note when there are exactly a thousand', async () => {
    await insert('full', '2020-02-15', 1_000);
    expect(await list('2020-02-15', 'full')).toEqual({ exit: 0, listed: 1_000, said: expect.stringMatching(/^\s*$/) });
  });
});

test('doctor counts a case that was opened a moment ago', async () => {
  const { orderId, reference } = await shop.checkout();
  await settle(shop, reference, { amount: 8000 });
  expect(await statusOf(shop, orderId)).toBe('review');
  const { out } = await shop.command(['doctor']);
  expect(out).toMatch(/^look +cases-open: 1 case open\./m);
});

test('the money page opens on the current month', async () => {
  const MONTHS = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });
  // Repeated, because a month may end meanwhile.
  await eventually(async () => {
    const { status, body } = await shop.request<string>('GET', '/admin/money');
    const now = new Date();
    expect(status).toBe(200);
    expect(/<h1>([^<]*)<\/h1>/.exec(body)?.[1]).toBe(`Money in ${MONTHS.format(now)}`);
    expect(body).toContain(`/admin/money.csv?month=${now.toISOString().slice(0, 7)}`);
  }, 5_000);
});
