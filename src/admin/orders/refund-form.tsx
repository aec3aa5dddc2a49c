import type { VNode } from 'preact';
import { refundTextOf } from '../../orders/refund-text.ts';
import type { Order } from '../../orders/order.ts';
import { Amount, MajorAmount } from '../../platform/html.tsx';
import type { OrderDetail } from '../../reporting/order-detail.ts';
import type { ActionForm } from '../actions/action-form.ts';
import { AdminPage, FormToken, WhoAndWhy, type Frame } from '../layout/frame.tsx';

/** Writes down what went back of a paid order. */
export function RefundForm({ frame, orderDetail }: { frame: Frame; orderDetail: OrderDetail }): VNode {
  const { orderId, refunded, amount, currency } = orderDetail;
  return (
    <>
      <p>
        <MajorAmount text={refunded} currency={currency} /> of{' '}
        <MajorAmount text={amount} currency={currency} /> was written down as given back. Nothing here moves
        money: give it back at the service first.
      </p>
      <form method="post" action="/admin/refunds" class="action">
        <FormToken visitor={frame.visitor} />
        <input type="hidden" name="id" value={orderId} />
        <p class="field">
          <label for="refund-amount">Amount in {currency}</label>
          <input
            id="refund-amount"
            name="amount"
            required
            maxLength={20}
            inputMode="decimal"
            autocomplete="off"
          />
        </p>
        <p class="field">
          <label for="refund-number">Number of the refund at the service or the bank</label>
          <input id="refund-number" name="refund" required maxLength={128} autocomplete="off" />
        </p>
        <WhoAndWhy visitor={frame.visitor} id="refund" />
        <p class="field">
          <button>Write down a refund</button>
        </p>
      </form>
    </>
  );
}

type ConfirmProps = {
  frame: Frame;
  form: ActionForm;
  order: Order;
  amount: bigint;
  number: string;
  at: Date;
};

/** Shows once more what is written down for good, and what the shopper will read. */
export function ConfirmRefund({ frame, form, order, amount, number, at }: ConfirmProps): VNode {
  const text = refundTextOf({ ...order, refunded: order.refunded + amount, refundedAt: at });
  return (
    <AdminPage frame={frame} title="Write down this refund?" here="/admin/orders">
      <p>What is written down stays: there is no way to take it back. Is the money on its way?</p>
      <section aria-label="The refund">
        <dl class="facts">
          <dt>Order</dt>
          <dd>
            <code>{order.id}</code>
          </dd>
          <dt>Amount</dt>
          <dd>
            <Amount amount={amount} currency={order.total.currency} />
          </dd>
          <dt>Number</dt>
          <dd>{number}</dd>
          <dt>By</dt>
          <dd>{form.by}</dd>
          <dt>Why</dt>
          <dd>{form.note}</dd>
          <dt>The shopper will read</dt>
          <dd>{text === null ? '' : `${text.heading}. ${text.sentence}`}</dd>
        </dl>
      </section>
      <form method="post" action="/admin/refunds" class="action">
        <FormToken visitor={frame.visitor} />
        {form.sent.map(([name, value], index) => (
          <input key={index} type="hidden" name={name} value={value} />
        ))}
        <input type="hidden" name="sure" value="yes" />
        <p class="field">
          <button>Write it down for good</button>
        </p>
      </form>
      <p>
        <a href={`/admin/orders/${order.id}`}>Back to the order</a>
      </p>
    </AdminPage>
  );
}
