import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import type { ServiceAdapter } from '../../src/gateway/adapter.ts';
import { evidenceOf } from '../../src/gateway/evidence.ts';
import { eventually } from '../support/eventually.ts';
import { startShop, type Shop } from '../support/shop.ts';
import { readList, startService, type Payment, type Style } from './service.ts';
import { STYLES } from './styles.ts';

describe.each(Object.entries<Style>(STYLES))('%s:', (title, style) => {
  const [, file = ''] = /\((\w+)\)$/.exec(title) ?? [];
  const adapterUrl = new URL(`adapters/${file}.ts`, import.meta.url);
  let service: Awaited<ReturnType<typeof startService>>;
  let shop: Shop;

  beforeAll(async () => {
    service = await startService(style);
    const { default: adapter } = (await import(adapterUrl.href)) as { default: ServiceAdapter };
    const env = { GATEWAY_ADAPTER: fileURLToPath(adapterUrl) };
    // Unused secrets end the start.
    const isSigned = adapter.webhook.signature !== null;
    shop = await startShop({ gatewayUrl: service.url, env: isSigned ? env : { ...env, WEBHOOK_SECRETS: '' } });
  });
  afterAll(async () => {
    await shop.stop();
    service.close();
  });

  /** Opens a payment that was never verified, and that the schedule leaves alone. */
  const open = () =>
    eventually(async () => {
      const checkout = await shop.checkout();
      const sql = `UPDATE payments SET next_check_at = now() + interval '1 day'
        WHERE reference = $1 AND leased_until IS NULL AND answered_at IS NULL RETURNING reference`;
      return (await shop.database.query(sql, [checkout.reference])).length > 0 && checkout;
    });
  const comeBack = (reference: string, query = '') => shop.request('GET', service.payment(reference).wayBack + query);
  const send = (references: string[], signed = {}) =>
    shop.request('POST', '/webhooks/payments', service.webhook(references, signed));
  const statusOf = async (orderId: string) =>
    (await shop.request<{ status: string }>('GET', `/orders/${orderId}`)).body.status;
  /** The cause and the outcome of each verification. */
  const answers = (reference: string) =>
    shop.database.query('SELECT cause, outcome FROM verifications WHERE reference = $1 ORDER BY id', [reference]);

  test('a payment becomes paid by the redirect alone', async () => {
    const { orderId, reference } = await open();
    expect(service.payment(reference)).toMatchObject({ amount: style.tote ?? 8_500, currency: 'NGN' });
    service.show(reference, { isPaid: true });
    expect((await comeBack(reference)).status).toBe(303);
    expect(await statusOf(orderId)).toBe('paid');
    expect(await answers(reference)).toEqual([{ cause: 'return', outcome: 'paid' }]);
  });

  test('a payment becomes paid by the webhook alone', async () => {
    const all = file === 'several' ? [await open(), await open()] : [await open()];
    for (const { reference } of all) service.show(reference, { isPaid: true });
    expect(await send(all.map((one) => one.reference))).toMatchObject(style.acknowledged ?? { status: 202 });
    for (const { orderId, reference } of all) {
      await eventually(async () => (await statusOf(orderId)) === 'paid');
      expect(await answers(reference)).toEqual([{ cause: 'notification', outcome: 'paid' }]);
    }
  });

  test('a payment becomes paid by the schedule alone, five or fifteen seconds after it was opened', async () => {
    const { orderId, reference } = await shop.checkout();
    service.show(reference, { isPaid: true });
    const sql = "UPDATE payments SET next_check_at = next_check_at - interval '5 s' WHERE reference = $1";
    await shop.database.query(sql, [reference]);
    await eventually(async () => (await statusOf(orderId)) === 'paid', 40_000);
    expect((await answers(reference)).at(-1)).toEqual({ cause: 'schedule', outcome: 'paid' });
  });

  test('a false webhook pays nothing, and only causes a verification', async () => {
    const { orderId, reference } = await open();
    await send([reference]);
    await eventually(async () => (await answers(reference)).length > 0);
    expect(await answers(reference)).toEqual([{ cause: 'notification', outcome: 'pending' }]);
    expect(await statusOf(orderId)).toBe('pending');
  });

  test('a redirect that reports success pays nothing, also for a payment that the service does not know', async () => {
    const { orderId, reference } = await open();
    await comeBack(reference, '?status=success&reference=1');
    service.show(reference, { isLost: true });
    await comeBack(reference, '?status=success');
    expect(await answers(reference)).toMatchObject([{ cause: 'return', outcome: 'pending' }, { outcome: 'not_found' }]);
    expect(await statusOf(orderId)).toBe('pending');
  });

  const wrong = [{ secret: 'another_secret_of_somebody' }, ...(style.isTimed ? [{ ageSec: 3_600 }] : [])];
  for (const by of style.sign ? wrong : [])
    test(`a webhook signed wrongly, by ${Object.keys(by).join()}, is refused and causes no verification`, async () => {
      const { reference } = await open();
      service.show(reference, { isPaid: true });
      expect((await send([reference], by)).status).toBe(401);
      const sql = 'SELECT status, notified_at, answered_at FROM payments WHERE reference = $1';
      const [payment] = await shop.database.query(sql, [reference]);
      expect(payment).toEqual({ status: 'open', notified_at: null, answered_at: null });
    });

  test.each<[what: string, said: Partial<Payment>, why: string]>([
    ['another reference', { reference: 'of0somebody0else0000000000' }, 'unproven'],
    ['a lower amount', { amount: 8_499 }, 'underpaid'],
    ['another currency', { currency: 'XOF' }, 'currency_mismatch'],
  ])('%s in the answer of verify pays nothing, and a person must decide', async (_what, said, why) => {
    const { orderId, reference } = await open();
    service.show(reference, { isPaid: true, ...said });
    await comeBack(reference);
    expect(await statusOf(orderId)).toBe('review');
    const cases = await shop.database.query('SELECT class FROM cases WHERE reference = $1', [reference]);
    expect(cases).toEqual([{ class: why }]);
  });

  test('its history is read to the end, and its rows agree with verify', async () => {
    const { default: adapter } = (await import(adapterUrl.href)) as { default: ServiceAdapter };
    const { reference } = await open();
    service.show(reference, { isPaid: true });
    const { rows, end } = await readList(service.url, adapter);
    expect([end, rows.length]).toEqual([{ complete: true }, service.payments()]);
    const about = { reference, mode: 'test' as const };
    const readings = rows.map((row) => adapter.read(row)).filter((reading) => reading !== null);
    const read = readings.map((reading) => evidenceOf(reading, about, adapter, { httpStatus: 200, body: '' }));
    expect(read.filter(({ outcome }) => outcome === 'paid')).toMatchObject([{ balance: 850_000n, currency: 'NGN' }]);
  });
});
