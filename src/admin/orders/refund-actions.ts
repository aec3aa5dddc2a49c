import type { VNode } from 'preact';
import type { Order } from '../../orders/order.ts';
import { findOrder } from '../../orders/orders.sql.ts';
import { recordRefund, type RefundOutcome } from '../../orders/refunds.sql.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { parseOrderId } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';
import { parseMajor } from '../../platform/money.ts';
import type { ActionForm } from '../actions/action-form.ts';
import type { Told } from '../actions/flash-message.ts';
import type { Frame } from '../layout/frame.tsx';
import { releaseOf } from '../releases/releases.sql.ts';
import { ConfirmRefund } from './refund-form.tsx';

const MAX_NUMBER = 128;

const TOLD: Record<RefundOutcome['outcome'], Told> = {
  recorded: { 'refund-recorded': 1 },
  repeated: { 'refund-recorded': 1 },
  differs: { 'refund-differs': 1 },
  'too-much': { 'refund-too-much': 1 },
  'not-paid': { 'refund-not-paid': 1 },
  unknown: { unknown: 1 },
};

type Asked = { order: Order; amount: bigint; number: string };

/** What the form asks for; null: it has no such order, no amount of its currency or no number. */
async function askedBy(database: Database, mode: Mode, { ids, field }: ActionForm): Promise<Asked | null> {
  const orderId = parseOrderId(ids[0]);
  const order = orderId === null ? null : await findOrder(database, orderId);
  const number = field('refund')?.slice(0, MAX_NUMBER) ?? null;
  if (order?.mode !== mode || number === null) return null;
  const amount = parseMajor(field('amount') ?? '', order.total.currency);
  return amount === null || amount === 0n ? null : { order, amount, number };
}

/** Writes a refund down under the name of the operator. */
export async function writeRefund(database: Database, mode: Mode, form: ActionForm): Promise<Told> {
  const asked = await askedBy(database, mode, form);
  if (asked === null) return { 'refund-unreadable': 1 };
  const { order, amount, number } = asked;
  const given = { orderId: order.id, amount, reason: form.note, externalId: number, by: form.by };
  return TOLD[(await recordRefund(database, mode, given)).outcome];
}

/** The page that asks once more; null when it has asked already, and for an order that is not paid. */
export async function confirmRefund(
  database: Database,
  mode: Mode,
  form: ActionForm,
  frame: Frame,
): Promise<VNode | null> {
  const asked = form.field('sure') === 'yes' ? null : await askedBy(database, mode, form);
  if (asked?.order.status !== 'paid') return null;
  const release = await releaseOf(database, asked.order.id);
  return ConfirmRefund({ frame, form, ...asked, at: systemClock.now(), release });
}
