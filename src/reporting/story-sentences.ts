import { caseText, caseTitle, written } from '../cases/case-text.ts';
import type { Money } from '../platform/money.ts';
import { answerText, moneyOf, whoIs, type Writing } from './order-words.ts';
import type { StoryEvent } from './timeline.sql.ts';

type Sentence = (event: StoryEvent, writing: Writing) => string | null;

/** What happened, in a sentence; null: only a developer needs it, or another row tells it. */
export function sentenceOf(event: StoryEvent, writing: Writing): string | null {
  return SENTENCES[event.source](event, writing);
}

const say = ({ facts }: StoryEvent, name: string): string | null => {
  const value = facts[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
};
/** Why, in the words of the person. */
const why = (event: StoryEvent): string => {
  const note = say(event, 'note') ?? say(event, 'reason');
  return note === null ? '.' : `: ‘${note}’.`;
};
const numbered = (event: StoryEvent): string => {
  const number = say(event, 'number') ?? say(event, 'refund');
  return number === null ? '' : `, number ${number}`;
};
const who = (event: StoryEvent): string => whoIs(say(event, 'by') ?? say(event, 'cause') ?? 'a person');
const moneyIn = (event: StoryEvent, { total }: Writing): Money | null => {
  const amount = say(event, 'amount');
  return amount === null ? null : moneyOf({ amount, currency: say(event, 'currency') ?? total.currency });
};
const amountIn = (event: StoryEvent, writing: Writing): string => {
  const money = moneyIn(event, writing);
  return money === null ? 'money' : written(money, writing.locale);
};

const NOTHING: Sentence = () => null;

/** An event that is not listed stands as the journal names it. */
const JOURNAL: Readonly<Record<string, Sentence>> = {
  'order-placed': (event) => `Order placed by ${who(event)}.`,
  'payment-open': (event) => (say(event, 'cause') === 'shopper' ? 'The payment page was opened.' : null),
  'payment-refused': () => 'The service refused to open a payment page.',
  'payment-ambiguous': (event) =>
    say(event, 'reason') === 'adopted'
      ? `${who(event)} gave a lost payment to this order: ‘${say(event, 'note') ?? ''}’.`
      : 'Whether the payment page opened is not known.',
  // A check tells the others.
  'payment-expired': (event) => (say(event, 'outcome') === null ? 'The payment expired.' : null),
  'order-paid': (event, writing) => {
    const [amount, currency] = say(event, 'accepted')?.split(' ') ?? [];
    const delivery =
      say(event, 'delivery') === 'unneeded' ? ' No delivery system is connected: nothing was sent.' : '';
    if (amount === undefined || currency === undefined) return `The order is paid.${delivery}`;
    const came = written(moneyOf({ amount, currency }), writing.locale);
    return `${who(event)} accepted ${came}, and the order is paid${why(event)}${delivery}`;
  },
  'order-cancelled': (event) =>
    say(event, 'item') === null ? `${who(event)} cancelled the order${why(event)}` : 'The order was closed.',
  'order-expired': () => 'The time to pay was over, and the order expired.',
  'order-reopened': (event) => `${who(event)} reopened the order${why(event)}`,
  'verification-contradicts': () => 'The service now says something else than before.',
  'surplus-refunded': (event) => `${who(event)} refunded what was too much${numbered(event)}${why(event)}`,
  'check-asked': (event) => `${who(event)} asked for a check${why(event)}`,
  'currency-released': (event) =>
    `${who(event)} allowed payments in ${say(event, 'currency')} again${why(event)}`,
  'release-delivered': () => 'Delivered.',
  'release-undelivered': (event) => `A delivery failed: ${say(event, 'error')}.`,
  'release-dead': (event) => `Delivery was given up: ${say(event, 'error')}.`,
  'release-withheld': () => 'The order will not be delivered by itself: all of the money went back.',
  'release-unneeded': () => 'The money is there again. Nothing was sent.',
  'release-redelivery': (event) => `${who(event)} had it delivered again${why(event)}`,
  'event-dead': (event) => `A message to your system was given up: ${say(event, 'error')}.`,
  'finding-assigned': (event) => `${who(event)} gave the case to ${say(event, 'owner')}${why(event)}`,
  'suspense-assigned': (event) => `${who(event)} gave the case to ${say(event, 'owner')}${why(event)}`,
  'person-shown': (event) => `${who(event)} looked at the customer’s address${why(event)}`,
  'email-erased': (event) => `${who(event)} erased the customer’s address${why(event)}`,
  ...Object.fromEntries(
    [
      'checkout-address',
      'payment-added',
      'payment-created',
      'payment-sending',
      'payment-failed',
      'payment-held',
      'payment-paid',
      'money-held',
      'finding-raised',
      'finding-resolved',
      'suspense-resolved',
      'refund-recorded',
      'event-delivered',
      'event-undelivered',
      'event-redelivery',
    ].map((event) => [event, NOTHING]),
  ),
};

const DECIDED: Readonly<Record<string, Sentence>> = {
  opened: (event, writing) =>
    `${amountIn(event, writing)} is held for a decision: ` +
    `${caseTitle(say(event, 'class') ?? '').toLowerCase()}.`,
  // The journal tells it with its reason.
  assigned: NOTHING,
  note: (event) => `${who(event)} noted${why(event)}`,
  earned: () => 'The money that was held paid the order.',
  // The order that is paid by it tells it.
  accept: NOTHING,
  refund: (event, writing) =>
    `${who(event)} gave back ${amountIn(event, writing)}${numbered(event)}${why(event)}`,
  credit: (event, writing) => `${who(event)} credited ${amountIn(event, writing)}${why(event)}`,
  keep: (event, writing) => `${who(event)} kept ${amountIn(event, writing)}${why(event)}`,
  write_off: (event, writing) => `${who(event)} wrote off ${amountIn(event, writing)}${why(event)}`,
  other: (event, writing) => `${who(event)} decided about ${amountIn(event, writing)}${why(event)}`,
};

const SENTENCES: Readonly<Record<StoryEvent['source'], Sentence>> = {
  journal: (event, writing) => {
    const known = JOURNAL[event.what];
    return known === undefined ? `${event.what.replaceAll('-', ' ')}.` : known(event, writing);
  },
  verification: (event, writing) => {
    const answer = answerText(event.what, moneyIn(event, writing), say(event, 'word'), writing);
    return `We asked the service: ${answer}.`;
  },
  webhook: (event) =>
    'The service told us that something changed (webhook, ' +
    `${event.facts.signed === 'signed' ? 'signed' : 'not signed'}).`,
  suspense: (event, writing) => DECIDED[event.what]?.(event, writing) ?? null,
  finding: (event, writing) => {
    if (event.what === 'note') return `${who(event)} noted${why(event)}`;
    if (event.what !== 'closed') {
      const facts = {
        class: event.what,
        expected: writing.total,
        actual: moneyIn(event, writing),
        held: null,
      };
      const { title, sentence } = caseText(facts, writing.locale);
      return `Reconciliation found: ${title}. ${sentence}`;
    }
    return say(event, 'by') === 'reconciliation'
      ? 'Reconciliation does not find it any more.'
      : `${who(event)} closed the case${why(event)}`;
  },
  refund: (event, writing) =>
    `${who(event)} wrote down a refund of ${amountIn(event, writing)}${numbered(event)}${why(event)}`,
  // Its entries in the journal tell it.
  release: NOTHING,
  key: NOTHING,
  event: NOTHING,
};
