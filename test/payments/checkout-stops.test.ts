import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Alert } from '../../src/alerts/alert.ts';
import { CURRENCIES } from '../../src/commands/currencies.ts';
import { WorkListError } from '../../src/commands/work-list.ts';
import { DEFAULTS } from '../../src/extensions.ts';
import { newId } from '../../src/platform/ids.ts';
import { logIn, signed, TOKEN } from '../admin/visitor.ts';
import { aBasket, eventually, post, startProgram, type TestProgram } from '../support/program.ts';

const SHOP_API_TOKEN = 'shop-token-for-tests';
const alerts: (Alert & { over?: boolean })[] = [];
let shop: TestProgram;
beforeAll(async () => {
  const onAlert = (alert: Alert): void => void alerts.push(alert);
  const env = { ADMIN_TOKEN: TOKEN, SHOP_API_TOKEN };
  shop = await startProgram({ env, extensions: { ...DEFAULTS, onAlert } });
});
afterAll(() => shop.close());
afterEach(async () => {
  alerts.length = 0;
  await sql(`UPDATE checkout_stops SET resumed_at = now(), resumed_by = 'test' WHERE resumed_at IS NULL`);
});

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);
const bissap = { email: 'ada@example.com', items: [{ sku: 'bissap', quantity: 1 }] };
const buy = (body: object = aBasket, headers = {}): Promise<Response> =>
  post(`${shop.origin}/checkout`, body, headers);
const call = (what: 'stop' | 'resume', body: object, token = SHOP_API_TOKEN): Promise<Response> =>
  post(`${shop.origin}/checkouts/${what}`, body, { authorization: `Bearer ${token}` });
const counts = () => sql('SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM payments)');

describe('the shop’s own system stops new checkouts', () => {
  test('all: no order, no payment; what is open goes on', async () => {
    const open = await shop.checkout();
    const failed = await shop.checkout();
    await shop.hand(`transactions/${failed.reference}/fail`, { notify: false });
    await fetch(`${shop.origin}/checkout/return/${failed.reference}`, { redirect: 'manual' });
    expect(await (await call('stop', { reason: 'the till is counted' })).json()).toMatchObject([
      { currency: null, reason: 'the till is counted', by: 'shop' },
    ]);
    const before = await counts();
    for (const body of [aBasket, bissap, { orderId: failed.orderId }]) {
      const answer = await buy(body, { 'idempotency-key': newId() });
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '300']);
      expect(await answer.json()).toMatchObject({ type: '/problems/checkouts-stopped' });
    }
    expect(await counts()).toEqual(before);
    expect(await shop.checkout({ orderId: open.orderId })).toEqual(open);
    await shop.hand(`transactions/${open.reference}/pay`, { notify: false });
    await fetch(`${shop.origin}/checkout/return/${open.reference}`, { redirect: 'manual' });
    expect(await (await fetch(`${shop.origin}/orders/${open.orderId}`)).json()).toMatchObject({
      status: 'paid',
    });

    expect(await (await call('resume', {})).json()).toEqual([]);
    expect((await buy()).status).toBe(201);
  });

  test('one currency; the others go on', async () => {
    await call('stop', { currency: 'ngn', reason: 'the bank is down' });
    expect(await (await buy()).json()).toMatchObject({ type: '/problems/currency-stopped' });
    expect((await buy(bissap)).status).toBe(201);
    const shopPage = await (await fetch(`${shop.origin}/shop`)).text();
    expect(shopPage.split('Paying in Nigerian nairas is not possible right now.')).toHaveLength(3);
    expect(shopPage).toContain('name="currency" value="XOF"');
    expect(shopPage).not.toContain('name="currency" value="NGN"');
    // The stop of all is another one.
    await call('resume', {});
    expect((await buy()).status).toBe(503);
    await call('resume', { currency: 'NGN' });
    expect((await buy()).status).toBe(201);
  });

  test.each([
    ['no reason', {}],
    ['no currency', { currency: 'NGM', reason: 'x' }],
    ['more than that', { reason: 'x', mode: 'live' }],
    ['half a surrogate pair', { reason: 'x\ud800' }],
  ])('%s: 422, and nothing is stopped', async (_name, body) => {
    expect((await call('stop', body)).status).toBe(422);
    expect((await call('stop', { reason: 'x' }, 'a-token-of-nobody')).status).toBe(401);
    expect((await buy()).status).toBe(201);
  });

  test('twice: the first reason stands', async () => {
    await call('stop', { reason: 'first' });
    expect(await (await call('stop', { reason: 'second' })).json()).toMatchObject([{ reason: 'first' }]);
  });
});

