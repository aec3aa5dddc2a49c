import type { VNode } from 'preact';
import { CANCELLED_TEXT } from '../../orders/cancel.ts';
import type { Order } from '../../orders/order.ts';
import { Amount } from '../../platform/html.tsx';
import type { ActionForm } from '../action-form.ts';
import { AdminPage, FormToken, WhoAndWhy, type Frame } from '../layout/frame.tsx';
import { OrderLink, Status } from '../layout/parts.tsx';

/** The form on the page of an order that may still be cancelled. */
export function CancelForm({ frame, orderId }: { frame: Frame; orderId: string }): VNode {
  return (
    <form method="post" action="/admin/orders/cancel" class="action">
      <FormToken visitor={frame.visitor} />
      <input type="hidden" name="id" value={orderId} />
      <WhoAndWhy visitor={frame.visitor} id="cancel-order" />
      <p class="field">
        <button>Cancel the order …</button>
      </p>
    </form>
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
        The service is asked once more about each of its open payments. If one of them has paid, nothing is
        cancelled. Money that comes later goes into suspense and never pays this order.
      </p>
      <section aria-label="Who, why, and what is told">
        <dl class="facts">
          <dt>By</dt>
          <dd>{form.by}</dd>
          <dt>Why</dt>
          <dd>{form.note}</dd>
          <dt>The shopper will read</dt>
          <dd>{`${heading}. ${truth} ${advice}`}</dd>
        </dl>
      </section>
      <form method="post" action="/admin/orders/cancel" class="action">
        <FormToken visitor={frame.visitor} />
        {form.sent.map(([name, value], at) => (
          <input key={at} type="hidden" name={name} value={value} />
        ))}
        <input type="hidden" name="sure" value="yes" />
        <p class="field">
          <button>Cancel the order</button>
        </p>
      </form>
      <p>
        <a href={`/admin/orders/${order.id}`}>Back to the order</a>
      </p>
    </AdminPage>
  );
}

/** Opens a cancelled order again. */
export function ReopenForm({ frame, orderId }: { frame: Frame; orderId: string }): VNode {
  return (
    <form method="post" action="/admin/orders/reopen" class="action">
      <FormToken visitor={frame.visitor} />
      <input type="hidden" name="id" value={orderId} />
      <WhoAndWhy visitor={frame.visitor} id="reopen" />
      <p class="field">
        <button>Reopen: it may be paid again</button>
      </p>
    </form>
  );
}
