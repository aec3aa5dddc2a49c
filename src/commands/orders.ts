import { listOrders } from '../orders/shop-orders.sql.ts';
import { reopenOrder } from '../orders/reopen.sql.ts';
import { shopViewOf } from '../orders/order-view.ts';
import { displayMoney, formatMajor, parseMajor } from '../platform/money.ts';
import { orderIdOf } from '../reporting/timeline.sql.ts';
import { windowOf } from './arguments.ts';
import { type ListCommand, WorkListError } from './work-list.ts';
import { findOrder } from '../orders/orders.sql.ts';
import { latestRefunds, recordRefund, type RefundOutcome } from '../orders/refunds.sql.ts';

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
  'Nothing was done: only a cancelled order whose deadline has not passed, and of which the shop has kept ' +
  'no money, can be reopened.';

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

const MAX_LISTED = 500;

/** Money that the shop gave back, written down by people and by its own system. */
export const REFUNDS: ListCommand = {
  name: 'refunds',
  empty: 'No refund was written down.',
  headings: ['when (UTC)', 'amount', 'order', 'number'],
  id: /^\S+$/,
  list: async ({ database, gateway }) =>
    (await latestRefunds(database, gateway.mode, MAX_LISTED)).map(({ amount, currency, ...refund }) => ({
      cells: [
        refund.refundedAt.toISOString().slice(0, 16).replace('T', ' '),
        displayMoney({ amount, currency }),
        refund.orderId,
        refund.externalId ?? 'no number',
      ],
      below: [`by ${refund.refundedBy}: ${refund.reason}`],
      json: { amount: formatMajor({ amount, currency }), currency, ...refund },
    })),
  subcommands: {
    add: {
      usage: 'add <order> --amount 5.00 --refund "its number" --note "why" --by "your name"',
      needs: ['amount', 'refund', 'note'],
      perform: async ({ database, gateway }, { id, amount = '', refund = '', note = '', by }) => {
        const orderId = await orderIdOf(database, id, gateway.mode);
        const order = orderId === null ? null : await findOrder(database, orderId);
        if (order === null) return { isDone: false, told: 'There is no such order.' };
        const { currency } = order.total;
        const minor = parseMajor(amount, currency);
        if (minor === null || minor === 0n)
          throw new WorkListError(`--amount must be above zero and no finer than ${currency} allows`);
        const given = { orderId: order.id, amount: minor, reason: note, externalId: refund, by };
        return tell(await recordRefund(database, gateway.mode, given));
      },
    },
  },
};

function tell(done: RefundOutcome): { isDone: boolean; told: string } {
  const refused = (told: string) => ({ isDone: false, told });
  switch (done.outcome) {
    case 'recorded':
      return { isDone: true, told: `Written down as ${done.refund.id}. It moves no money.` };
    case 'repeated':
      return { isDone: true, told: `It was written down before, as ${done.refund.id}.` };
    case 'differs':
      return refused(`That number stands for another refund of the order: ${done.refund.id}.`);
    case 'too-much':
      return refused(`Only ${displayMoney({ ...done, amount: done.left })} of what was paid is left.`);
    case 'not-paid':
      return refused(
        'The order is not paid, so nothing of it can go back. Money in suspense: npm run suspense.',
      );
    case 'unknown':
      return refused('There is no such order.');
  }
}
