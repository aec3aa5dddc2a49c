import type { VNode } from 'preact';
import { refundTextOf } from '../../orders/refund-text.ts';
import type { Order } from '../../orders/order.ts';
import { formatMajor } from '../../platform/money.ts';
import { Amount, MajorAmount } from '../../platform/html.tsx';
import type { OrderDetail } from '../../reporting/order-detail.ts';
import type { ActionForm } from '../actions/action-form.ts';
import { AdminPage, FormToken, WhoAndWhy, type Frame } from '../layout/frame.tsx';
import type { ReleaseRow } from '../releases/releases.sql.ts';

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
            value={unexplained === null || unexplained === '0' ? undefined : majorOf(unexplained)}
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
export function ConfirmRefund({ frame, form, order, amount, number, at, release }: ConfirmProps): VNode {
  const text = refundTextOf({ ...order, refunded: order.refunded + amount, refundedAt: at });
  const goods = order.refunded + amount < order.came ? null : goodsText(release);
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
          {goods !== null && [<dt key="goods">Goods</dt>, <dd>{goods}</dd>]}
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
