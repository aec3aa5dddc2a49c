import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { buy, happens } from '../money/support.ts';
import { eventually } from '../support/eventually.ts';
import { startShop, type Checkout, type Shop } from '../support/shop.ts';

// After each movement of money and each decision, Today, Orders, Money and the CSV show the same
// sums.

const MONTH = new Date(Date.now() + 3_600_000).toISOString().slice(0, 7);
let shop: Shop;
const bought: Record<string, Checkout> = {};
beforeAll(async () => {
  shop = await startShop({ env: { SHOP_TIME_ZONE: 'Africa/Lagos' } });
});
afterAll(() => shop.stop());

const open = async (path: string): Promise<string> => (await shop.request<string>('GET', `/admin${path}`)).body;
const atService = (name: string, act: string, more = {}) => happens(shop, bought[name]?.reference ?? '', act, more);

/** Sends the page's form for this action, and confirms it. */
async function send(path: string, what: string, typed: Record<string, string> = {}): Promise<void> {
  const form = (await open(path)).split('<form').find((one) => one.includes(`name="do" value="${what}"`)) ?? '';
  const hidden = [...form.matchAll(/"hidden" name="(\w+)" value="([^"]*)"/g)].map(([, ...pair]) => pair);
  const fields = { ...(Object.fromEntries(hidden) as object), ...typed, sure: 'yes' };
  expect((await shop.request('POST', `/admin${path}`, { form: fields })).status).toBe(303);
}
const decide = (name: string, typed: Record<string, string>, what = 'cases decide') =>
  send(`/orders/${bought[name]?.orderId ?? ''}`, what, typed);

async function buyTwice(): Promise<void> {
  const { orderId } = (bought.twice = await shop.checkout());
  await atService('twice', 'fail');
  const again = await shop.request<Checkout>('POST', '/checkout', { json: { orderId } });
  await happens(shop, again.body.reference, 'pay');
  await atService('twice', 'pay');
}

async function buyDjembe(): Promise<void> {
  bought.drum = await shop.checkout({ items: [{ sku: 'djembe', quantity: 1 }] });
  await atService('drum', 'pay');
}

/** In minor units. An empty text is 0. */
const minor = (text = ''): number => Number(text.replace(/[^\d−-]/g, '').replace('−', '-'));
/**
 * The rows of a page's tables, as the texts of their cells. The head row has no cell above the
 * names.
 */
const rowsOf = (html: string) => html.split('<tr>').map((row) => row.split(/(?:<[^>]+>)+/).filter(Boolean));
const TYPES = ['Paid', 'Kept', 'Recovered', 'Refunded', 'Reversed', 'Written off', 'Earned', 'Returned, never earned'];

/**
 * The earned amount of this month and the held money, as each page shows them. The rows of the CSV
 * must add up to the table on the page.
 */
async function told(currency: string): Promise<{ earned: number[]; held: number[] }> {
  const paths = ['', '/cases', '/orders?day=this-month', `/money?month=${MONTH}`, `/money.csv?month=${MONTH}`];
  const [today = '', todo = '', orders = '', money = '', csv = ''] = await Promise.all(paths.map(open));
  const at = rowsOf(money).flatMap((row) => row.indexOf(currency) + 1 || [])[0] ?? 0;
  const cell = (name: string): number => minor(rowsOf(money).find(([one]) => one === name)?.[at]);
  const lines = csv.split('\n').map((line) => {
    const [earned, held] = line.split(`,${currency},`)[1]?.split(',') ?? [];
    return { type: line.split(',')[2], earned: minor(earned), held: minor(held) };
  });
  const add = (amounts: number[]) => amounts.reduce((sum, one) => sum + one, 0);
  const sums = TYPES.map((type) => {
    if (type === 'Earned') return add(lines.map((one) => one.earned));
    const some = lines.filter((one) => one.type === type.toLowerCase().split(',')[0]);
    return add(some.map(({ earned, held }) => (type.startsWith('Returned') ? held : earned)));
  });
  const heldInCsv = add(lines.map((one) => one.held));
  expect(sums).toEqual(TYPES.map(cell));
  const said = (text: string, what: string) =>
    minor(new RegExp(`${what} [^<]*?${currency}\\s(−?[\\d,.]*\\d)`).exec(text)?.[1]);
  const thisMonth = rowsOf(today).find(([one]) => one === `Earned ${currency}`)?.[3];
  const held = [
    minor(
      /Held for a decision<\/dt><dd>([^<]*)/.exec(today)?.[1]?.match(new RegExp(`${currency}\\s([\\d,.]*\\d)`))?.[1],
    ),
    said(todo, 'We hold'),
    cell('Held at the end of the month'),
  ];
  // All money of this shop moved in this month.
  expect(heldInCsv).toBe(cell('Held at the end of the month'));
  return { earned: [minor(thisMonth), said(orders, 'Earned'), cell('Earned')], held };
}
const all = (earned: number, held: number) => ({ earned: [earned, earned, earned], held: [held, held, held] });
test.each<[what: string, act: () => Promise<unknown>, ngn: number, xof: number, held: number]>([
  ['a payment', async () => (bought.back = await buy(shop)), 8500, 0, 0],
  ['a refund', () => decide('back', { amount: '10.00', number: 'RF-1' }, 'orders refund'), 8490, 0, 0],
  ['a payment of too little', async () => (bought.under = await buy(shop, { amount: 8000 })), 8490, 0, 8000],
  ['accepting too little', () => decide('under', { as: 'accept', note: 'fine' }), 16_490, 0, 0],
  ['a payment of too much', async () => (bought.over = await buy(shop, { amount: 9000 })), 16_490, 0, 9000],
  ['a refund of the surplus', () => decide('over', { number: 'RF-2' }), 24_990, 0, 0],
  ['a second payment', buyTwice, 33_490, 0, 8500],
  ['a refund of the second payment', () => decide('twice', { number: 'RF-3' }), 33_490, 0, 0],
  ['a payment in another currency', buyDjembe, 33_490, 65_000, 0],
  ['a reversal of a part', () => atService('drum', 'reverse', { amount: 5000 }), 33_490, 60_000, 0],
])('after %s, all pages show the same sums', async (_what, act, ngn, xof, held) => {
  await act();
  expect([await told('NGN'), await told('XOF')]).toEqual([all(ngn * 100, held * 100), all(xof, 0)]);
});

