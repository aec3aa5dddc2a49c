import type { VNode } from 'preact';
import { formatMajor } from '../../platform/money.ts';
import type { OrderDetail } from '../../reporting/order-detail.ts';
import { Action, type Frame, AdminPage, Confirm, Facts } from '../layout/frame.tsx';
import type { ReleaseRow } from '../releases/releases.sql.ts';
import { RefundForm } from './refund-form.tsx';
import { CANCELLED_TEXT } from '../../orders/cancel.ts';
import type { Order } from '../../orders/order.ts';
import { Amount } from '../../platform/html.tsx';
import type { ActionForm } from '../action-form.ts';
import { OrderLink, Status } from '../layout/parts.tsx';

/** Statuses in which there is nothing to cancel. */
const ENDED: readonly string[] = ['paid', 'cancelled'];

type Props = { frame: Frame; orderDetail: OrderDetail; release: ReleaseRow | null };

/** What a person may do with the order, each folded under its name. */
export function OrderActions({ frame, orderDetail, release }: Props): VNode | null {
  const { orderId, status, payments, unexplained } = orderDetail;
  const isGone = isMoneyGone(orderDetail);
  const { may } = frame.visitor;
  const onOrder = { visitor: frame.visitor, about: orderId };
  const actions: [name: string, action: string, form: VNode | null][] = [
    [
      'Refund …',
      'refunds',
      status === 'paid' ? <RefundForm frame={frame} orderDetail={orderDetail} /> : null,
    ],
    [
      'Check with the payment service now …',
      'checks',
      payments.length > 0 ? <CheckForm frame={frame} payments={payments} /> : null,
    ],
    [
      isGone ? 'Send to the delivery system all the same …' : 'Send to the delivery system again …',
      'releases',
      release === null ? null : <DeliverForm frame={frame} release={release} isGone={isGone} />,
    ],
    [
      'Cancel …',
      'cancel',
      ENDED.includes(status) ? null : (
        <Action {...onOrder} address="/admin/orders/cancel" id="cancel-order" button="Cancel the order …" />
      ),
    ],
    [
      'Reopen …',
      'reopen',
      status === 'cancelled' ? (
        <Action
          {...onOrder}
          address="/admin/orders/reopen"
          id="reopen"
          button="Reopen: it may be paid again"
        />
      ) : null,
    ],
  ];
  const shown = actions.filter(([, action, form]) => form !== null && may(action));
  if (shown.length === 0) return null;
  return (
    <section aria-labelledby="actions">
      <h2 id="actions">Actions</h2>
      {shown.map(([name, action, form]) => (
        <details key={action} id={action} open={action === 'refunds' && unexplained !== null}>
          <summary>{name}</summary>
          {form}
        </details>
      ))}
    </section>
  );
}

function CheckForm({ frame, payments }: { frame: Frame; payments: OrderDetail['payments'] }): VNode {
  return (
    <Action visitor={frame.visitor} address="/admin/checks" id="check" button="Check now">
      {payments.length === 1 ? (
        <input type="hidden" name="id" value={payments[0]?.reference} />
      ) : (
        <p class="field wide">
          <label for="check-id">Payment</label>
          <select id="check-id" name="id">
            {payments.map(({ reference }) => (
              <option key={reference}>{reference}</option>
            ))}
          </select>
        </p>
      )}
    </Action>
  );
}

/** Whether the goods were not sent because their money went back, or it went back after they were sent. */
function isMoneyGone({ delivery, refunded, cameAmount, currency, unexplained }: OrderDetail): boolean {
  const came = formatMajor({ amount: BigInt(cameAmount ?? 0), currency });
  return delivery === 'withheld' || (delivery === 'delivered' && (unexplained !== null || refunded === came));
}

type DeliverProps = { frame: Frame; release: ReleaseRow; isGone: boolean };
function DeliverForm({ frame, release, isGone }: DeliverProps): VNode {
  const { id, orderId } = release;
  return (
    <>
      <p class="none">
        It carries the same id as before, by which the delivery system knows not to ship twice.
      </p>
      <Action
        visitor={frame.visitor}
        address="/admin/releases"
        about={id}
        id="redeliver"
        button={isGone ? 'Send all the same' : 'Send again'}
        operation={isGone ? 'withheld' : undefined}
        isQuiet={isGone}
      >
        <input type="hidden" name="order" value={orderId} />
      </Action>
    </>
  );
}

/** Shows what cancelling means, and what the shopper will read: there is no way back. */
export function ConfirmCancel({
  frame,
  form,
  order,
}: {
  frame: Frame;
  form: ActionForm;
  order: Order;
}): VNode {
  const { heading, truth, advice } = CANCELLED_TEXT;
  return (
    <AdminPage frame={frame} title="Cancel this order?" here="/admin/orders">
      <p>
        <OrderLink id={order.id} /> <Status word={order.status} />{' '}
        <strong>
          <Amount {...order.total} />
        </strong>
      </p>
      <p>
        The service is asked once more about each payment that may have paid. If one of them has paid, nothing
        is cancelled. Money that comes later goes into suspense and never pays this order.
      </p>
      <section aria-label="Who, why, and what is told">
        <Facts
          facts={{
            By: form.by,
            Why: form.note,
            'The shopper will read': `${heading}. ${truth} ${advice}`,
          }}
        />
      </section>
      <Confirm visitor={frame.visitor} address="/admin/orders/cancel" form={form} button="Cancel the order" />
      <p>
        <a href={`/admin/orders/${order.id}`}>Back to the order</a>
      </p>
    </AdminPage>
  );
}
