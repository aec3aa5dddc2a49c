import { formatMajor, parseMajor } from '../src/platform/money.ts';
import type { OrderStatus } from '../src/orders/order.ts';
import type { Report } from '../src/reconciliation/report.ts';
import { command, openShop, post, until, type Shop } from './demo/shop.ts';

/*
 * npm run demo: a day in a shop in half a minute, with its own temporary database, service and
 * receiver. It exits with 0 only if every order ends as expected, and the books, the service's
 * history and our ledger have the same sums.
 */

type Order = { orderId: string; reference: string; currency: string };
/**
 * `acts`: what happens to the order, in sequence. `ours`: the money that belongs to the shop at the
 * end, in major units.
 */
type Story = readonly [what: string, sku: string, acts: readonly Words[], ends: OrderStatus, ours: string];
type Words = keyof typeof ACTS | `${keyof typeof ACTS} ${string}`;

const STORIES: Story[] = [
  ['paid', 'ankara-tote', ['pay'], 'paid', '8500.00'],
  ['paid, the webhook lost', 'ankara-tote', ['pay-unheard'], 'paid', '8500.00'],
  ['paid too little, accepted', 'brass-dallah', ['pay 18.000', 'decide accept'], 'paid', '18.000'],
  ['paid too much, the surplus refunded', 'ankara-tote', ['pay 9000', 'decide refund', 'back 500'], 'paid', '8500.00'],
  ['paid twice, once refunded', 'ankara-tote', ['fail', 'again', 'pay', 'decide refund', 'back'], 'paid', '8500.00'],
  ['left the page', 'ankara-tote', [], 'pending', '0.00'],
  ['paid, a part refunded', 'djembe', ['pay', 'told', 'refund 15000', 'back 15000'], 'paid', '50000'],
  ['paid, then charged back', 'ankara-tote', ['pay', 'told', 'back', 'decide write-off'], 'paid', '0.00'],
  ['cancelled, then paid', 'ankara-tote', ['cancel', 'pay', 'decide refund', 'back'], 'cancelled', '0.00'],
  ['paid while our system was down', 'ankara-tote', ['down', 'pay'], 'paid', '8500.00'],
];

type Act = (shop: Shop, order: Order, word: string | undefined) => unknown;

const atService =
  (act: string, more = {}): Act =>
  (shop, { reference }, amount) =>
    post(`${shop.sandboxUrl}/sandbox/transactions/${reference}/${act}`, { ...(amount && { amount }), ...more });

const ACTS = {
  pay: atService('pay'),
  'pay-unheard': atService('pay', { webhook: 'lost' }),
  back: atService('reverse'),
  fail: atService('fail'),
  again: async (shop, order, word) => {
    await isSeen(shop, order, 'failed');
    await atService('pay')(shop, await post<Order>(`${shop.url}/checkout`, { orderId: order.orderId }), word);
    await isSeen(shop, order, 'paid');
  },
  cancel: ({ url }, { orderId }) => post(`${url}/orders/${orderId}/cancel`, { reason: 'sold out' }),
  refund: ({ url }, { orderId }, amount) =>
    post(`${url}/orders/${orderId}/refunds`, { amount, reason: 'a scratch', externalId: 'RF-1' }),
  decide: async (shop, { orderId }, as = '') => {
    const where = { orderId, closedAt: null };
    const { id } = await until('there is a case', () => shop.prisma.case.findFirst({ where }));
    await command(shop, 'cases', 'decide', String(id), '--as', as, '--note', 'the demo');
  },
  down: ({ refused }, { orderId }) => refused.add(orderId),
  told: isTold,
} satisfies Record<string, Act>;

/** Its message was accepted. */
function isTold({ prisma }: Shop, { orderId }: Order): Promise<unknown> {
  return until('our system was told', () => prisma.message.findFirst({ where: { orderId, sentAt: { not: null } } }));
}

function isSeen({ prisma }: Shop, { orderId: id }: Order, status: OrderStatus): Promise<unknown> {
  return until(`the order is ${status}`, () => prisma.order.findFirst({ where: { id, status } }));
}

const say = (line: string) => process.stdout.write(`${line}\n`);

async function play(shop: Shop, [, sku, acts, ends]: Story): Promise<Order> {
  const basket = { email: 'ada@example.com', items: [{ sku, quantity: 1 }] };
  const order = await post<Order>(`${shop.url}/checkout`, basket);
  for (const words of acts) {
    const [act = '', word] = words.split(' ');
    await ACTS[act as keyof typeof ACTS](shop, order, word);
  }
  await isSeen(shop, order, ends);
  if (ends === 'paid') await isTold(shop, order);
  return order;
}

/** @returns what did not end as expected; throws if an order does not end */
async function playDay(shop: Shop): Promise<string[]> {
  say(`A day in a shop, ${STORIES.length} orders at once:\n`);
  const orders = await Promise.all(STORIES.map((story) => play(shop, story)));
  const told = await command<{ id: string; status: string; sentence: string }[]>(shop, 'orders', 'list', 'today');
  for (const [index, [what]] of STORIES.entries()) {
    const { status = '', sentence = '' } = told.find(({ id }) => id === orders[index]?.orderId) ?? {};
    say(`  ${what.padEnd(37)}${status.padEnd(11)}${sentence}`);
  }
  const { verdict, reason, identity } = await command<Report>(shop, 'reconcile');
  say('');
  for (const { currency, serviceTotal, earned, classes, difference } of identity) {
    const parts = Object.entries(classes).map(([name, amount]) => ` + ${name} ${amount}`);
    say(
      `${currency}  the service lists ${serviceTotal} = captured ${earned}${parts.join('')}; unexplained ${difference}`,
    );
  }
  const faults = verdict === 'agreed' ? [] : [`the history and our orders do not agree: ${reason ?? 'cases are open'}`];
  const month = new Date().toISOString().slice(0, 7);
  for (const { currency, ...sums } of await command<Record<string, string>[]>(shop, 'books', month, '--totals')) {
    const ours = oursIn(orders, currency ?? '');
    const isRight = sums.earned === ours && !/[1-9]/.test(sums.held ?? '');
    const parts = Object.entries(sums).map(([name, amount]) => `${name} ${amount}`);
    say(`${currency ?? ''}  the books: ${parts.join(', ')}; of ${ours} as the stories tell`);
    if (!isRight) faults.push(`the books of ${currency ?? ''} do not say what the stories tell`);
  }
  return faults;
}

/** The money of all stories that belongs to the shop at the end, in major units. */
function oursIn(orders: readonly Order[], currency: string): string {
  const ours = STORIES.filter((_, index) => orders[index]?.currency === currency).map((story) => story[4]);
  const amount = ours.reduce((sum, text) => sum + (parseMajor(text, currency) ?? 0n), 0n);
  return formatMajor({ amount, currency });
}

const shop = await openShop();
try {
  const faults = await playDay(shop);
  say(['', ...(faults.length === 0 ? ['Every order ended as expected, and the books add up.'] : faults)].join('\n'));
  process.exitCode = faults.length === 0 ? 0 : 1;
} catch (error) {
  process.stderr.write(`NOT as expected: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await shop.close();
}
