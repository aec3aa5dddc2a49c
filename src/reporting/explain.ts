import type { Database } from '../platform/database/database.ts';
import { evidenceText, explainText } from './explain-text.ts';
import { detailOf, type OrderDetail } from './order-detail.ts';
import { orderIdOf } from './timeline.sql.ts';

type Explanation = {
  /** For a person: one sentence, then what happened. */
  text: string;
  /** Every row, with amounts in minor units. */
  evidence: string;
  orderDetail: OrderDetail;
  isIntact: boolean;
};

/**
 * Everything known about one order, in time order, with its evidence: what an operator reads
 * before deciding anything.
 * @param name an order id, the reference of one of its payments, or the external id a shop gave it
 * @returns null when there is no such order; `isIntact` false when a row was changed by other
 * means than this program
 */
export async function explain(database: Database, name: string): Promise<Explanation | null> {
  // One snapshot: an order that changes between two queries would contradict itself.
  return database.transaction(async (tx) => {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const id = await orderIdOf(tx, name);
    const seen = id === null ? null : await detailOf(tx, id);
    if (seen === null) return null;
    const { order, orderDetail } = seen;
    return {
      text: explainText(orderDetail),
      evidence: evidenceText(order, orderDetail),
      orderDetail,
      isIntact: orderDetail.contradictions.length === 0,
    };
  });
}
