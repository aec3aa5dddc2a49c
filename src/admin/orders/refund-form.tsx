import type { VNode } from 'preact';
import { refundTextOf } from '../../orders/refund-text.ts';
import type { Order } from '../../orders/order.ts';
import { formatMajor, parseMajor } from '../../platform/money.ts';
import { Amount, MajorAmount } from '../../platform/html.tsx';
import type { OrderDetail } from '../../reporting/order-detail.ts';
import type { ActionForm, Told } from '../action-form.ts';
import { Action, AdminPage, Confirm, Facts, type Frame } from '../layout/frame.tsx';
import { Field } from '../layout/parts.tsx';
import { type ReleaseRow, releaseOf } from '../releases/releases.sql.ts';
import { findOrder } from '../../orders/orders.sql.ts';
import { recordRefund, type RefundOutcome } from '../../orders/refunds.sql.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { parseOrderId } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';

/** Writes down what went back of a paid order. What the service took back without a refund is filled in. */
export function RefundForm({ frame, orderDetail }: { frame: Frame; orderDetail: OrderDetail }): VNode {
  const { orderId, refunded, currency, cameAmount, unexplained, delivery } = orderDetail;
  const majorOf = (amount: string | null): string => formatMajor({ amount: BigInt(amount ?? 0), currency });
  return (
    <>
      <p>
        <MajorAmount text={refunded} currency={currency} /> of{' '}
        <MajorAmount text={majorOf(cameAmount)} currency={currency} /> was written down as given back. Nothing
        here moves money: give it back at the service first.
        {delivery === 'withheld' && ' The goods were not sent, and are not sent by themselves.'}
        {delivery !== 'delivered' &&
          delivery !== 'withheld' &&
          ' The goods have not been sent. When all of the money went back, they will not be.'}
      </p>
      <Action
        visitor={frame.visitor}
        address="/admin/refunds"
        about={orderId}
        id="refund"
        button="Write down a refund"
      >
        <Field
          id="refund-amount"
          label={`Amount in ${currency}`}
          name="amount"
          required
          maxLength={20}
          value={unexplained === null || unexplained === '0' ? undefined : majorOf(unexplained)}
          inputMode="decimal"
          autocomplete="off"
        />
        <Field
          id="refund-number"
          label="Number of the refund at the service or the bank"
          name="refund"
          required
          maxLength={128}
          autocomplete="off"
        />
      </Action>
    </>
  );
}

/** What becomes of the goods when all of the money went back. */
function goodsText(release: ReleaseRow | null): string {
  if (release?.delivery === 'delivered') return 'They were sent.';
  return release?.attempts === 0
    ? 'They had not been sent, and will not be.'
    : 'The delivery system has not taken them yet. No further attempt is made.';
}

type ConfirmProps = {
  frame: Frame;
  form: ActionForm;
  order: Order;
  amount: bigint;
  number: string;
  at: Date;
  release: ReleaseRow | null;
};

/** Shows once more what is written down for good, and what the shopper will read. */
function ConfirmRefund({ frame, form, order, amount, number, at, release }: ConfirmProps): VNode {
  const text = refundTextOf({ ...order, refunded: order.refunded + amount, refundedAt: at });
  const goods = order.refunded + amount < order.came ? null : goodsText(release);
  return (
    <AdminPage frame={frame} title="Write down this refund?" here="/admin/orders">
      <p>What is written down stays: there is no way to take it back. Is the money on its way?</p>
      <section aria-label="The refund">
        <Facts
          facts={{
            Order: <code>{order.id}</code>,
            Amount: <Amount amount={amount} currency={order.total.currency} />,
            Number: number,
            By: form.by,
            Why: form.note,
            Goods: goods,
            'The shopper will read': text === null ? '' : `${text.heading}. ${text.sentence}`,
          }}
        />
      </section>
      <Confirm visitor={frame.visitor} address="/admin/refunds" form={form} button="Write it down for good" />
      <p>
        <a href={`/admin/orders/${order.id}`}>Back to the order</a>
      </p>
    </AdminPage>
  );
}

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
export async function noteRefund(database: Database, mode: Mode, form: ActionForm): Promise<Told> {
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
