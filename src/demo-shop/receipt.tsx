import type { VNode } from 'preact';
import type { Order, OrderLine } from '../orders/order.ts';
import { Amount, WrittenMoment } from '../platform/html.tsx';
import { useReader } from './language.tsx';

/**
 * What was ordered and what it costs. The script reads the data attributes to remove paid
 * products from the basket.
 */
export function Receipt({ order }: { order: Order }): VNode {
  const words = useReader().words.order;
  return (
    <section class="receipt" aria-labelledby="receipt-heading">
      <h2 id="receipt-heading">{order.status === 'paid' ? words.receipt : words.unpaid}</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">{words.item}</th>
            <th scope="col">{words.amount}</th>
          </tr>
        </thead>
        <tbody>
          {order.lines.map((line, at) => (
            <Line key={at} line={line} currency={order.total.currency} />
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{words.total}</th>
            <td>
              <Amount {...order.total} />
            </td>
          </tr>
        </tfoot>
      </table>
      <dl class="marks">
        <div>
          <dt>{words.number}</dt>
          <dd class="id">{order.id}</dd>
        </div>
        {order.paidAt !== null && (
          <div>
            <dt>{words.paidAt}</dt>
            <dd>
              <WrittenMoment at={order.paidAt} />
            </dd>
          </div>
        )}
        {order.payBy !== null && order.status !== 'paid' && order.status !== 'cancelled' && (
          <div>
            <dt>{words.payBy}</dt>
            <dd>
              <WrittenMoment at={order.payBy} />
            </dd>
          </div>
        )}
        {order.reference !== null && (
          <div>
            <dt>{words.reference}</dt>
            <dd class="id">{order.reference}</dd>
          </div>
        )}
      </dl>
    </section>
  );
}

function Line({ line, currency }: { line: OrderLine; currency: string }): VNode {
  const { sku, description, unitAmount, quantity } = line;
  return (
    <tr data-sku={sku ?? undefined} data-quantity={quantity}>
      <th scope="row">
        {description}
        {quantity > 1 && (
          <span class="each">
            {quantity} ×{' '}
            <span>
              <Amount amount={unitAmount} currency={currency} />
            </span>
          </span>
        )}
      </th>
      <td>
        <Amount amount={unitAmount * BigInt(quantity)} currency={currency} />
      </td>
    </tr>
  );
}
