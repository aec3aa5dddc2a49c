import { CANCELLED_TEXT } from '../../orders/cancel.ts';
import { REFUND_WORDS } from '../../orders/refund-text.ts';

const SAME_ORDER = 'The button opens the payment page for this same order.';
const KEPT = 'Your basket is kept; please try again later.';
const IF_PAID = 'If you have paid already, do not pay again: what you paid counts.';
const IF_CHARGED = 'If your bank shows a charge nevertheless, do not pay again: ask us first.';
const LOOKING = 'We are looking at it and will write to you.';
const KEEP_NUMBER = 'Keep the order number: it is the one to name when you write to us.';

/** Every text of the shopper's pages in English. Another language has the same ones, or does not compile. */
export const EN = {
  name: 'English',
  skip: 'Skip to the content',
  back: 'Back to the shop',
  demo: {
    ribbon: 'Demo shop',
    footer: (shop: string) => `${shop} sells nothing: it shows how a shop uses a hosted checkout.`,
    next: 'What happens now: nothing. This is a demo shop, and nothing is sent.',
    money: {
      test: 'no real money',
      live: 'live key: payments take real money',
      unknown: 'no real money with a test key',
    },
    heading: 'What happens when you buy',
    steps: [
      ['We price it', 'The server takes the prices from its own catalogue and writes down your order.'],
      [
        'You pay elsewhere',
        'The payment service shows its own page. Without a key that page is the built-in sandbox: you play ' +
          'the bank and decide whether the payment succeeds. Sandbox and test keys move no real money.',
      ],
      ['We check', 'Your order counts as paid only when the payment service has confirmed its exact amount.'],
    ],
  },
  shop: {
    title: 'Shop',
    heading: 'Things worth carrying home',
    lead: 'Each order is paid in one currency.',
    nothing: 'There is nothing on sale right now.',
    currencies: 'Currencies',
    quantity: 'Quantity',
    of: (product: string) => ` of ${product}`,
    basket: 'Your basket',
    plainHelp: 'Set how many you want of each, then pay. Zero means none.',
    email: 'E-mail',
    emailHelp: 'Given to the payment service with your payment.',
    emailOfDemo: 'To try the shop, ada@example.com will do.',
    pay: (currency: string) => `Pay in ${currency}`,
    stopped: (currency: string) => `Paying in ${currency} is not possible right now. ${KEPT}`,
    allStopped: `We take no new orders right now. ${KEPT}`,
    open: 'You have an open order',
    openHelp: 'If you have paid for it, do not pay again:',
    openLink: 'look at that order',
    openPay: 'I have not paid: continue to payment',
  },
  /** For the scripts: what stands in braces is filled in by the browser. */
  script: {
    add: 'Add to basket',
    less: 'one {name} less',
    more: 'one {name} more',
    remove: 'Remove',
    empty: 'Nothing in it yet.',
    goods: 'Goods {amount}',
    count: '{count} in basket',
    opening: 'Opening the payment page…',
    openOrder: 'The payment of your last order is not confirmed yet. Before you buy the same again:',
    openLink: 'Look at that order',
    watching: 'This page checks by itself.',
    changed: 'Your order has changed. Showing it as it is now.',
    stopped: 'This page has stopped checking. Load it again to see your order as it is then.',
  },
  order: {
    receipt: 'Receipt',
    unpaid: 'Your order',
    item: 'Item',
    amount: 'Amount',
    total: 'Total',
    paidAt: 'Paid',
    payBy: 'To be paid by',
    number: 'Order number',
    reference: 'Reference of the payment, for the payment service and your bank',
    checks: (seconds: number) => `This page checks every ${seconds} seconds.`,
    help: 'Need help?',
    write: 'Write to',
    name: 'and name the order number shown here.',
    subject: 'Order',
  },
  status: {
    paid: {
      stamp: 'Paid',
      heading: 'Thank you, your order is paid',
      truth: 'The payment service confirmed the full amount.',
      advice: `There is nothing more to pay. ${KEEP_NUMBER}`,
    },
    pending: {
      stamp: 'Not confirmed yet',
      heading: 'Your payment is not confirmed yet',
      truth: 'If you paid, we hear of it from the payment service. That can take a few minutes.',
      advice: 'If you have paid, do not pay again. You may close this page: we keep checking without it.',
    },
    failed: {
      stamp: 'Not paid',
      heading: 'The payment did not go through',
      truth: 'The payment service says that it failed. As far as we know, nothing was charged.',
      advice: IF_CHARGED,
    },
    expired: {
      stamp: 'Expired',
      heading: 'This order was not paid in time',
      truth: 'No confirmed payment reached us. As far as we know, nothing was charged.',
      advice: IF_CHARGED,
    },
    review: {
      stamp: 'In review',
      heading: 'We are looking at your payment',
      truth: `What the payment service tells us does not match this order. ${LOOKING}`,
      advice: 'Do not pay again. Your order is kept, and this page changes when the check is done.',
    },
    cancelled: { stamp: 'Cancelled', ...CANCELLED_TEXT },
    untouched: {
      stamp: 'Not paid yet',
      heading: 'This order is waiting for your payment',
      truth: 'No payment has been started for it.',
      advice: 'Look through the order before you pay.',
    },
    over: {
      stamp: 'Expired',
      heading: 'The time to pay for this order is over',
      truth: 'It was kept for you until the time shown here, and no confirmed payment reached us by then.',
      advice: 'Do not pay for it any more. If you have paid, ask us about your money.',
    },
  },
  pay: {
    pending: {
      heading: 'Left the payment page without paying?',
      explanation: `Then you can still pay. ${SAME_ORDER} If you have paid, or are not sure, wait instead.`,
      button: 'I have not paid: continue to payment',
    },
    failed: {
      heading: 'Try again?',
      explanation: `${SAME_ORDER} Your basket is kept, too.`,
      button: 'Try again',
    },
    expired: {
      heading: 'Try again?',
      explanation: `${SAME_ORDER} The prices are those of the order.`,
      button: 'Try again',
    },
    untouched: {
      heading: 'Ready to pay?',
      explanation: 'You pay on the page of the payment service and come back here.',
      button: 'Continue to payment',
    },
  },
  /** What came and did not simply pay the order. Amounts are written out. */
  came: {
    received: (came: string, asked: string) => `We received ${came} of ${asked}. ${LOOKING}`,
    other: (came: string, asked: string) => `We received ${came} for an order of ${asked}. ${LOOKING}`,
    tooMuch: (came: string, asked: string, surplus: string) =>
      `We received ${came} for an order of ${asked}. We will refund the ${surplus} too much.`,
    surplusSent: (came: string, surplus: string, number: string) =>
      `We received ${came} and refunded the ${surplus} too much, number ${number}. ` +
      'As soon as the payment service confirms that, your order is paid.',
    chargedAgain: (surplus: string) =>
      `You paid ${surplus} more than this order costs. We will refund what you do not owe.`,
    afterCancelling: (came: string) => `We received ${came} after this order was cancelled. ${LOOKING}`,
    afterDeadline: (came: string) => `We received ${came} after the time to pay was over. ${LOOKING}`,
    doNotPay: 'Do not pay again. You do not need to do anything.',
    surplusRefunded: (surplus: string, number: string) =>
      `We refunded the ${surplus} that you had paid too much, number ${number}.`,
    accepted: (came: string) => `We accepted ${came} as the payment of this order.`,
  },
  /** How the money of an order that it did not pay was decided about. `of` is an amount or `yours`. */
  decided: {
    yours: 'your payment',
    refundStamp: 'Refunded',
    refundHeading: 'Your payment was refunded',
    stamp: 'Closed',
    heading: 'This order is closed',
    refund: (of: string, number: string | null) =>
      `We refunded ${of}${number === null ? '' : `, number ${number}`}.`,
    credit: (of: string) => `We counted ${of} towards something else that you buy here.`,
    keep: (of: string) => `As agreed with you, we kept ${of}.`,
    write_off: (of: string) =>
      `We did not return ${of}: that would have cost more than it is, or we could not find out whose it was.`,
    other: (of: string) => `We did not count ${of} as the payment of this order.`,
    refundAdvice: 'It can take some days until your bank shows it. To have these things, order them again.',
    advice: 'Do not pay for this order again. Write to us if you think otherwise.',
  },
  refunded: { ...REFUND_WORDS, advice: KEEP_NUMBER },
  goneBack: {
    stamp: 'Money went back',
    heading: 'Money of this order went back',
    truth: 'The payment service shows that money went back after this order was paid.',
    advice: 'Do not pay again. If you did not expect this, write to us: we are looking at it.',
  },
  problems: {
    'not-found': ['There is nothing here', 'Check the address: perhaps a letter is missing.'],
    'already-paid': ['This order is paid already', 'Do not pay again.'],
    'under-review': ['We are looking at a payment of this order', 'Do not pay again.'],
    'order-cancelled': ['This order was cancelled', 'To have these things, order them again.'],
    'order-expired': ['The time to pay for this order is over', 'To have these things, order them again.'],
    'out-of-stock': ['There is not enough of it left', 'Choose less of it. Nothing was charged.'],
    'request-in-flight': ['Your order is on its way', 'Wait a moment, then go back and try again.'],
    'invalid-input': ['Something is missing', 'Go back, look through what you entered, and try again.'],
    'too-many-requests': ['That was too often', 'Wait a minute, then go back and try again.'],
    'payment-refused': ['The payment page could not be opened', `${KEPT} Nothing was charged.`],
    'payment-service-unavailable': ['The payment page cannot be opened right now', `${KEPT} ${IF_PAID}`],
    'currency-stopped': ['This currency cannot be used right now', IF_PAID],
    'checkouts-stopped': ['We take no new orders right now', `${KEPT} ${IF_PAID}`],
    'database-unavailable': ['We cannot show this right now', `Nothing is lost. ${IF_PAID}`],
    other: ['That did not work', `Go back and try again. ${IF_PAID}`],
  },
  faults: {
    email: 'Please enter your whole e-mail address.',
    items: 'Your basket is empty, or something in it is not on sale any more.',
  },
};

export type Words = typeof EN;
