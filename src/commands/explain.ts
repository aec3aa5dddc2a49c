import { maskEmail, sentenceOf } from '../reporting/activity.ts';
import { MAX_NAMED, ordersNamed, type NamedOrder } from '../reporting/circumstances.sql.ts';
import { explain } from '../reporting/explain.ts';
import type { OrderDetail } from '../reporting/order-detail.ts';
import { checkIntegrity } from '../reporting/integrity.ts';
import { orderIdOf } from '../reporting/timeline.sql.ts';
import { systemClock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { displayMoney, formatMajor } from '../platform/money.ts';
import type { Program } from '../program.ts';
import { UsageError, type Arguments, type Told, windowOf } from './arguments.ts';
import { disputePack } from '../reporting/dispute-page.tsx';
import { disputeOf } from '../reporting/dispute.sql.ts';
import { readActivity, type Action } from '../reporting/activity.sql.ts';

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

/** Texts come from people and from outside: no control character reaches the terminal. */
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

const PAGE_ROWS = 1_000;
type Asked = { by?: string; since?: string; until?: string; json: boolean };

/** Who did what, newest first, by day and person. */
export async function activity(
  { database, gateway }: Pick<Program, 'database' | 'gateway'>,
  { by = '', json, ...period }: Asked,
): Promise<string> {
  const { since = null, until = null } = windowOf(period.since, period.until);
  const wanted = { by: by.trim() || null, since, until, limit: PAGE_ROWS };
  const lines: string[] = [];
  let day = '';
  for (let before: string | null = null, more = true; more;) {
    const rows: Action[] = await readActivity(database, gateway.mode, { ...wanted, before });
    for (const row of rows) {
      const at = row.at.toISOString();
      if (!json && at.slice(0, 10) !== day) lines.push((day = at.slice(0, 10)));
      lines.push(json ? actionJson(row) : `  ${at.slice(11, 19)}  ${row.by} ${sentenceOf(row)}`);
    }
    before = rows.at(-1)?.key ?? null;
    more = rows.length === PAGE_ROWS;
  }
  if (json) return `[${lines.join(',\n')}]`;
  return lines.length === 0 ? 'Nobody did anything then.' : lines.map(plain).join('\n');
}

function actionJson(action: Action): string {
  const { at, by, event, orderId, reference, class: name, detail } = action;
  return JSON.stringify({
    at,
    by,
    event,
    orderId,
    reference,
    class: name,
    detail,
    sentence: sentenceOf(action),
  });
}
