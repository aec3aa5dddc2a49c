import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { newId } from '../../src/platform/ids.ts';
import type { Alert } from '../../src/alerts/alert.ts';
import { readCheckoutStops } from '../../src/payments/checkout-stops.sql.ts';
import { workList } from '../../src/commands/work-list.ts';
import { DEFAULTS } from '../../src/extensions.ts';
import { LISTS } from '../../src/commands/work-lists.ts';
import {
  aBasket,
  eventually,
  post,
  startProgram,
  type CheckoutAnswer,
  type TestProgram,
} from '../support/program.ts';

const alerts: Alert[] = [];
let shop: TestProgram;
beforeAll(async () => {
  const onAlert = (alert: Alert): void => void alerts.push(alert);
  shop = await startProgram({
    slowTime: true,
    env: { ADMIN_TOKEN: 'operator-token-of-the-test' },
    extensions: { ...DEFAULTS, onAlert },
  });
});
afterAll(() => shop.close());
afterEach(async () => {
  await query(
    `UPDATE currency_stops SET released_at = now(), released_by = 'test' WHERE released_at IS NULL`,
  );
  await query('DELETE FROM alert_states');
});

const query = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);
const buy = (body: object = aBasket, headers = {}): Promise<Response> =>
  post(`${shop.origin}/checkout`, body, headers);
const openStops = () =>
  query('SELECT mode, currency, reference FROM currency_stops WHERE released_at IS NULL');
const initializeCalls = async (): Promise<number> => {
  const answer = await fetch(`${shop.sandbox.url}/sandbox/calls`);
  const { references } = (await answer.json()) as { references: Record<string, { initialize: number }> };
  return Object.values(references).reduce((sum, { initialize }) => sum + initialize, 0);
};
const look = ({ reference }: { reference: string }): Promise<Response> =>
  fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });

/** The clock looks at a payment, whenever somebody has looked at it before. */
async function lookAgain({ reference }: { reference: string }): Promise<void> {
  await query(
    'UPDATE payments SET next_check_at = now(), leased_until = NULL WHERE reference = $1',
    reference,
  );
  await shop.program.duePayments.runOnce();
}

/** An order of 8,500.00 NGN, seen as paid with that much. */
async function seenPaid(amount: string): Promise<CheckoutAnswer> {
  const order = await shop.checkout();
  await shop.hand(`transactions/${order.reference}/pay`, { amount, notify: false });
  await look(order);
  return order;
}

/**
 * Two orders, one after the other, seen as paid in another unit.
 * @returns the second, which stops the currency
 */
async function unitError(amount = '850000.00'): Promise<CheckoutAnswer> {
  await seenPaid(amount);
  return seenPaid(amount);
}

test('a stop names what came in another unit, also when the service shows the exact amount after all', async () => {
  const { reference } = await unitError('850.00');
  await shop.hand(`transactions/${reference}/pay`, { amount: '7650.00', notify: false });
  await lookAgain({ reference });
  expect(await query('SELECT status FROM payments WHERE reference = $1', reference)).toEqual([
    { status: 'paid' },
  ]);
  expect(await readCheckoutStops(shop.program.database, 'test')).toMatchObject([
    { currency: 'NGN', reference, asked: 850_000n, came: 85_000n },
  ]);
});

