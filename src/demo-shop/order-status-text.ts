import type { Order } from '../orders/order.ts';
import { refundTextOf } from '../orders/refund-text.ts';
import { DEFAULT_LOCALE } from '../platform/locale.ts';
import { decidedText, extraText, heldText, type HeldMoney, type ReviewDecision } from './money-text.ts';
import { EN, type Words } from './words/en.ts';
import { moneyAbout } from '../cases/suspense.sql.ts';
import type { Queryable } from '../platform/database/database.ts';

export type { ReviewDecision } from './money-text.ts';

/** How an order's state is shown to the shopper. */
export type OrderStatusText = {
  /** One or two words, for the stamp and the title. */
  stamp: string;
  heading: string;
  /** What is true now. It says only what a verification, a deadline or a person has established. */
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

/** For whom the text is, and what it can say of money that did not simply pay the order. */
type Telling = {
  words?: Words;
  /** How amounts and dates are written. */
  locale?: string;
  /** Money of the order that is undecided. */
  held?: readonly HeldMoney[];
  /** Money of the paid order went back, and no refund explains it. */
  isGoneBack?: boolean;
};

type Shown = keyof Words['status'];
type Standing = Pick<Order, 'status' | 'reference' | 'isPastDeadline'>;
type ShownOrder = Standing & Pick<Order, 'total' | 'came' | 'refunded' | 'refundedAt'>;

/** @param decisions how a person decided about the order's money; null: not yet, or not about all of it */
export function statusTextOf(
  order: ShownOrder,
  decisions: readonly ReviewDecision[] | null = null,
  { words = EN, locale = DEFAULT_LOCALE, held = [], isGoneBack = false }: Telling = {},
): OrderStatusText {
  const shown = shownOf(order);
  const text = { ...words.status[shown], ...behaviourOf(shown, order, words) };
  const writing = { words, locale };
  const decided = decisions ?? [];
  if (shown === 'paid') {
    if (isGoneBack) return { ...text, ...words.goneBack, needsHelp: true };
    const paid = { ...text, ...extraText(order.total, held, decided, writing) };
    const refund = refundTextOf(order, locale, words.refunded);
    if (refund === null) return paid;
    const { stamp, heading, sentence } = refund;
    return { ...paid, stamp, heading, truth: sentence, advice: words.refunded.advice, needsHelp: true };
  }
  if (shown !== 'review' && shown !== 'cancelled' && shown !== 'over') return text;
  if (held.length > 0) return { ...text, ...heldText(order.total, shown, held, writing) };
  return decided.length === 0 ? text : { ...text, ...decidedText(decided, writing), changes: false };
}

function shownOf({ status, reference, isPastDeadline }: Standing): Shown {
  const isUntouched = status === 'pending' && reference === null;
  if (isPastDeadline && (isUntouched || status === 'failed' || status === 'expired')) return 'over';
  return isUntouched ? 'untouched' : status;
}

type Behaviour = Pick<OrderStatusText, 'changes' | 'pay' | 'needsHelp'>;

function behaviourOf(shown: Shown, { isPastDeadline }: Standing, { pay }: Words): Behaviour {
  switch (shown) {
    case 'paid':
      return { changes: false, pay: null, needsHelp: false };
    case 'pending':
      // What was paid just before the deadline is being confirmed.
      return {
        changes: true,
        pay: isPastDeadline ? null : { ...pay.pending, look: 'secondary' },
        needsHelp: false,
      };
    case 'untouched':
      return { changes: true, pay: { ...pay.untouched, look: 'primary' }, needsHelp: false };
    case 'failed':
    case 'expired':
      return { changes: false, pay: { ...pay[shown], look: 'primary' }, needsHelp: true };
    case 'review':
      return { changes: true, pay: null, needsHelp: true };
    case 'cancelled':
    case 'over':
      return { changes: false, pay: null, needsHelp: true };
  }
}

/**
 * What the shopper of an order reads on its page, as far as `db` sees: in a transaction, what would be read
 * after it.
 */
export async function shopperTextOf(db: Queryable, order: Order): Promise<OrderStatusText> {
  const { decisions, ...money } = await moneyAbout(db, order.id);
  return statusTextOf(order, decisions, money);
}