describe('a person stops and resumes', () => {
  test('on the first page; everybody sees by whom and why', async () => {
    const ngozi = await logIn(shop);
    const page = await ngozi.sendAndRead('/admin/checkouts', [
      ['id', '*'],
      ['operation', 'stop'],
      ...signed('flood'),
    ]);
    expect(page).toMatch(/No new checkout begins in any currency since .*Ngozi stopped it: “flood”/s);
    expect(await (await fetch(`${shop.origin}/shop`)).text()).toContain('We take no new orders right now');
    const form = new URLSearchParams({ email: 'a@example.com', sku: 'bissap', quantity: '1' });
    const headers = { accept: 'text/html' };
    const answer = await fetch(`${shop.origin}/checkout`, { method: 'POST', body: form, headers });
    expect([answer.status, await answer.text()]).toEqual([
      503,
      expect.stringContaining('Your basket is kept'),
    ]);
    const metrics = await fetch(`${shop.origin}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(await metrics.text()).toMatch(/^integrator_checkouts_stopped 1$/m);
    await ngozi.send('/admin/checkouts', [['id', '*'], ['operation', 'resume'], ...signed('over')]);
    expect((await buy()).status).toBe(201);
    const rows = await sql(
      'SELECT stopped_by, resumed_by, note FROM checkout_stops ORDER BY id DESC LIMIT 1',
    );
    expect(rows).toEqual([{ stopped_by: 'Ngozi', resumed_by: 'Ngozi', note: 'over' }]);
  });

  test('is told once, and told again when it is over', async () => {
    const request = { currency: 'NGN', by: 'Ngozi', note: 'flood' };
    const { checkoutStops } = shop.program;
    // Stops of other tests end in their own time.
    const told = () => alerts.filter((alert) => 'currency' in alert && alert.currency === 'NGN');
    expect(await checkoutStops.stop(request)).toBe(true);
    await eventually(() => Promise.resolve(told().length === 1));
    expect(told()).toMatchObject([
      { event: 'checkouts-stopped', currency: 'NGN', reason: 'flood', over: false },
    ]);
    // What began seconds ago is not ended yet.
    await sql(`UPDATE alert_states SET seen_at = seen_at - interval '1 minute' WHERE key = 'NGN'`);
    expect(await checkoutStops.resume(request)).toBe(true);
    await eventually(() => Promise.resolve(told().length === 2));
    expect(told()[1]).toMatchObject({ event: 'checkouts-stopped', over: true });
  });

  test('on a terminal; "all" is not taken for the Albanian lek', async () => {
    const { stop, resume } = CURRENCIES.subcommands;
    const request = { by: 'Ngozi', note: 'flood' };
    await expect(stop?.perform(shop.program, { id: 'all', ...request })).rejects.toThrow(WorkListError);
    expect(await stop?.perform(shop.program, { id: 'everything', ...request })).toMatchObject({
      isDone: true,
    });
    const [entry] = await CURRENCIES.list(shop.program, {});
    expect(entry).toMatchObject({ cells: ['everything', expect.any(String), 'Ngozi'], below: ['flood'] });
    expect(await resume?.perform(shop.program, { id: 'everything', ...request })).toMatchObject({
      isDone: true,
    });
  });
});
