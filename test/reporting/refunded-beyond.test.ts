import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { happens } from '../reconciliation/makers.ts';
import { asShop, letPass, startDesk, type Desk } from '../reconciliation/support.ts';
import { settle } from '../support/outside.ts';
import type { Checkout } from '../support/shop.ts';

// A service reports a refund larger than its payment. Only money that came can leave.

let desk: Desk;
beforeAll(async () => {
  desk = await startDesk();
});
afterAll(() => desk.stop());

/** All figures with decimals in the reports, in major units. */
async function figures(orderId: string): Promise<number[]> {
  const month = new Date().toISOString().slice(0, 7);
  const reports = [
    ['explain', orderId],
    ['export', 'orders'],
    ['export', 'cases'],
    ['books', month],
    ['books', month, '--totals'],
    ['cases', 'list'],
  ];
  const said: string[] = [];
  for (const words of reports) {
    const { exit, out, err } = await desk.run(...words);
    expect({ words, exit, err }).toEqual({ words, exit: 0, err: '' });
    said.push(out);
  }
  return [...said.join('\n').matchAll(/(?<![\d.:])\d[\d,]*\.\d{2}(?!\d)/g)].map(([figure]) =>
    Number(figure.replaceAll(',', '')),
  );
}

test('if the service reports a refund of 1000 for a payment of 25, no report shows more than 25', async () => {
  const lines = [{ description: 'A bead', unitAmount: '25', quantity: 1 }];
  const placed = await asShop(desk, '/orders', { email: 'ada@example.com', currency: 'NGN', lines });
  const { orderId } = placed.body as Checkout;
  const { reference } = (await desk.request<Checkout>('POST', '/checkout', { json: { orderId } })).body;
  await happens(desk, reference, 'record', { amount_refunded: 1_000 });
  await settle(desk, reference);
  const answers = 'SELECT outcome::text FROM verifications WHERE reference = $1';
  expect(await desk.database.query(answers, [reference])).toHaveLength(1);
  const told = await figures(orderId);
  expect(told).toContain(25);
  expect(Math.max(...told)).toBe(25);
  // The history says the same.
  for (let run = 0; run < 2; run += 1) {
    await letPass(desk, reference, '1 minute');
    expect(await desk.reconcile()).toMatchObject({ report: { complete: true } });
  }
  expect(Math.max(...(await figures(orderId)))).toBe(25);
});
