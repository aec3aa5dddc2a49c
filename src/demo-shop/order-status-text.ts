import { CANCELLED_TEXT } from '../orders/cancel.ts';
import type { Order, OrderStatus } from '../orders/order.ts';
import { refundTextOf } from '../orders/refund-text.ts';

/** How an order's state is shown to the shopper. */
export type OrderStatusText = {
  /** One or two words, for the stamp and the title. */
  stamp: string;
  heading: string;
  /** What is true now. It says only what a verification or a deadline has established. */
  truth: string;
  /** What the shopper should do, or not do. */
  advice: string;
  /** Whether it may change while the page is open, so that the page keeps asking. */
  changes: boolean;
  /** The button that leads to the payment page, worded so that no shopper pays twice. */
  pay: { heading: string; explanation: string; button: string; look: 'primary' | 'secondary' } | null;
  /** Whether the page names an address that the shopper can ask. */
  needsHelp: boolean;
};

/** The order stays the same, so whatever is paid counts towards it. */
const SAME_ORDER = 'The button opens the payment page for this same order.';

const TEXTS: Record<OrderStatus, OrderStatusText> = {
  paid: {
    stamp: 'Paid',
    heading: 'Thank you, your order is paid',
    truth: 'The payment service confirmed the full amount.',
    advice: 'There is nothing more to do. Keep the reference in case you want to ask about this order.',
    changes: false,
    pay: null,
    needsHelp: false,
  },
  pending: {
    stamp: 'Being confirmed',
    heading: 'Your payment is being confirmed',
    truth: 'The payment service has not told us yet that the money arrived. That can take a few minutes.',
    advice: 'If you have paid, do not pay again. You may close this page: we keep checking without it.',
    changes: true,
    pay: {
      heading: 'Left the payment page without paying?',
      explanation: `Then you can still pay. ${SAME_ORDER} If you have paid, or are not sure, wait instead.`,
      button: 'I have not paid: continue to payment',
      look: 'secondary',
    },
    needsHelp: false,
  },
  failed: {
    stamp: 'Not paid',
    heading: 'The payment did not go through',
    truth: 'The payment service says that it failed. As far as we know, nothing was charged.',
    advice: 'If your bank shows a charge nevertheless, do not pay again: ask us first.',
    changes: false,
    pay: {
      heading: 'Still want these things?',
      explanation: `${SAME_ORDER} Nothing needs to be chosen again.`,
      button: 'Try again',
      look: 'primary',
    },
    needsHelp: true,
  },
  expired: {
    stamp: 'Expired',
    heading: 'This order was not paid in time',
    truth: 'No confirmed payment reached us. As far as we know, nothing was charged.',
    advice: 'If your bank shows a charge nevertheless, do not pay again: ask us first.',
    changes: false,
    pay: {
      heading: 'Still want these things?',
      explanation: `${SAME_ORDER} The prices are those of the order.`,
      button: 'Try again',
      look: 'primary',
    },
    needsHelp: true,
  },
  review: {
    stamp: 'In review',
    heading: 'A person is looking at your payment',
    truth: 'What the payment service tells us does not fit this order, so a person at the shop checks it.',
    advice: 'Do not pay again. Your order is kept, and this page changes when the check is done.',
    changes: true,
    pay: null,
    needsHelp: true,
  },
  cancelled: {
    stamp: 'Cancelled',
    ...CANCELLED_TEXT,
    changes: false,
    pay: null,
    needsHelp: true,
  },
};

/** An order that another system placed and that has no payment yet: there is nothing to confirm. */
const UNTOUCHED: OrderStatusText = {
  stamp: 'Not paid yet',
  heading: 'This order is waiting for your payment',
  truth: 'No payment has been started for it.',
  advice: 'Look through the order before you pay.',
  changes: true,
  pay: {
    heading: 'Ready to pay?',
    explanation: 'You pay on the page of the payment service and come back here.',
    button: 'Continue to payment',
    look: 'primary',
  },
  needsHelp: false,
};

/** Its deadline has passed. */
const OVER: OrderStatusText = {
  stamp: 'Expired',
  heading: 'The time to pay for this order is over',
  truth: 'It was kept for you until the time shown here, and no confirmed payment reached us by then.',
  advice: 'Do not pay for it any more. If you have paid, ask us about your money.',
  changes: false,
  pay: null,
  needsHelp: true,
};

/** How an operator ended the review of some of an order's money. */
export type ReviewDecision = {
  /** A decision of suspense; one without a text of its own here is shown as the end of a check. */
  decision: string;
  /** Where the refund can be found, for a refund. */
  refundNote: string | null;
};

const ENDINGS: Record<string, string> = {
  refund: 'What was paid did not fit this order, and the shop has given it back.',
  credit: 'What was paid is counted towards something else that you buy here.',
  keep: 'As agreed with you, what was paid stays with the shop.',
};

/** After the review: the order itself was not paid, and its page shows only what was decided. */
function decidedText(decisions: readonly ReviewDecision[]): OrderStatusText {
  const words = [...new Set(decisions.map(({ decision }) => decision))];
  const isRefund = words.every((word) => word === 'refund');
  const numbers = decisions.flatMap(({ refundNote }) => (refundNote === null ? [] : [refundNote]));
  const endings = [
    ...new Set(
      words.map(
        (word) =>
          ENDINGS[word] ??
          'What was paid did not pay this order, and a person at the shop has decided about it.',
      ),
    ),
  ];
  return {
    stamp: isRefund ? 'Given back' : 'Decided',
    heading: isRefund ? 'Your payment was given back' : 'The check of your payment is finished',
    truth: [...endings, ...(numbers.length > 0 ? [`Number of the refund: ${numbers.join(', ')}.`] : [])].join(
      ' ',
    ),
    advice: isRefund
      ? 'It can take some days until your bank shows it. This order is closed: to have these things, order them again.'
      : 'This order is closed: do not pay for it again. If you expected something else, ask us.',
    changes: false,
    pay: null,
    needsHelp: true,
  };
}

export function statusTextOf(
  order: Pick<Order, 'status' | 'reference' | 'isOver' | 'total' | 'refunded' | 'refundedAt'>,
  decisions: readonly ReviewDecision[] | null = null,
): OrderStatusText {
  const { status, reference, isOver } = order;
  const refund = refundTextOf(order);
  if (status === 'paid' && refund !== null)
    return { ...TEXTS.paid, stamp: refund.stamp, heading: refund.heading, needsHelp: true };
  if ((status === 'review' || status === 'cancelled') && decisions !== null && decisions.length > 0)
    return decidedText(decisions);
  const isUntouched = status === 'pending' && reference === null;
  if (isOver && (isUntouched || status === 'failed' || status === 'expired')) return OVER;
  // What was paid just before the deadline is being confirmed.
  if (isOver && status === 'pending') return { ...TEXTS.pending, pay: null };
  return isUntouched ? UNTOUCHED : TEXTS[status];
}
