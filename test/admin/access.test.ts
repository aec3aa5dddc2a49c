import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { readArguments } from '../../src/commands/arguments.ts';
import { explainCommand } from '../../src/commands/explain.ts';
import { explain } from '../../src/reporting/explain.ts';
import { startProgram, type TestProgram } from '../support/program.ts';

const TOKEN = 'a-long-admin-token';
let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram({ env: { ADMIN_TOKEN: TOKEN } });
});
afterAll(() => shop.close());

async function paidOrder(): Promise<{ orderId: string; reference: string }> {
  const order = await shop.checkout();
  await shop.hand(`transactions/${order.reference}/pay`, { notify: false });
  await fetch(`${shop.origin}/checkout/return/${order.reference}`, { redirect: 'manual' });
  return order;
}

describe('operations are for those who know the token', () => {
  test('a program shows it, or gets 401', async () => {
    expect((await request(shop.origin).get('/metrics')).status).toBe(401);
    const { status, text } = await request(shop.origin)
      .get('/metrics')
      .set('authorization', `Bearer ${TOKEN}`);
    expect(status).toBe(200);
    expect(text).toContain('integrator_gateway_key_refused 0');
  });

  test('a person logs in, and the cookie does not hold the token', async () => {
    expect((await request(shop.origin).get('/admin')).headers.location).toBe('/admin/login');
    expect(
      (await request(shop.origin).post('/admin/login').type('form').send({ token: 'wrong' })).status,
    ).toBe(401);
    const login = await request(shop.origin).post('/admin/login').type('form').send({ token: TOKEN });
    const cookie = login.headers['set-cookie']?.[0] ?? '';
    expect(cookie).toMatch(/^__Host-admin=.+; Path=\/; .*HttpOnly; Secure; SameSite=Strict/);
    expect(cookie).not.toContain(TOKEN);
    const page = await request(shop.origin)
      .get('/admin')
      .set('cookie', cookie.split(';')[0] ?? '');
    expect(page.status).toBe(200);
    expect(page.text).toContain('Takings today');
  });
});

describe('explain tells the whole story of an order', () => {
  test('by its id and by a reference alike', async () => {
    const { orderId, reference } = await paidOrder();
    const byId = await explain(shop.program.database, orderId);
    expect(await explain(shop.program.database, reference)).toEqual(byId);
    expect(byId?.isIntact).toBe(true);
    for (const word of ['order-placed', 'payment-open', 'order-paid', 'asked by return', 'SUCCESS']) {
      expect(byId?.evidence).toContain(word);
    }
    expect(await explain(shop.program.database, 'nobody')).toBeNull();
  });

  test('what the shopper entered beside the address is masked, also as JSON', async () => {
    const { orderId } = await shop.checkout();
    await shop.program.database.query(
      `UPDATE orders SET shopper_details = '{"phone": "+2348012345678"}' WHERE id = $1`,
      [orderId],
    );
    for (const format of ['--json', '--evidence'])
      expect((await explainCommand(shop.program, readArguments([orderId, format]))).text).not.toContain(
        '80123',
      );
    const { text } = await explainCommand(shop.program, readArguments([orderId, '--json']));
    expect(JSON.parse(text)).toMatchObject({ details: { phone: '•••' } });
  });

  test('by the first letters of an id, or by the e-mail address: several orders are listed', async () => {
    const ask = async (...argv: string[]) => explainCommand(shop.program, readArguments(argv));
    const { orderId, reference } = await paidOrder();
    for (const name of [orderId.slice(0, 8), reference.slice(0, 8)])
      expect(await ask(name)).toMatchObject({
        exitCode: 0,
        text: expect.stringContaining(`Order ${orderId}, `),
      });
    const evidence = await ask(orderId.slice(0, 8), '--evidence');
    expect(evidence.text).toContain('sha256');
    expect((await ask(orderId)).text).not.toContain('sha256');
    await paidOrder();
    const { text, exitCode } = await ask('ADA@example.com');
    expect([
      exitCode,
      text
        .split('\n')
        .slice(1, -1)
        .every((line) => /^\w{24} {2}20\d\d-/.test(line)),
    ]).toEqual([0, true]);
    expect(text).toContain(orderId);
    expect(text).not.toMatch(/ada@/i);
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(JSON.parse((await ask('ada@example.com', '--json')).text)).toContainEqual(
      expect.objectContaining({ id: orderId, amount: '8500.00', currency: 'NGN' }),
    );
    for (const name of ['leila@example.com', orderId.slice(0, 7), '%', '\u001b[2J@'])
      expect(await ask(name)).toEqual({
        exitCode: 1,
        text: expect.stringMatching(/^No order or payment "\P{C}*"\.$/u),
      });
  });

  test('and names an entry that somebody changed behind its back', async () => {
    const { orderId } = await paidOrder();
    const sql = (text: string) => shop.program.database.query(text, text.includes('$1') ? [orderId] : []);
    await sql('ALTER TABLE journal DISABLE TRIGGER USER');
    await sql(`UPDATE journal SET cause = 'operator:nobody' WHERE order_id = $1 AND seq = 2`);
    await sql('ALTER TABLE journal ENABLE TRIGGER USER');
    const story = await explain(shop.program.database, orderId);
    expect(story?.isIntact).toBe(false);
    expect(story?.text).toContain('journal entry 2 was changed');
  });
});

test('every page and error carries the headers that keep strangers out of it', async () => {
  for (const path of ['/shop', '/nothing', '/healthz']) {
    const { headers } = await request(shop.origin).get(path);
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['x-powered-by']).toBeUndefined();
  }
});

test.each(['/.env', '/.git/config', '/src/server.ts', '/shop/assets/..%2f..%2froutes.ts', '/%c0%ae'])(
  '%s is nothing',
  async (path) => {
    expect([400, 404]).toContain((await request(shop.origin).get(path)).status);
  },
);