describe('C5: one shopper alone stops nothing', () => {
  test.each(['850000.00', '850.00', '85000.00'])('who pays %s for 8500.00: told at once', async (amount) => {
    alerts.length = 0;
    const { orderId, reference } = await seenPaid(amount);
    expect(await openStops()).toEqual([]);
    // Told right after the answer is recorded, perhaps after the shopper's page was sent.
    await eventually(() => Promise.resolve(alerts.length > 0));
    expect(alerts).toMatchObject([
      { event: 'unit-error', mode: 'test', orderId, reference, currency: 'NGN' },
    ]);
    await lookAgain({ reference });
    expect(alerts).toHaveLength(1);
    await seenPaid('8500.00');
  });

  test('nor the same order again, by another payment', async () => {
    const first = await seenPaid('850.00');
    await query(`UPDATE orders SET status = 'failed' WHERE id = $1`, first.orderId);
    const second = await shop.checkout({ orderId: first.orderId });
    expect(second.reference).not.toBe(first.reference);
    await shop.hand(`transactions/${second.reference}/pay`, { amount: '850.00', notify: false });
    await look(second);
    expect(await openStops()).toEqual([]);
    await seenPaid('8500.00');
  });

  test('nor a second order when an exact payment of the currency lies between', async () => {
    await seenPaid('850.00');
    await seenPaid('8500.00');
    await seenPaid('850.00');
    expect(await openStops()).toEqual([]);
    await seenPaid('8500.00');
  });

  test('an exact payment of another currency says nothing about this one', async () => {
    await seenPaid('850.00');
    const other = await shop.checkout({ email: 'ada@example.com', items: [{ sku: 'bissap', quantity: 1 }] });
    await shop.hand(`transactions/${other.reference}/pay`, { notify: false });
    await look(other);
    const { reference } = await seenPaid('85000.00');
    expect(await openStops()).toEqual([{ mode: 'test', currency: 'NGN', reference }]);
  });

  test('two orders that are looked at in the same instant are two', async () => {
    const orders = [await shop.checkout(), await shop.checkout()];
    for (const { reference } of orders)
      await shop.hand(`transactions/${reference}/pay`, { amount: '85.00', notify: false });
    await query(
      'UPDATE payments SET next_check_at = now(), leased_until = NULL WHERE reference = ANY($1)',
      orders.map(({ reference }) => reference),
    );
    await shop.program.duePayments.runOnce();
    expect(await openStops()).toHaveLength(1);
  });
});

