import { listOrders } from '../orders/shop-orders.sql.ts';
import { reopenOrder } from '../orders/reopen.sql.ts';
import { shopViewOf } from '../orders/order-view.ts';
import { displayMoney } from '../platform/money.ts';
import { orderIdOf } from '../reporting/timeline.sql.ts';
import { windowOf } from './arguments.ts';
import type { ListCommand } from './work-list.ts';

const LATEST = 50;

const TOLD = {
  cancelled: 'Cancelled. Money that comes later goes into suspense.',
  'already-paid': 'Nothing was done: the order is paid.',
  'under-review':
    'Nothing was cancelled: read first what the service says now (npm run explain), then cancel again.',
  'unknown-order': 'There is no such order.',
  unavailable:
    'Nothing was cancelled: whether the order has been paid could not be asked. Try again in a minute.',
} as const;

const NOT_REOPENED =
  'Nothing was done: only a cancelled order whose deadline has not passed, and of which the shop has kept no money, ' +
  'can be reopened.';

/** The latest orders, and how a person ends one that is not paid, and takes that back. */
export const ORDERS: ListCommand = {
  name: 'orders',
  empty: 'There is no order.',
  headings: ['order', 'status', 'amount', 'your number'],
  id: /^\S+$/,
  list: async ({ database, gateway }, { since }) => {
    const wanted = { externalId: null, status: null, after: null, limit: LATEST };
    const from = windowOf(since, undefined).since ?? null;
    const { orders } = await listOrders(database, gateway.mode, { ...wanted, since: from });
    return orders.map((order) => ({
      cells: [order.id, order.status, displayMoney(order.total), order.externalId ?? ''],
      json: shopViewOf(order),
    }));
  },
  subcommands: {
    cancel: {
      usage: 'cancel <order id, reference or external id> --note "why" --by "your name"',
      needs: ['note'],
      perform: async ({ database, gateway, cancelOrder }, { id, by, note = '' }) => {
        const orderId = await orderIdOf(database, id, gateway.mode);
        const { outcome } =
          orderId === null
            ? ({ outcome: 'unknown-order' } as const)
            : await cancelOrder(orderId, { by, reason: note });
        return { isDone: outcome === 'cancelled', told: TOLD[outcome] };
      },
    },
    reopen: {
      usage: 'reopen <order id, reference or external id> --note "why" --by "your name"',
      needs: ['note'],
      perform: async ({ database, gateway: { mode } }, { id, by, note = '' }) => {
        const orderId = await orderIdOf(database, id, mode);
        if (orderId === null) return { isDone: false, told: TOLD['unknown-order'] };
        const isDone = await reopenOrder(database, mode, orderId, { by, note });
        return { isDone, told: isDone ? 'Reopened: it can be paid again.' : NOT_REOPENED };
      },
    },
  },
};
