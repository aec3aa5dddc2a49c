import { caseAdvice, caseText, written } from '../cases/case-text.ts';
import { SHOWS_MONEY, SHOWS_NO_MONEY } from '../orders/money-shown.ts';
import { DEFAULT_LOCALE } from '../platform/locale.ts';
import { displayMajor, formatMajor } from '../platform/money.ts';
import type { OpenCase } from './circumstances.sql.ts';
import type { OrderDetail } from './order-detail.ts';
import { answerText, minuteOf, moneyOf, sentence, whoIs, type Writing } from './order-words.ts';
import { writingOf } from './story-text.ts';

/** Where an order stands: what an operator has to know before anything else. */
export type Standing = {
  /**
   * `open`: a person has to decide; `bad`: something failed; `good`: paid and on its way; `quiet`: the rest.
   */
  tone: 'open' | 'bad' | 'good' | 'quiet';
  /** What is true now. */
  text: string;
  /** What to do, or to wait for. */
  next: string;
};

/** Of the case that has waited longest, else of the order's status. Times in UTC, amounts in major units. */
export function standingOf(detail: OrderDetail, locale = DEFAULT_LOCALE): Standing {
  const [first, ...more] = detail.cases;
  const standing =
    first === undefined
      ? BY_STATUS[detail.status](detail, locale)
      : caseStanding(detail, first, more.length, locale);
  return { ...standing, text: sentence(standing.text), next: sentence(standing.next) };
}

/** One line of goods, and how many more there are: `2 × Bakhoor incense and 3 more`. */
export function goodsOf({ lines: [first, ...more] }: Pick<OrderDetail, 'lines'>): string {
  if (first === undefined) return 'Order';
  const goods = `${first.quantity} × ${first.description}`;
  return more.length === 0 ? goods : `${goods} and ${more.length} more`;
}

/** The status in words, with what went back of a paid order. */
export function stateOf({ status, refunded, currency, cameAmount }: OrderDetail): string {
  if (status === 'review') return 'in review';
  if (status !== 'paid' || !/[1-9]/.test(refunded)) return status;
  return cameAmount !== null && refunded === formatMajor(moneyOf({ amount: cameAmount, currency }))
    ? 'refunded'
    : 'refunded in part';
}

/** The reason that `end_decided_order` in prisma/schema.sql writes. */
const DECIDED = /^its money was decided about: (\w+)$/;

type ByStatus = (detail: OrderDetail, locale: string) => Standing;

const BY_STATUS: Readonly<Record<OrderDetail['status'], ByStatus>> = {
  paid: (detail, locale) => {
    const texts = [paymentText(detail, locale), refundText(detail, locale), deliveryText(detail)];
    return {
      tone: deliveryTone(detail),
      text: texts.filter((text) => text !== '').join(' '),
      next: deliveryNext(detail),
    };
  },
  pending: ({ payments, payBy }) => {
    const [next] = payments
      .flatMap(({ nextCheckAt }) => nextCheckAt ?? [])
      .sort((a, b) => a.getTime() - b.getTime());
    const until = payBy === null ? '' : ` It can be paid until ${minuteOf(payBy)}.`;
    const asked = next === undefined ? '' : ` The service is asked again on ${minuteOf(next)}.`;
    return {
      tone: 'quiet',
      text:
        payments.length === 0
          ? `Not paid yet: no payment was started.${until}`
          : `Not paid yet.${asked}${until}`,
      next: 'Wait. When the service confirms the money, the order becomes paid by itself.',
    };
  },
  failed: (detail, locale) => ({
    tone: 'quiet',
    text: `Not paid: ${lastAnswer(detail, writingOf(detail, locale)) ?? 'no payment page was opened'}.`,
    next: 'Nothing to do. The shopper can pay again on the order’s page.',
  }),
  expired: ({ expiredAt, payBy }) =>
    expiredAt === null
      ? {
          tone: 'quiet',
          text: 'Nobody paid in time, and no money came.',
          next: 'Nothing to do. The shopper can pay again on the order’s page.',
        }
      : {
          tone: 'quiet',
          text: `The time to pay ended on ${minuteOf(payBy ?? expiredAt)}, and no money came.`,
          next: 'Nothing to do. Money that comes now is held for a decision.',
        },
  cancelled: ({ cancelledAt, cancelledBy, cancelReason }) => {
    const on = cancelledAt === null ? '' : ` on ${minuteOf(cancelledAt)}`;
    const by = whoIs(cancelledBy ?? 'a person');
    const decision = DECIDED.exec(cancelReason ?? '')?.[1];
    return decision === undefined
      ? {
          tone: 'quiet',
          text: `Cancelled${on} by ${by}: ‘${cancelReason ?? ''}’.`,
          next: 'Nothing to do. Money that comes now is held for a decision. Reopen the order if it is to be paid.',
        }
      : {
          tone: 'quiet',
          text: `Closed${on} by ${by}, who decided about its money: ${decision.replaceAll('_', ' ')}.`,
          next: 'Nothing to do.',
        };
  },
  review: (detail, locale) => ({
    tone: 'open',
    text: `The service’s answer does not fit this order: ${
      lastAnswer(detail, writingOf(detail, locale)) ?? 'it has not answered yet'
    }. ${deliveryText(detail)}`,
    next: 'Check with the payment service now. If the answer stays, ask the service about this payment.',
  }),
};