/** What `npm run currencies -- …` prints, and its exit code. */
async function command(positionals: string[], values: { by?: string; note?: string } = {}) {
  const print = (stream: NodeJS.WriteStream) =>
    jest.spyOn(stream, 'write').mockImplementation((text) => {
      printed += String(text);
      return true;
    });
  let printed = '';
  const spies = [print(process.stdout), print(process.stderr)];
  try {
    const code = await workList(shop.program, LISTS.currencies, {
      positionals,
      values: { json: false, ...values },
    });
    return { code, printed };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

describe('a second one that is a power of ten away stops new checkouts of its currency', () => {
  test.each(['850000.00', '85.00'])('%s for 8500.00: no order, no payment, no call', async (amount) => {
    const open = await shop.checkout();
    const failed = await shop.checkout();
    await shop.hand(`transactions/${failed.reference}/fail`, { notify: false });
    await look(failed);
    const canary = await unitError(amount);
    expect(await openStops()).toEqual([{ mode: 'test', currency: 'NGN', reference: canary.reference }]);

    const before = [await query('SELECT count(*) FROM payments'), await initializeCalls()];
    for (const [body, headers] of [
      [aBasket, {}],
      [aBasket, { 'idempotency-key': newId() }],
      [{ orderId: failed.orderId }, {}],
    ] as const) {
      const answer = await buy(body, headers);
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toBeNull();
      expect(await answer.json()).toMatchObject({
        type: '/problems/currency-stopped',
        detail: 'New payments in NGN are stopped.',
      });
    }
    expect([await query('SELECT count(*) FROM payments'), await initializeCalls()]).toEqual(before);

    // What is open goes on: the same checkout is resumed, and confirms.
    expect(await shop.checkout({ orderId: open.orderId })).toEqual(open);
    await shop.hand(`transactions/${open.reference}/pay`, { notify: false });
    await look(open);
    const order = await fetch(`${shop.origin}/orders/${open.orderId}`);
    expect(await order.json()).toMatchObject({ status: 'paid' });
  });

  test('also when the second was held before, for less: both alerts are sent, once', async () => {
    alerts.length = 0;
    await seenPaid('850000.00');
    const { reference } = await seenPaid('8000.00');
    await eventually(() => Promise.resolve(alerts.length > 0));
    alerts.length = 0;
    await shop.hand(`transactions/${reference}/pay`, { amount: '842000.00', notify: false });
    await lookAgain({ reference });
    expect(await openStops()).toMatchObject([{ currency: 'NGN', reference }]);
    await eventually(() => Promise.resolve(alerts.length > 1));
    await lookAgain({ reference });
    expect(alerts).toMatchObject([
      { event: 'unit-error', reference },
      { event: 'currency-stopped', reference, currency: 'NGN' },
    ]);
  });

  test('other currencies go on', async () => {
    await unitError();
    const answer = await buy({ email: 'ada@example.com', items: [{ sku: 'bissap', quantity: 1 }] });
    expect(answer.status).toBe(201);
  });

  test('a key that was answered before gets its answer, one that was not may be used again', async () => {
    const [old, young] = [newId(), newId()];
    const first = (await (await buy(aBasket, { 'idempotency-key': old })).json()) as CheckoutAnswer;
    await unitError();
    expect(await (await buy(aBasket, { 'idempotency-key': old })).json()).toEqual(first);
    expect((await buy(aBasket, { 'idempotency-key': young })).status).toBe(503);
    await command(['resume', 'NGN'], { by: 'Ngozi', note: 'dialect corrected' });
    expect((await buy(aBasket, { 'idempotency-key': young })).status).toBe(201);
  });

  test('a payment that was never sent is not sent', async () => {
    const order = await shop.checkout();
    await query(
      `UPDATE payments SET status = 'created', checkout_url = NULL WHERE reference = $1`,
      order.reference,
    );
    await unitError();
    const answer = await buy({ orderId: order.orderId });
    expect(await answer.json()).toMatchObject({ type: '/problems/currency-stopped' });
  });

  test.each([
    ['less', { amount: '8499.99' }],
    ['more', { amount: '8500.01' }],
    ['another currency', { amount: '8500', currency: 'XOF' }],
  ])('%s stops nothing', async (_name, payment) => {
    const order = await shop.checkout();
    await shop.hand(`transactions/${order.reference}/pay`, { ...payment, notify: false });
    await look(order);
    expect(await openStops()).toEqual([]);
  });

  test('the journal of its order, the metrics and the list say so', async () => {
    const { orderId, reference } = await unitError();
    const [entry] = await query<{ detail: object }>(
      `SELECT detail FROM journal WHERE order_id = $1 AND event = 'payment-held'`,
      orderId,
    );
    expect(entry?.detail).toMatchObject({ outcome: 'unit_error', stopped: 'NGN' });
    const metrics = await fetch(`${shop.origin}/metrics`, {
      headers: { authorization: 'Bearer operator-token-of-the-test' },
    });
    expect(await metrics.text()).toContain('integrator_stopped_currencies{currency="NGN"} 1');
    const { code, printed } = await command(['list']);
    expect(code).toBe(0);
    expect(printed).toMatch(
      new RegExp(`^currency +stopped +by\n[- ]+\nNGN +20\\S+Z +payment ${reference}\n$`),
    );
  });
});

describe('a person releases it', () => {
  test('with a name and a note, once', async () => {
    const { orderId } = await unitError();
    const words = { by: 'Ngozi', note: 'dialect corrected' };
    expect(await command(['resume', 'XOF'], words)).toMatchObject({ code: 1 });
    expect(await command(['resume', 'NGN'], { by: 'Ngozi' })).toMatchObject({ code: 64 });
    expect(await command(['resume', 'NGN'], { ...words, note: ' ' })).toMatchObject({ code: 64 });
    expect(await openStops()).toHaveLength(1);
    expect(await command(['resume', 'ngn'], words)).toEqual({
      code: 0,
      printed: 'New checkouts begin again.\n',
    });
    expect(await command(['resume', 'NGN'], words)).toMatchObject({ code: 1 });
    expect(await command([])).toEqual({ code: 0, printed: 'No currency is stopped.\n' });
    expect((await buy()).status).toBe(201);
    expect(
      await query(
        `SELECT cause, detail FROM journal WHERE order_id = $1 AND event = 'currency-released'`,
        orderId,
      ),
    ).toEqual([{ cause: 'operator:Ngozi', detail: { currency: 'NGN', note: 'dialect corrected' } }]);
  });

  test('what was known then does not stop it again, two new ones do', async () => {
    const [one, two] = [await shop.checkout(), await shop.checkout()];
    const [late, later] = [await shop.checkout(), await shop.checkout()];
    for (const order of [one, two]) {
      await shop.hand(`transactions/${order.reference}/pay`, { amount: '85.00', notify: false });
      await look(order);
    }
    // The former word.
    await command(['release', 'NGN'], { by: 'Ngozi', note: 'looked at both' });
    for (const order of [one, two]) await lookAgain(order);
    expect(await openStops()).toEqual([]);
    for (const order of [late, later]) {
      expect(await openStops()).toEqual([]);
      await shop.hand(`transactions/${order.reference}/pay`, { amount: '85.00', notify: false });
      await look(order);
    }
    expect(await openStops()).toMatchObject([{ currency: 'NGN', reference: later.reference }]);
  });
});
