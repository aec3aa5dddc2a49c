import { afterEach, describe, expect, test } from '@jest/globals';
import { IS_WHOLE } from '../support/extent.ts';
import { attack, inventory, problemOf, type Answer } from '../support/hostile.ts';
import { aBasket, startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';

// Hostile clients who do what everybody may do, too often, or from the page of somebody else.

let shop: TestProgram;
afterEach(() => shop.close());

const callsOf = async (): Promise<number> => Number((await inventory(shop)).calls);

describe('H13 a return page that is hammered', () => {
  test('has the service asked a few times, however many knock', async () => {
    shop = await startProgram({ slowTime: true });
    const { reference } = await shop.checkout();
    const before = await callsOf();
    for (let round = 0; round < (IS_WHOLE ? 10 : 1); round += 1)
      await Promise.all(
        Array.from({ length: 50 }, () =>
          attack(shop.origin, { method: 'GET', path: `/checkout/return/${reference}` }),
        ),
      );
    // The first answer is news; after three that say it again there is a pause.
    expect((await callsOf()) - before).toBeLessThanOrEqual(4);
  });
});

describe('H27 one e-mail address', () => {
  test('cannot be mailed by many checkouts, whoever asks and however it is written', async () => {
    shop = await startProgram({ env: { CHECKOUTS_PER_MINUTE: '20' } });
    const ask = (email: string, at: number): Promise<Answer> =>
      attack(shop.origin, { headers: { 'x-forwarded-for': `203.0.113.${at}` }, body: { ...aBasket, email } });
    const given: Answer[] = [];
    for (const [at, email] of ['v@example.com', 'V@example.com', 'v@EXAMPLE.com', 'v@example.com'].entries())
      given.push(await ask(email, at));
    expect(given.map(({ status }) => status)).toEqual([201, 201, 429, 429]);
    expect(problemOf(given[3] ?? { status: 0, headers: {}, text: '' })).toBe('too-many-requests');
    expect(Number(given[3]?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await ask('other@example.com', 9)).status).toBe(201);
  });
});

describe('H28 many attempts', () => {
  test('at one order are one payment and one address', async () => {
    shop = await startProgram();
    const { orderId, reference } = await shop.checkout();
    const before = await inventory(shop);
    for (let round = 0; round < (IS_WHOLE ? 20 : 1); round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => attack(shop.origin, { body: { orderId } })),
      );
      for (const { status, text } of answers) {
        expect([201, 503]).toContain(status);
        if (status === 201) expect((JSON.parse(text) as CheckoutAnswer).reference).toBe(reference);
      }
    }
    expect(await inventory(shop)).toEqual(before);
  });

  test('of which none leads anywhere end at five: 429', async () => {
    shop = await startProgram();
    await shop.hand('outage', { status: 503 });
    const first = await attack(shop.origin, { body: aBasket });
    const { orderId } = JSON.parse(first.text) as { orderId: string };
    const ends: (string | null)[] = [];
    for (let tries = 0; tries < 8; tries += 1)
      ends.push(problemOf(await attack(shop.origin, { body: { orderId } })));
    expect(ends.at(-1)).toBe('too-many-open-payments');
    expect(new Set(ends)).toEqual(new Set(['payment-service-unavailable', 'too-many-open-payments']));
    const payments = await shop.program.database.query('SELECT FROM payments WHERE order_id = $1', [orderId]);
    expect(payments.length).toBeLessThanOrEqual(5);
  });
});
