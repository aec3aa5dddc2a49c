/** Refusals about an order that has ended, and about what is written down as given back. */
export const ORDER_PROBLEMS = {
  'order-cancelled': {
    status: 409,
    title: 'The order was cancelled',
    cause: 'A person or the shop has ended this order before it was paid.',
    cure: 'Place a new order.',
  },
  'order-expired': {
    status: 409,
    title: 'The time to pay the order is over',
    cause: 'The order had a deadline (`payBy`), and it has passed.',
    cure: 'Place a new order. Money that still comes for this one is kept apart and raised.',
  },
  'not-paid': {
    status: 409,
    title: 'The order is not paid, so nothing of it can go back',
    cause: 'A refund is of money that has paid an order. What came and did not pay one is in suspense.',
    cure: 'Read the order. Money in suspense is given back by a decision there (npm run suspense).',
  },
  'refund-differs': {
    status: 409,
    title: 'This number stands for another refund of the order',
    cause: 'A refund was written down under this externalId before, with another amount.',
    cure: 'Give each refund a number of its own, and repeat a call with the same amount only.',
  },
} as const;