test('after the refunds at the service, a comparison changes no sum and opens no case', async () => {
  for (const [name, amount] of Object.entries({ back: 10, over: 500, twice: 8500 }))
    await atService(name, 'reverse', { amount });
  await send('/checks', 'compare');
  await eventually(async () => (await shop.database.query('SELECT FROM runs WHERE verdict IS NOT NULL')).length > 0);
  expect(await open('/cases')).toContain('<h1>1 thing to do</h1>');
  expect(await told('NGN')).toEqual(all(3_349_000, 0));
});

test('a part payment that waits for the rest is kept by the form on its order’s page', async () => {
  bought.part = await buy(shop, { amount: 5000 });
  await eventually(async () => (await open(`/orders/${bought.part?.orderId ?? ''}`)).includes('Ask the customer'));
  await decide('part', { as: 'ask-rest', note: 'asked' });
  const page = await open(`/orders/${bought.part.orderId}`);
  expect(page).toContain('If nobody pays the rest: decide about NGN 5,000.00');
  expect(page).not.toContain('value="ask-rest"');
  await decide('part', { as: 'keep', note: 'agreed' });
  expect(await told('NGN')).toEqual(all(3_849_000, 0));
});

test('the payment service is asked about an order with two part payments', async () => {
  const { orderId } = (bought.two = await buy(shop, { amount: 3000 }));
  await eventually(async () => (await open(`/orders/${orderId}`)).includes('Ask the customer'));
  await decide('two', { as: 'ask-rest', note: 'asked' });
  const next = await shop.request<Checkout>('POST', '/checkout', { json: { orderId } });
  await happens(shop, next.body.reference, 'pay', { amount: 2000 });
  await eventually(async () => (await open(`/orders/${orderId}`)).includes('Ask the customer'));
  await decide('two', { as: 'ask-rest', note: 'asked' });
  await decide('two', {}, 'ask');
  const failed = 'SELECT count(*)::int AS failed FROM payments WHERE order_id = $1 AND failures > 0';
  expect(await shop.database.query(failed, [orderId])).toEqual([{ failed: 0 }]);
});

test('each order is in one group, and the groups add up on Today and on Orders', async () => {
  const [of, ...groups] = rowsOf(await open('')).filter((row) => /^\d+$/.test(row[1] ?? ''));
  const [all = 0, ...kinds] = [of, ...groups].map((row) => Number(row?.[1]));
  expect(all).toBe(7);
  expect(kinds.reduce((sum, one) => sum + one, 0)).toBe(all);
  const tabs = [...(await open('/orders')).matchAll(/>([A-Z][a-z ]+) (\d+)<\/a>/g)].map(([, , count]) => Number(count));
  expect(tabs.slice(1).reduce((sum, one) => sum + one, 0)).toBe(tabs[0]);
  const [head = '', ...rows] = (await shop.command(['export', 'orders'])).out.trim().split('\n');
  const column = head.split(',').indexOf('group');
  const inCsv = rows.map((row) => row.split(',')[column] ?? '');
  expect(inCsv).toHaveLength(all);
  const named = ['needs', 'paid', 'unpaid', 'refunded', 'unsent', 'waiting', 'closed'];
  expect(inCsv).toContain('needs');
  expect(named.map((group) => inCsv.filter((one) => one === group).length)).toEqual(tabs.slice(1));
});
