import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { explain } from '../../src/reporting/explain.ts';
import { openSuspense } from '../../src/cases/suspense.sql.ts';
import { startProgram, type TestProgram } from '../support/program.ts';
import { logIn, TOKEN, type Visitor } from './visitor.ts';

let shop: TestProgram;
let person: Visitor;
beforeAll(async () => {
  shop = await startProgram({ env: { ADMIN_TOKEN: TOKEN } });
  person = await logIn(shop);
});
afterAll(() => shop.close());

/** An order of 8,500.00 NGN that is paid. */
async function paidOrder(): Promise<string> {
  const { orderId, reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
  return orderId;
}

const fields = (orderId: string, amount: string, number = 'N-1'): [string, string][] => [
  ['id', orderId],
  ['amount', amount],
  ['refund', number],
  ['by', 'Ngozi'],
  ['note', 'came back scratched'],
];
const SURE: [string, string] = ['sure', 'yes'];
const shopperReads = async (orderId: string): Promise<string> =>
  (await (await fetch(`${shop.origin}/shop/orders/${orderId}`)).text()).replace(/<[^>]+>/g, ' ');
const refundsOf = (orderId: string): Promise<object[]> =>
  shop.program.database.query(
    `SELECT r.amount, r.external_id, r.refunded_by, j.cause FROM refunds r
     JOIN journal j ON j.order_id = r.order_id AND j.event = 'refund-recorded' WHERE r.order_id = $1`,
    [orderId],
  );

describe('the form on the page of a paid order', () => {
  test('shows first what the shopper will read, and then writes the refund down under a name', async () => {
    const orderId = await paidOrder();
    expect(await person.text(`/admin/orders/${orderId}`)).toContain('Write down a refund');
    const question = await (await person.send('/admin/refunds', fields(orderId, '500'))).text();
    const reads =
      /Refunded NGN 500\.00 on \d+ \w+ \d{4} at [\d:]+ UTC\. It can take some days until your bank/;
    expect(question).toContain('A part of your payment was refunded');
    expect(question).not.toContain('sent');
    expect(question).toMatch(reads);
    expect(await refundsOf(orderId)).toEqual([]);
    const page = await person.sendAndRead('/admin/refunds', [...fields(orderId, '500'), SURE]);
    expect(page).toContain('The refund is written down.');
    expect(page).toMatch(/NGN 500\.00.* of .*NGN 8,500\.00/s);
    expect(await refundsOf(orderId)).toEqual([
      { amount: 50_000n, external_id: 'N-1', refunded_by: 'Ngozi', cause: 'operator:Ngozi' },
    ]);
    expect(await shopperReads(orderId)).toMatch(reads);
    expect(await shopperReads(orderId)).toContain('Paid, refunded in part');
    expect((await explain(shop.program.database, orderId))?.isIntact).toBe(true);
  });

  test('of all that was paid', async () => {
    const orderId = await paidOrder();
    const question = await (await person.send('/admin/refunds', fields(orderId, '8500.00'))).text();
    expect(question).toContain('They had not been sent, and will not be.');
    await person.send('/admin/refunds', [...fields(orderId, '8500.00'), SURE]);
    const text = await shopperReads(orderId);
    for (const words of ['Your payment was refunded', 'Paid, refunded', 'Refunded NGN 8,500.00'])
      expect(text).toContain(words);
    expect(text).not.toContain('Thank you');
    const page = await person.text(`/admin/orders/${orderId}`);
    expect(page).toContain('class="status refunded"');
    expect(page).toContain('All of it was refunded.');
  });

  test.each([
    ['more than is left', '8500.01', 'N-1', 'that is more than is left of what was paid'],
    ['what is no amount', '5,00', 'N-1', 'give an amount like 12.50'],
    ['no number', '5.00', ' ', 'give an amount like 12.50'],
  ])('refuses %s', async (_what, amount, number, says) => {
    const orderId = await paidOrder();
    const page = await person.sendAndRead('/admin/refunds', [...fields(orderId, amount, number), SURE]);
    expect(page).toContain(says);
    expect(await refundsOf(orderId)).toEqual([]);
  });

  test('is not there for an order that is not paid, which is refused as well', async () => {
    const { orderId } = await shop.checkout();
    expect(await person.text(`/admin/orders/${orderId}`)).not.toContain('Write down a refund');
    const page = await person.sendAndRead('/admin/refunds', fields(orderId, '5.00'));
    expect(page).toContain('the order is not paid');
  });

  test('the dashboard and the charts show takings less what went back', async () => {
    const text = async (path: string): Promise<string> =>
      (await person.text(path)).replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
    // Five orders of 8,500.00 were paid, and 9,000.00 went back.
    expect(await text('/admin')).toContain('33,500.00 5 8,500.00 (1) 0.00 9,000.00');
    expect(await text('/admin/charts')).toContain(
      'NGN 9,000.00 went back in 30 days, which leaves takings of NGN 33,500.00.',
    );
  });

  test('has what the service took back filled in, and its case leads here until it is written down', async () => {
    const orderId = await paidOrder();
    const page = () => person.text(`/admin/orders/${orderId}`);
    await person.send('/admin/refunds', [...fields(orderId, '500'), SURE]);
    const { orderDetail } = (await explain(shop.program.database, orderId)) ?? {};
    await shop.hand(`transactions/${orderDetail?.payments[0]?.reference ?? ''}/reverse`);
    await shop.program.reconcile({ dryRun: false });
    const address = /\/admin\/cases\/finding-\d+/.exec(await person.text('/admin/cases'))?.[0] ?? '';
    expect(await person.text(address)).toContain(`href="/admin/orders/${orderId}#refunds"`);
    expect(await page()).toMatch(/<details id="refunds" open>.*value="8000.00"/s);
    await person.send('/admin/refunds', [...fields(orderId, '8000', 'N-2'), SURE]);
    expect(await page()).not.toContain('value="8000.00"');
    await shop.program.reconcile({ dryRun: false });
    expect(await person.text(address)).toContain('Closed.');
  });

  test('is of what came, where a person accepted less', async () => {
    const { orderId, reference } = await shop.checkout();
    await shop.hand(`transactions/${reference}/pay`, { notify: false, amount: '3' });
    await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
    const { database, accept } = shop.program;
    const [item] = await openSuspense(database, 'test');
    expect(await accept({ id: item?.id ?? 0n, by: 'Ngozi', note: 'enough', seen: null })).toBe('accepted');
    const text = (await person.text(`/admin/orders/${orderId}`))
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ');
    expect(text).toContain('NGN 0.00 of NGN 3.00 was written down as given back.');
  });
});
