import type { VNode } from 'preact';
import { caseTitle } from '../../cases/case-text.ts';
import { Amount } from '../../platform/html.tsx';
import { maskEmail } from '../../reporting/activity.ts';
import { Moment, Status, Table } from '../layout/parts.tsx';
import type { OrderRow } from './find-orders.sql.ts';

/** Orders as a person recognises them: who, what, how much, in which state and why. */
export function OrderTable({ orders }: { orders: readonly OrderRow[] }): VNode {
  const hasNumbers = orders.some(({ externalId }) => externalId !== null);
  const head = ['When', 'Customer', 'What', { number: 'Amount' }, 'State', 'Order'];
  return (
    <div class="orders">
      <Table label="Orders" head={[...head, ...(hasNumbers ? ['Your number'] : [])]}>
        {orders.map((order) => (
          <tr key={order.id}>
            <td>
              <Moment at={order.createdAt} />
            </td>
            <td>{maskEmail(order.email)}</td>
            <td class="words">{goodsOf(order)}</td>
            <td class="number">
              <Amount {...order} />
            </td>
            <td>
              <State order={order} />
            </td>
            <td>
              <a href={`/admin/orders/${order.id}`}>{order.id.slice(0, 8)}</a>
            </td>
            {hasNumbers && <td>{order.externalId ?? ''}</td>}
          </tr>
        ))}
      </Table>
    </div>
  );
}

function goodsOf({ item, quantity, lines }: OrderRow): string {
  if (item === null) return '';
  return `${quantity ?? 1} × ${item}${lines > 1 ? `, +${lines - 1} more` : ''}`;
}

function State({ order: { id, status, openCase, came, refunded } }: { order: OrderRow }): VNode {
  return (
    <>
      {refunded > 0n ? (
        <span class="status refunded">{refunded < (came ?? 0n) ? 'refunded in part' : 'refunded'}</span>
      ) : status === 'review' ? (
        <span class="status review">in review</span>
      ) : (
        <Status word={status} />
      )}
      {openCase !== null && (
        <>
          {' '}
          <a class="reason" href={`/admin/cases?q=${id}`}>
            {caseTitle(openCase)}
          </a>
        </>
      )}
    </>
  );
}