const DELIVERY_NEXT: Readonly<Record<NonNullable<OrderDetail['delivery']>, string>> = {
  delivered: 'Nothing to do.',
  waiting: 'Nothing to do. The delivery is tried until it succeeds, for three days.',
  dead: 'When the delivery system works again, deliver the order again.',
  unneeded: 'Deliver it by hand, or connect a delivery system (FULFILMENT_URL).',
  withheld: 'All of the money had gone back. If it is there again, send the order all the same.',
};

function caseStanding(detail: OrderDetail, open: OpenCase, more: number, locale: string): Standing {
  const writing = writingOf(detail, locale);
  const [actual, held] = [open.actual, open.held].map((money) => (money === null ? null : moneyOf(money)));
  const { title, sentence: what } = caseText(
    { class: open.class, expected: writing.total, actual: actual ?? null, held: held ?? null },
    locale,
  );
  const others = more === 0 ? '' : ` ${more} more ${more === 1 ? 'case waits' : 'cases wait'}.`;
  return {
    tone: 'open',
    text: `${what === '' ? `${title}.` : what} ${deliveryText(detail)}${others}`,
    next: caseNext(detail, open),
  };
}

function caseNext({ status }: OrderDetail, { class: name, surplusRefund: number }: OpenCase): string {
  if (number === null) return `${caseAdvice(name).replace(/\.$/, '')}.`;
  // A person accepted what came after the refund had been noted.
  if (status === 'paid') return `The refund ${number} was noted. Close the case with that number.`;
  return `Wait. The refund ${number} was noted. When the service shows the exact amount, the order is paid by itself.`;
}

function paymentText({ paidAt, acceptedBy, acceptedAmount, currency }: OrderDetail, locale: string): string {
  const when = paidAt === null ? 'Paid' : `Paid on ${minuteOf(paidAt)}`;
  if (acceptedBy === null || acceptedAmount === null) return `${when} and confirmed by the service.`;
  return `${when}: ${acceptedBy} accepted ${written(moneyOf({ amount: acceptedAmount, currency }), locale)}.`;
}

function refundText(detail: OrderDetail, locale: string): string {
  const state = stateOf(detail);
  if (state === 'refunded') return 'All of it was refunded.';
  if (state === 'paid') return '';
  return `${displayMajor(detail.refunded, detail.currency, locale)} of it was refunded.`;
}

/** As `IS_HELD_BACK` of the deliveries: verify shows the money as gone, and no person has asked since. */
function isHeldBack({ delivery, story }: OrderDetail): boolean {
  if (delivery !== 'waiting') return false;
  const paying = story.find(({ source }) => source === 'release')?.reference;
  const said = ['release-redelivery', ...SHOWS_MONEY, ...SHOWS_NO_MONEY];
  const last = story.findLast(
    ({ source, what, reference }) =>
      reference === paying && said.includes(what) && (source === 'verification' || source === 'journal'),
  );
  return SHOWS_NO_MONEY.includes(last?.what ?? '');
}

function deliveryTone(detail: OrderDetail): Standing['tone'] {
  const { delivery, attempts, lastError } = detail;
  if (delivery === 'dead') return 'bad';
  if (delivery === 'withheld') return 'quiet';
  const isFailing = delivery === 'waiting' && (attempts ?? 0) > 0 && lastError !== null;
  return isFailing || isHeldBack(detail) ? 'open' : 'good';
}

function deliveryNext(detail: OrderDetail): string {
  const { delivery } = detail;
  if (stateOf(detail) === 'refunded' && delivery !== 'delivered') return 'Do not deliver it by hand either.';
  return isHeldBack(detail)
    ? 'Ask the service about this payment. If its money is there, deliver the order again.'
    : DELIVERY_NEXT[delivery ?? 'delivered'];
}

function deliveryText(detail: OrderDetail): string {
  const { delivery, attempts, lastError, deliveredAt, nextDeliveryAt } = detail;
  const failed = `${attempts ?? 0} ${attempts === 1 ? 'attempt' : 'attempts'} (${lastError ?? 'no error noted'})`;
  switch (delivery) {
    case null:
      return 'Nothing was delivered.';
    case 'delivered':
      return deliveredAt === null ? 'Delivered.' : `Delivered on ${minuteOf(deliveredAt)}.`;
    case 'dead':
      return `Delivery was given up after ${failed}.`;
    case 'withheld':
      return attempts === 0
        ? 'It was not sent, and will not be sent by itself.'
        : `It was not delivered in ${failed}, and no further attempt is made.`;
    case 'unneeded':
      return 'No delivery system is connected, so nothing was sent.';
    case 'waiting':
      if (isHeldBack(detail)) return 'The delivery waits: the service shows its money as gone.';
      if (lastError === null) return 'The delivery is under way.';
      return `Not delivered yet after ${failed}; next attempt on ${nextDeliveryAt === null ? 'request' : minuteOf(nextDeliveryAt)}.`;
  }
}

function lastAnswer({ story }: OrderDetail, writing: Writing): string | null {
  const answer = story.findLast(({ source }) => source === 'verification');
  if (answer === undefined) return null;
  const { amount, currency, word } = answer.facts;
  const came =
    typeof amount === 'string'
      ? moneyOf({ amount, currency: typeof currency === 'string' ? currency : writing.total.currency })
      : null;
  return answerText(answer.what, came, typeof word === 'string' ? word : null, writing);
}
