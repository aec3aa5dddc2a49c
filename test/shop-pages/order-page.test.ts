import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { renderToString } from 'preact-render-to-string';
import { openDatabase } from '../../src/platform/db.ts';
import { Secret } from '../../src/platform/secret.ts';
import { OrderPage } from '../../src/shop-pages/pages.tsx';
import { findShown } from '../../src/shop-pages/told.ts';
import { buy, happens, stands } from '../money/support.ts';
import { asShop, decide, startDesk, type Desk } from '../reconciliation/support.ts';
import { openBrowser } from '../support/browser.ts';
import { expectGoodLooks, expectToFit, FOREIGN, textOf, unsaid } from './support.ts';

// The page of an order of NGN 8,500.00, in each state of its money.

const DAY = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'long' }).format(new Date());
let desk: Desk;
let browser: Browser;
/** An order in each state. The first tests make them. */
const made = new Map<string, string>();
beforeAll(async () => {
  [desk, browser] = await Promise.all([startDesk(), openBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await desk.stop();
});

const pageOf = (state: string): string => `${desk.url}/orders/${made.get(state) ?? state}/page`;
const payAgain = (orderId: string) => desk.checkout({ orderId, email: undefined, items: undefined });

async function placed(): Promise<string> {
  const lines = [{ description: 'A tote', unitAmount: '4250.00', quantity: 2 }];
  const { body } = await asShop(desk, '/orders', { email: 'ada@example.com', currency: 'NGN', lines });
  return (body as { orderId: string }).orderId;
}

/**
 * An order that is paid, reversed if `reversal` is given, and then decided if `decision` is given.
 */
async function paid(payment = {}, reversal: object | null = null, ...decision: string[]): Promise<string> {
  const { orderId, reference } = await buy(desk, payment);
  if (reversal !== null) await happens(desk, reference, 'reverse', reversal);
  if (decision.length > 0) await decide(desk, reference, ...decision);
  return orderId;
}

async function refunded(amount: string): Promise<string> {
  const orderId = await paid();
  await asShop(desk, `/orders/${orderId}/refunds`, { amount, reason: 'a test', externalId: 'RF-3' });
  return orderId;
}

/**
 * An order whose first payment fails. A second payment pays it, and then the first payment is paid
 * too.
 */
async function twice(act = '', ...decision: string[]): Promise<string> {
  const { orderId, reference } = await desk.checkout();
  await happens(desk, reference, 'fail');
  if (act === 'fail') return orderId;
  await happens(desk, (await payAgain(orderId)).reference, 'pay');
  await happens(desk, reference, 'pay');
  await stands(desk, orderId, 'paid', 'duplicate_payment 850000 0 NGN');
  if (act !== '') await happens(desk, reference, act);
  if (decision.length > 0) await decide(desk, reference, ...decision);
  return orderId;
}

/** An order with an open payment that the shop cancels or whose deadline passes. */
async function ended(status: 'cancelled' | 'expired', isPaidLater = false): Promise<string> {
  const orderId = await placed();
  const { reference } = await payAgain(orderId);
  if (status === 'cancelled') await asShop(desk, `/orders/${orderId}/cancel`, { reason: 'a test' });
  else await desk.database.query('UPDATE orders SET pay_by = clock_timestamp() WHERE id = $1', [orderId]);
  await stands(desk, orderId, status);
  if (isPaidLater) await happens(desk, reference, 'pay');
  return orderId;
}

const some = (amount: number, ...decision: string[]) => paid({ amount }, null, ...decision);
const takenBack = (reversal = {}, ...decision: string[]) => paid({}, reversal, ...decision);
const refund = ['refund', '--number', 'RF-1'];
const THANKS = 'Thank you, your order is paid';
const LOOK = 'We look at it and write to you. Do not pay again.';
const DAYS = 'It can take some days until your bank shows it.';

/** `end` is the last row of the receipt. null: the price. */
test.each<[state: string, make: () => Promise<string>, heading: string, said: string, end: string | null]>([
  ['without a payment', placed, 'This order waits for your payment', 'It costs NGN 8,500.00.', null],
  ['waiting', async () => (await desk.checkout()).orderId, 'Your payment is not confirmed yet', 'If you paid,', null],
  ['paid', paid, THANKS, 'We received NGN 8,500.00. Keep your order number.', null],
  ['not paid', () => twice('fail'), 'The payment did not go through', 'nothing was charged. If your bank shows', null],
  [
    'expired',
    () => ended('expired'),
    'The time to pay for this order is over',
    'nothing was charged. Do not pay for it',
    null,
  ],
  [
    'underpaid',
    () => some(80),
    'We received a part of your payment',
    `NGN 80.00 of NGN 8,500.00. ${LOOK}`,
    'Paid 80.00',
  ],
  ['underpaid, accepted', () => some(80, 'accept'), THANKS, 'We received NGN 80.00.', 'Paid 80.00'],
  [
    'underpaid, kept',
    () => some(80, 'keep'),
    'This order is closed',
    'We kept NGN 80.00. Write to us if',
    'Paid 80.00',
  ],
  [
    'underpaid, refunded',
    () => some(80, ...refund),
    'We refunded your payment',
    `NGN 80.00 on ${DAY}, number RF-1.`,
    '0.00',
  ],
  ['overpaid', () => some(9000), 'You paid too much', 'We refund NGN 500.00. Do not pay again.', 'Paid 9,000.00'],
  [
    'overpaid, refunded',
    () => some(9000, ...refund),
    THANKS,
    `We refunded NGN 500.00, number RF-1. ${DAYS}`,
    '8,500.00',
  ],
  [
    'paid in euros',
    () => paid({ currency: 'EUR' }),
    'You paid in another currency',
    'EUR 8,500.00 for',
    'Paid 8,500.00',
  ],
  ['paid in another unit', () => some(85), 'We are looking at your payment', LOOK, 'Paid 85.00'],
  ['paid twice', twice, THANKS, `NGN 8,500.00 too much. ${LOOK}`, 'Paid 17,000.00'],
  [
    'paid twice, refunded',
    () => twice('', ...refund),
    THANKS,
    'We refunded the second NGN 8,500.00, number',
    '8,500.00',
  ],
  ['paid twice, reversed', () => twice('reverse'), THANKS, `NGN 8,500.00 went back to you. ${DAYS}`, '8,500.00'],
  ['paid twice, kept', () => twice('', 'keep'), THANKS, 'We kept NGN 8,500.00. Write to us if', 'Paid 17,000.00'],
  ['refunded', () => refunded('8500.00'), 'We refunded your payment', `on ${DAY}, number RF-3. ${DAYS}`, '0.00'],
  [
    'partly refunded',
    () => refunded('10'),
    'We refunded a part of your payment',
    `10.00 on ${DAY}, number RF-3.`,
    '8,490.00',
  ],
  ['reversed', takenBack, 'This payment was reversed', `NGN 8,500.00 went back. If you did not ask for that`, '0.00'],
  ['written off', () => takenBack({}, 'write-off'), 'This payment was reversed', 'NGN 8,500.00 went back.', '0.00'],
  [
    'partly reversed',
    () => takenBack({ amount: 5 }),
    'A part of this payment was reversed',
    'NGN 5.00 went back.',
    '8,495.00',
  ],
  ['reversed, refunded', () => takenBack({}, ...refund), 'We refunded your payment', `on ${DAY}, number RF-1.`, '0.00'],
  [
    'cancelled',
    () => ended('cancelled'),
    'This order was cancelled',
    'Nothing will be sent. If you have paid, write to us',
    null,
  ],
  [
    'paid late',
    () => ended('expired', true),
    'You paid after this order had ended',
    `We received NGN 8,500.00. ${LOOK}`,
    null,
  ],
])('order %s: the page says what happened, and the receipt adds up', async (state, make, heading, said, end) => {
  const orderId = await make();
  made.set(state, orderId);
  const { status, headers, body } = await desk.request<string>('GET', `/orders/${orderId}/page`);
  expect([status, headers.get('cache-control'), headers.get('x-robots-tag')]).toEqual([200, 'no-store', 'noindex']);
  const text = textOf(body);
  expect(text).toContain(` ${heading} `);
  expect(text).toContain(said);
  expect(text).not.toMatch(/@(?!three-markets)|undefined|null|[{}]/);
  const numberOf = (amount = '') => Number(amount.replace('−', '-').replaceAll(',', ''));
  const cells = body.matchAll(/<th scope="row">(.*?)<\/th><td>\w+ (−?[\d,.]+)/g);
  const rows = Array.from(cells, ([, name = '', amount]) => ({ name: textOf(name), amount: numberOf(amount) }));
  const [name, amount] = ['Net amount paid', ...(end ?? 'Total 8,500.00').split(' ')].slice(-2);
  expect(rows.at(-1)).toEqual({ name, amount: numberOf(amount) });
  const came = rows.findLast((one) => ['Total', 'Paid'].includes(one.name))?.amount ?? 0;
  expect(rows.reduce((sum, one) => sum + Math.min(0, one.amount), came)).toBe(numberOf(amount));
});

test('a shopper with a problem finds our address, with the order id as subject, and the reference for the bank', async () => {
  const { orderId, reference } = await buy(desk);
  const read = async () => (await desk.request<string>('GET', pageOf(orderId))).body;
  expect(await read()).not.toMatch(new RegExp(`${reference}|mailto:`));
  await happens(desk, reference, 'reverse');
  const link = `href="mailto:help@three-markets.example?subject=Order%20${orderId}"`;
  expect(await read()).toMatch(new RegExp(`${link.replace('?', '\\?')}.*<code>${reference}</code>`));
});

test.each([true, false])('a waiting page updates itself; with scripts: %s', async (javaScriptEnabled) => {
  const { orderId, reference } = await desk.checkout();
  const page = await browser.newPage({ javaScriptEnabled });
  await page.goto(pageOf(orderId));
  const loads: unknown[] = [];
  page.on('load', (loaded) => loads.push(loaded));
  await page.getByRole('button', { name: 'I have not paid' }).focus();
  await desk.sandboxPost(`/transactions/${reference}/pay`);
  for (const name of [THANKS, 'Receipt']) await page.getByRole('heading', { name }).waitFor();
  expect([await page.title(), await page.getByRole('button').count()]).toEqual(['Paid · Three Markets', 0]);
  expect(loads.length > 0).toBe(!javaScriptEnabled);
  // The focus moves from the button to the heading.
  if (javaScriptEnabled) expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');
});

test('while payments are stopped, an order offers no new payment, and an open page stays payable', async () => {
  const [unopened, opened] = [await placed(), (await desk.checkout()).orderId];
  const page = await browser.newPage();
  const buttonsOf = async (orderId: string): Promise<number> => {
    await page.goto(pageOf(orderId));
    return page.getByRole('button').count();
  };
  expect([await buttonsOf(unopened), await buttonsOf(opened)]).toEqual([1, 1]);
  await asShop(desk, '/checkouts/stop', { currency: 'NGN', reason: 'a secret reason' });
  expect([await buttonsOf(opened), await buttonsOf(unopened)]).toEqual([1, 0]);
  expect(await page.innerText('main')).toMatch(/Payments are stopped for a short time/);
  expect(await page.content()).not.toMatch(/secret/);
  await asShop(desk, '/checkouts/resume', { currency: 'NGN' });
  expect(await buttonsOf(unopened)).toBe(1);
});

test('the page fits every width and passes axe, in light and dark mode', async () => {
  const page = await browser.newPage();
  for (const state of made.keys()) await page.goto(pageOf(state)).then(() => expectToFit(page, 320));
  await expectGoodLooks(
    browser,
    ...['waiting', 'not paid', 'overpaid', 'paid twice, refunded', 'reversed'].map(pageOf),
  );
});

test('every text of the page comes from words.json', async () => {
  const database = openDatabase(new Secret(desk.database.url), { connections: 1 });
  const site = { words: FOREIGN, home: '/', isTest: true, view: { now: new Date(), timeZone: 'UTC' } };
  const each = [...made].flatMap(([state, id]) => [false, true].map((stopped) => ({ state, id, stopped })));
  for (const { state, id, stopped } of each) {
    const order = await findShown(database.prisma, 'test', id);
    const html = order === null ? state : renderToString(OrderPage({ ...site, order, stopped }));
    const data = /\d × [\w ]+?(?= [A-Z]{3} )|\b\w{24,26}\b|\d+ [A-Z]\w+, [\d:]+|[A-Z]{3} −?[\d,.]+/g;
    expect([state, unsaid(textOf(html)).replace(data, '').trim()]).toEqual([state, '']);
  }
  await database.close();
});
