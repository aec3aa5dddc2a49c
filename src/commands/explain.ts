import { maskEmail } from '../reporting/activity.ts';
import { MAX_NAMED, ordersNamed, type NamedOrder } from '../reporting/circumstances.sql.ts';
import { explain } from '../reporting/explain.ts';
import type { OrderDetail } from '../reporting/order-detail.ts';
import { checkIntegrity } from '../reporting/integrity.ts';
import { orderIdOf } from '../reporting/timeline.sql.ts';
import { systemClock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { displayMoney, formatMajor } from '../platform/money.ts';
import type { Program } from '../program.ts';
import { UsageError, type Arguments, type Told } from './arguments.ts';
import { disputePack } from '../reporting/dispute-page.tsx';
import { disputeOf } from '../reporting/dispute.sql.ts';

/**
 * One order, the orders that a name fits, or the check of all records. Exit code 1: nothing fits, or one was
 * altered.
 */
export async function explainCommand(
  { database: primary, reads }: Program,
  { values: { all, evidence, json }, positionals: [name, ...more] }: Arguments,
): Promise<Told> {
  if (all) {
    if (name !== undefined) throw new UsageError('explain takes an order or --all, not both');
    return explainAll(primary, json);
  }
  if (name === undefined || more.length > 0)
    throw new UsageError(
      'which order? give its id, the reference of a payment, its external id, or an e-mail',
    );
  const { database } = await reads.pick(0);
  const id = await orderIdOf(database, name);
  const named = id === null ? await ordersNamed(database, name) : [];
  const [first, second] = named;
  if (second !== undefined)
    return { text: json ? JSON.stringify(named.map(asJson)) : listText(name, named), exitCode: 0 };
  const one = id ?? first?.id;
  const story = one === undefined ? null : await explain(database, one);
  if (story === null) return { text: `No order or payment "${plain(name)}".`, exitCode: 1 };
  const text = json ? JSON.stringify(masked(story.orderDetail)) : evidence ? story.evidence : story.text;
  return { text, exitCode: story.isIntact ? 0 : 1 };
}

/** What the shopper entered, by name only: `person -- show` prints it, and notes who looked. */
const masked = ({ details, ...rest }: OrderDetail): object => ({
  ...rest,
  details: Object.fromEntries(Object.keys(details).map((name) => [name, '•••'])),
});

const asJson = (order: NamedOrder): object => ({ ...order, amount: formatMajor(order) });

function listText(name: string, orders: readonly NamedOrder[]): string {
  const shown = orders.slice(0, MAX_NAMED);
  const count = orders.length > MAX_NAMED ? `The newest ${MAX_NAMED}` : `${orders.length}`;
  const whose = name.includes('@') ? `orders of ${maskEmail(name)}` : `orders begin with ${name}`;
  return [
    `${count} ${plain(whose)}, newest first:`,
    ...shown.map(({ id, status, amount, currency, placedAt }) =>
      [
        id,
        placedAt.toISOString().slice(0, 16).replace('T', ' '),
        status.padEnd(9),
        displayMoney({ amount, currency }).padStart(18),
      ].join('  '),
    ),
    'To see one of them: npm run explain -- ID',
  ].join('\n');
}

/** What could control the terminal. */
function plain(text: string): string {
  return text.replace(/\p{C}/gu, '?');
}

const TELL_EVERY_MS = 3_000;

/** Prints each row that was changed by other means, and gives a summary; with `json` one object per line. */
async function explainAll(database: Database, json: boolean): Promise<Told> {
  let toldMs = systemClock.elapsedMs();
  const seen = await checkIntegrity(database, {
    onFound: (one) => print(json ? JSON.stringify(one) : `order ${one.orderId}: ${one.what}`),
    onProgress: (orders) => {
      if (systemClock.elapsedMs() - toldMs < TELL_EVERY_MS) return;
      toldMs = systemClock.elapsedMs();
      process.stderr.write(`${orders} orders checked\n`);
    },
  });
  const verdict =
    seen.contradictions === 0
      ? 'Every journal is whole, and no row contradicts one.'
      : `${seen.contradictions} rows were changed by other means.`;
  const text = json ? JSON.stringify(seen) : `${seen.orders} orders checked. ${verdict}`;
  return { text, exitCode: seen.contradictions === 0 ? 0 : 1 };
}

function print(line: string): Promise<void> {
  return new Promise((resolve) =>
    process.stdout.write(`${plain(line)}\n`, () => {
      resolve();
    }),
  );
}

/** Everything an acquirer asks about one order, as one file on standard output. */
export async function dispute(
  { database }: Program,
  { positionals: [name, ...more], values }: Arguments,
): Promise<Told> {
  if (name === undefined || more.length > 0)
    throw new UsageError('which order? give its id, the reference of a payment, or its external id');
  const found = await disputeOf(database, name);
  if (found === null) return { text: 'There is no such order and no such payment.', exitCode: 1 };
  const text = disputePack(found, {
    as: values.json ? 'json' : 'html',
    withCustomer: values['with-customer'],
  });
  return { text, exitCode: found.order.contradictions.length === 0 ? 0 : 1 };
}
