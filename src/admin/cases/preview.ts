import { resolveSuspense } from '../../cases/suspense.sql.ts';
import type { Order } from '../../orders/order.ts';
import { findOrder } from '../../orders/orders.sql.ts';
import { recordAcceptance } from '../../payments/accept.sql.ts';
import type { Queryable } from '../../platform/database/database.ts';
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
 * What the shopper will read after a decision. The decision is made, read and taken back: the database itself
 * says what it leads to.
 * @returns null when no order is concerned, the case has changed, or the shop's pages are its own
 */
export async function previewOf(
  { database, shopperText }: Pick<AdminParts, 'database' | 'shopperText'>,
  row: CaseRow,
  form: ActionForm,
): Promise<ShopperText | null> {
  const { orderId } = row;
  if (orderId === null || shopperText === null) return null;
  try {
    return await database.transaction(async (tx) => {
      const order = await findOrder(tx, orderId);
      const after = order && (await decide(tx, row, form, order)) ? await findOrder(tx, orderId) : null;
      throw new Preview(after && (await shopperText(tx, after)));
    });
  } catch (error) {
    if (error instanceof Preview) return error.text;
    throw error;
  }
}

async function decide(tx: Queryable, row: CaseRow, form: ActionForm, order: Order): Promise<boolean> {
  const decided = decisionIn(form);
  if (decided === null) return false;
  const { decision, refundNote } = decided;
  const { by, note } = form;
  return decision === 'accept'
    ? recordAcceptance(
        tx,
        order.mode,
        { id: row.id, by, note },
        { id: order.releaseId, delivery: 'unneeded' },
      )
    : resolveSuspense(tx, order.mode, row.id, { by, note, decision, refundNote }, row.moneyVersion);
}
