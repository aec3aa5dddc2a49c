import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { recordRefund } from '../../src/orders/refunds.sql.ts';
import type { OrderId } from '../../src/platform/ids.ts';
import { explain } from '../../src/reporting/explain.ts';
import { post, startProgram, type TestProgram } from '../support/program.ts';

const TOKEN = 'shop-token-for-tests';
let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram({ env: { SHOP_API_TOKEN: TOKEN } });
});
afterAll(() => shop.close());

/** An order of 8,500.00 NGN that is paid. */
async function paidOrder(): Promise<OrderId> {
  const { orderId, reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
  return orderId;
}

const refund = (orderId: string, body: object, token = TOKEN): Promise<Response> =>
  post(`${shop.origin}/orders/${orderId}/refunds`, body, { authorization: `Bearer ${token}` });
const orderOf = async (orderId: string): Promise<object> =>
  (await (await fetch(`${shop.origin}/orders/${orderId}`)).json()) as object;
const rowsOf = (orderId: string): Promise<{ amount: bigint }[]> =>
  shop.program.database.query('SELECT amount FROM refunds WHERE order_id = $1', [orderId]);
const sql = (text: string, ...values: unknown[]): Promise<object[]> =>
  shop.program.database.query(text, values);

describe('a refund that the shop writes down', () => {
  test('stands at its order, which stays paid, and in its journal', async () => {
    const orderId = await paidOrder();
    expect(await orderOf(orderId)).toMatchObject({ status: 'paid', refunded: '0.00' });
    const answer = await refund(orderId, { amount: '5.00', reason: 'Scratched', externalId: 'R-7' });
    expect(answer.status).toBe(201);
    expect(await answer.json()).toEqual({
      refundId: expect.stringMatching(/^re_[A-Za-z0-9]{24}$/),
      ...{
        orderId,
        amount: '5.00',
        currency: 'NGN',
        refunded: '5.00',
        reason: 'Scratched',
        externalId: 'R-7',
      },
    });
    expect(await orderOf(orderId)).toMatchObject({ status: 'paid', refunded: '5.00' });
    const [entry] = await sql(
      `SELECT cause, reference, detail FROM journal WHERE order_id = $1 AND event = 'refund-recorded'`,
      orderId,
    );
    expect(entry).toMatchObject({ cause: 'shop', detail: { amount: '500', currency: 'NGN', number: 'R-7' } });
    const story = await explain(shop.program.database, orderId);
    expect(story?.isIntact).toBe(true);
    expect(story?.evidence).toMatch(/refund {8}recorded .*500 NGN by shop number R-7 Scratched/);
  });

  test('is what the shopper reads; what went back without one is said as well, and promises no goods', async () => {
    const orderId = await paidOrder();
    const pageOf = async (language: string): Promise<string> =>
      (await fetch(`${shop.origin}/shop/orders/${orderId}?lang=${language}`)).text();
    expect(await pageOf('en')).toContain('What happens now');
    const { reference } = (await orderOf(orderId)) as { reference: string };
    await shop.hand(`transactions/${reference}/reverse`);
    await shop.program.reconcile({ dryRun: false });
    const page = await pageOf('en');
    expect(page).toContain('Money of this order went back');
    expect(page).not.toMatch(/Thank you|What happens now/);
    expect(await pageOf('fr')).toContain('De l’argent de cette commande a été repris');
    await refund(orderId, { amount: '8500.00', reason: 'Sent back' });
    await shop.program.reconcile({ dryRun: false });
    expect(await pageOf('en')).toContain('Your payment was refunded');
  });

  test('is the same one under the same number, and another content is refused', async () => {
    const orderId = await paidOrder();
    const given = { amount: '8500', reason: 'Sent back', externalId: 'R-8' };
    const first: unknown = await (await refund(orderId, given)).json();
    const again = await refund(orderId, { ...given, amount: '8500.00' });
    expect([again.status, await again.json()]).toEqual([200, first]);
    // The number and the amount say which it is; the first reason stays.
    const repeated = await refund(orderId, { ...given, reason: 'Another' });
    expect([repeated.status, await repeated.json()]).toMatchObject([200, { reason: 'Sent back' }]);
    expect((await refund(orderId, { ...given, amount: '1.00' })).status).toBe(409);
    expect(await rowsOf(orderId)).toHaveLength(1);
  });

  test('is never above what is left, and the answer says what that is', async () => {
    const orderId = await paidOrder();
    await refund(orderId, { amount: '8000.00', reason: 'Sent back' });
    const answer = await refund(orderId, { amount: '500.01', reason: 'Sent back' });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({
      errors: [{ path: 'amount', message: 'is more than is left of what was paid: NGN 500.00' }],
    });
    expect((await refund(orderId, { amount: '500.00', reason: 'Sent back' })).status).toBe(201);
    expect(await orderOf(orderId)).toMatchObject({ refunded: '8500.00' });
  });

  test.each([
    ['nothing', { amount: '0.00' }],
    ['less than a minor unit', { amount: '1.001' }],
    ['a number', { amount: 5 }],
    ['a negative amount', { amount: '-1.00' }],
    ['no reason', { reason: '' }],
    ['a field of its own', { currency: 'NGN' }],
  ])('is refused when it has %s', async (_what, part) => {
    const orderId = await paidOrder();
    expect((await refund(orderId, { amount: '1.00', reason: 'x', ...part })).status).toBe(422);
    expect(await rowsOf(orderId)).toEqual([]);
  });

  test('is of an order that is paid, and of the token’s own mode', async () => {
    const { orderId } = await shop.checkout();
    const given = { amount: '1.00', reason: 'x' };
    expect((await refund(orderId, given)).status).toBe(409);
    expect((await refund(await paidOrder(), given, 'another')).status).toBe(401);
    const mine = { orderId: await paidOrder(), amount: 1n, reason: 'x', externalId: null, by: 'ada' };
    expect(await recordRefund(shop.program.database, 'live', mine)).toEqual({ outcome: 'unknown' });
  });
});

describe('ten refunds at once, of two processes', () => {
  let other: TestProgram;
  beforeAll(async () => {
    const { connectionString } = shop.program.database.pool.options;
    other = await startProgram({ env: { SHOP_API_TOKEN: TOKEN }, databaseUrl: connectionString ?? '' });
  });
  afterAll(() => other.close());
  const databases = () => [shop.program.database, other.program.database];
  const tenTimes = <T>(work: (at: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: 10 }, (_each, at) => work(at)));
  const recordAt = (at: number, orderId: OrderId, externalId: string) =>
    recordRefund(databases()[at % 2] ?? shop.program.database, 'test', {
      ...{ orderId, amount: 200_000n, reason: 'Sent back', externalId, by: 'ada' },
    });

  test('are as many as what was paid allows', async () => {
    const orderId = await paidOrder();
    const done = await tenTimes((at) => recordAt(at, orderId, `N-${at}`));
    const outcomes = done.map(({ outcome }) => outcome).sort();
    expect(outcomes).toEqual([...Array<string>(4).fill('recorded'), ...Array<string>(6).fill('too-much')]);
    expect(await orderOf(orderId)).toMatchObject({ refunded: '8000.00' });
    expect((await explain(shop.program.database, orderId))?.orderDetail.contradictions).toEqual([]);
  });

  test('of one number are one', async () => {
    const orderId = await paidOrder();
    const done = await tenTimes((at) => recordAt(at, orderId, 'N-1'));
    expect(done.filter(({ outcome }) => outcome === 'recorded')).toHaveLength(1);
    expect(done.filter(({ outcome }) => outcome === 'repeated')).toHaveLength(9);
    expect(await rowsOf(orderId)).toHaveLength(1);
  });

  test('are held by the database against any program', async () => {
    const orderId = await paidOrder();
    const insert = (at: number, id = orderId) =>
      (databases()[at % 2] ?? shop.program.database).query(
        `INSERT INTO refunds (id, order_id, mode, amount, currency, reason, refunded_by)
         VALUES ('re_' || lpad($2, 24, '0'), $1, 'test', 200000, 'NGN', 'x', 'ada')`,
        [id, `${id.slice(0, 20)}${at}`],
      );
    const done = await Promise.allSettled(Array.from({ length: 10 }, (_each, at) => insert(at)));
    expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    expect(await rowsOf(orderId)).toHaveLength(4);
    const refused = (text: string) => expect(sql(text, orderId)).rejects.toThrow('is refused');
    await refused('UPDATE refunds SET amount = 1 WHERE order_id = $1');
    await refused('DELETE FROM refunds WHERE order_id = $1');
    await refused(`INSERT INTO refunds (id, order_id, mode, amount, currency, reason, refunded_by)
      VALUES ('re_' || lpad('1', 24, '0'), $1, 'test', 1, 'XOF', 'x', 'ada')`);
    const { orderId: unpaid } = await shop.checkout();
    await expect(insert(1, unpaid)).rejects.toThrow('it is not paid');
  });
});

test('a refund that was changed by other means contradicts the journal', async () => {
  const orderId = await paidOrder();
  await refund(orderId, { amount: '5.00', reason: 'Scratched' });
  const told = async () => (await explain(shop.program.database, orderId))?.orderDetail.contradictions;
  const changed: unknown = expect.stringMatching(
    /^refund re_\w+ is not the one that journal entry \d+ wrote down$/,
  );
  await sql('ALTER TABLE refunds DISABLE TRIGGER refunds_are_frozen');
  await sql('UPDATE refunds SET amount = 400 WHERE order_id = $1', orderId);
  expect(await told()).toEqual([changed]);
  await sql('DELETE FROM refunds WHERE order_id = $1', orderId);
  expect(await told()).toEqual([changed]);
  await sql('ALTER TABLE refunds ENABLE TRIGGER refunds_are_frozen');
});
