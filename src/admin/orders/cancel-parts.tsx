import type { VNode } from 'preact';
import { CANCELLED_TEXT } from '../../orders/cancel.ts';
import type { Order } from '../../orders/order.ts';
import { Amount } from '../../platform/html.tsx';
import type { ActionForm } from '../action-form.ts';
import { AdminPage, Confirm, Facts, type Frame } from '../layout/frame.tsx';
import { OrderLink, Status } from '../layout/parts.tsx';

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
