import { moneyAbout, resolveSuspense } from '../../cases/suspense.sql.ts';
import { findOrder } from '../../orders/orders.sql.ts';
import type { Database, Queryable } from '../../platform/database/database.ts';
import type { AdminParts, ShopperText } from '../admin-parts.ts';
import type { ActionForm } from '../actions/action-form.ts';
import { decisionIn } from './actions.ts';
import type { CaseRow } from './cases.sql.ts';

/** Carries the text out of the transaction that it takes back. */
class Preview extends Error {
  readonly text: ShopperText | null;
  constructor(text: ShopperText | null) {
    super('a decision was tried and taken back');
    this.text = text;
  }
}

/**
 * What the shopper will read after a decision. The decision is made, read and taken back: the database itself says
 * what it leads to.
 * @returns null when no order is concerned, or the case has changed
 */
export async function previewOf(
  { database, shopperText }: Pick<AdminParts, 'database' | 'shopperText'>,
  { id, orderId, moneyVersion }: CaseRow,
  form: ActionForm,
): Promise<ShopperText | null> {
  const decided = decisionIn(form);
  if (orderId === null || decided === null) return null;
  const { decision, refundNote } = decided;
  if (decision === 'accept') {
    const order = await findOrder(database, orderId);
    return order && shopperText({ ...order, status: 'paid' }, null);
  }
  return tried(database, async (tx) => {
    const order = await findOrder(tx, orderId);
    if (order === null) return null;
    const how = { by: form.by, note: form.note, decision, refundNote };
    const isDone = await resolveSuspense(tx, order.mode, id, how, moneyVersion);
    const after = isDone ? await findOrder(tx, orderId) : null;
    const { held, decisions } = await moneyAbout(tx, orderId);
    return after && shopperText(after, decisions, { held });
  });
}

async function tried(
  database: Database,
  look: (tx: Queryable) => Promise<ShopperText | null>,
): Promise<ShopperText | null> {
  try {
    return await database.transaction(async (tx) => {
      throw new Preview(await look(tx));
    });
  } catch (error) {
    if (error instanceof Preview) return error.text;
    throw error;
  }
}
