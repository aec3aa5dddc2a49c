import { findOrder } from '../orders/repository.ts';
import type { Queryable } from '../platform/database.ts';
import { displayMoney } from '../platform/money.ts';
import { brokenEntries, orderIdOf, storyOf } from './repository.ts';

/**
 * Everything known of one order, in time order, with its evidence: what an operator reads before deciding anything.
 * @param idOrReference an order id or the reference of one of its payments
 * @returns null when there is no such order; `isIntact` false when a journal row was changed behind the program's back
 */
export async function explain(
  db: Queryable,
  idOrReference: string,
): Promise<{ text: string; isIntact: boolean } | null> {
  const id = await orderIdOf(db, idOrReference);
  const order = id === null ? null : await findOrder(db, id);
  if (order === null) return null;
  const [story, broken] = [await storyOf(db, order.id), await brokenEntries(db, order.id)];
  const lines = [
    `order ${order.id}  ${order.status}  ${displayMoney(order.total)}  ${order.mode} mode`,
    ...order.lines.map(({ quantity, description }) => `  ${quantity} x ${description}`),
    '',
    ...story.map(
      ({ at, source, what, reference, detail }) =>
        `${at.toISOString()}  ${source.padEnd(12)}  ${what.padEnd(18)}  ${reference ?? '-'}  ${detail}`,
    ),
    '',
    broken.length === 0
      ? 'the journal is whole: its numbers are dense and every hash fits'
      : `the journal was changed by other means: look at entries ${broken.join(', ')}`,
  ];
  return { text: lines.join('\n'), isIntact: broken.length === 0 };
}
