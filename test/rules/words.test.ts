import { expect, test } from '@jest/globals';
import type { CaseClass } from '../../src/cases/classes.ts';
import { BOOK_FIGURES, type Booking } from '../../src/ledger/books.ts';
import { EMPTY, book, observeVerify } from '../../src/ledger/ledger.ts';
import { columnsOf } from '../../src/ledger/stored.ts';
import { atText, dateOf, startOfDay, timeOf, whenText } from '../../src/custom/days.ts';
import { amountText, balanceWords, caseWords, masked, orderWords, TEXTS } from '../../src/reporting/words.ts';
import type { Told, ToldCase, ToldPayment, Words } from '../../src/reporting/words.ts';

// The texts for people, about every state of an order and every class of a case. Lagos is an hour
// ahead of UTC.

const VIEW = { now: new Date('2026-11-26T12:00:00Z'), timeZone: 'Africa/Lagos' };
const PAID_AT = new Date('2026-11-25T12:33:00Z');
const [REFERENCE, FIRST] = ['c8wnzg3tc8wnzg3tc8wnzg3tcc', '1fj9vztx1fj9vztx1fj9vztx1f'];

/** What verify reports about the charge, and what is booked. */
type Money = Booking & { received?: bigint; outflow?: bigint; currency?: string };
const NO_CASE = { decision: null, closedAt: null, closedBy: null, number: null, evidence: {}, held: 0n, missing: 0n };
const aCase = (more: object = {}) => ({ ...NO_CASE, currency: 'NGN', ...more });

/** A ledger as its row stores it. */
function rowOf({ received = 0n, outflow = 0n, currency = 'NGN', ...booking }: Money) {
  const charge = { id: 'c1', isHere: true, received, balance: received - outflow, isDoubted: false };
  const reported = received > 0n ? observeVerify(EMPTY, { ...charge, outcome: 'paid' }) : EMPTY;
  return { ...columnsOf(book(reported, booking, PAID_AT)), reference: REFERENCE, currency, historyWord: null };
}

/** A payment with its ledger. */
const payment = (money: Money = {}, more: object = {}): ToldPayment =>
  ({
    ...{
      reference: REFERENCE,
      amount: 850_000n,
      currency: 'NGN',
      nextCheckAt: null,
      checkoutUrl: 'https://…',
      cases: [],
      ...more,
    },
    ledgers: [rowOf(money)],
  }) as unknown as ToldPayment;

const OPEN = { endedAt: null, endedBy: null, endReason: null, payBy: null, paidAt: null, paidReference: null };
const order = (more: object = {}): Told =>
  ({
    ...{ amount: 850_000n, currency: 'NGN', status: 'pending', ...OPEN, proof: null, partPaid: 0n },
    ...{ payments: [payment()], refunds: [], messages: [], ...more },
  }) as unknown as Told;

const SENT = { tries: 1, nextTryAt: null, heldBy: null, lastError: null, sentAt: PAID_AT };
const UNSENT = { ...SENT, sentAt: null };
/** A paid order with its message. */
const paid = (money: Money, message: object = SENT, more: object = {}, acceptedBy: string | null = null): Told =>
  order({
    ...{ status: 'paid', paidReference: REFERENCE, paidAt: PAID_AT, messages: [message] },
    ...{
      payments: [payment(money)],
      proof: { acceptedBy, at: new Date('2026-10-22T12:00:00Z'), payments: [{ reference: REFERENCE }] },
      ...more,
    },
  });
const LATER = new Date('2026-11-26T13:10:00Z');
const SILENT = { ...UNSENT, tries: 3, lastError: 'HTTP 503', nextTryAt: LATER };
const ALL = { received: 850_000n, captured: 850_000n };
const LESS = { received: 800_000n, captured: 800_000n };
const PART = { ...ALL, refunded: 1_000n };
const REFUND = { refunds: [{ externalId: 'RF-2303', at: VIEW.now }] };
const by = (decision: string, more: object = {}) =>
  aCase({ decision, closedBy: 'Ngozi', closedAt: PAID_AT, number: 'RF-2301', ...more });
const away = (money: Money): ToldPayment =>
  payment({ received: 1_000_000n, returned: 1_000_000n, outflow: 1_000_000n, ...money }, { cases: [by('refund')] });
const TWICE = { payments: [payment(ALL), away({})] };
const KEPT = payment({ received: 5n, retained: 5n }, { cases: [by('keep')] });
const LOST = payment({ ...ALL, outflow: 850_000n, writtenOff: 850_000n }, { cases: [by('write-off')] });
const GONE = payment({ ...ALL, outflow: 850_000n }, { cases: [by('explain')] });
const ended = (endedBy: string, more: object = {}) =>
  order({ status: 'cancelled', endedBy, endedAt: PAID_AT, endReason: 'does not want it', ...more });

/** Badge, sentence and next step, joined. */
const ORDERS: [what: string, order: Told, words: RegExp][] = [
  [
    'waiting',
    order({ payments: [payment({}, { nextCheckAt: LATER })] }),
    /^Waiting Not paid yet. .* today at 14:10. No/,
  ],
  ['never opened', order({ payments: [] }), /^Waiting Not paid yet: no payment page was opened. Nothing. The customer/],
  ['sent', paid(ALL), /^Paid Paid NGN 8,500.00 yesterday at 13:33, .* Sent to shipping yesterday at 13:33. Nothing.$/],
  [
    'shipping is silent',
    paid(ALL, SILENT),
    /^Not sent Paid NGN 8,500.00. .* \(tries: 3\); next try today at 14:10. .* days/,
  ],
  ['given up', paid(ALL, UNSENT), /^Not sent Paid NGN 8,500.00. We tried .* gave up. When it works again/],
  ['none connected', paid(ALL, { ...UNSENT, tries: 0 }), /^Paid Paid NGN 8,500.00. No shipping .* Send the goods/],
  [
    'held back',
    paid(ALL, { ...UNSENT, heldBy: 'missing money' }),
    /^Not sent .* its money is not surely shown. Send noth/,
  ],
  [
    'accepted',
    paid(LESS, SENT, {}, 'Ngozi'),
    /^Paid Paid NGN 8,000.00 for .* 8,500.00; Ngozi accepted that on 22 Oct 13:00. Sent/,
  ],
  [
    'refunded in part',
    paid({ ...PART, outflow: 1_000n }, SENT, REFUND),
    /^Part .* 8,500.00; NGN 10.00 .*, number RF-2303. .*490.00 is/,
  ],
  [
    'paid twice',
    paid(ALL, SENT, TWICE),
    /^Paid Paid NGN 8,500.00 .* NGN 10,000.00 that came on top was returned, number RF-2301. Sent/,
  ],
  ['refund not shown', paid(PART, SENT, REFUND), /^Part refunded NGN 10.00 is written down .* until 6 Dec 13:00\./],
  [
    'refunded',
    ended('Ngozi', { payments: [away({})] }),
    /^Refunded All .* NGN 10,000.00, number RF-2301. Nothing was sent/,
  ],
  [
    'other currency',
    ended('Ngozi', { payments: [away({ currency: 'USD' })] }),
    /^Refunded All of it was refunded: USD 10,0/,
  ],
  [
    'kept',
    ended('Ngozi', { payments: [KEPT] }),
    /^Closed We keep NGN 0.05; Ngozi decided that yesterday at 13:33. Nothing was/,
  ],
  ['failed', order({ status: 'failed' }), /^Not paid Not paid: no payment went through, .* try again/],
  [
    'too late',
    ended('deadline', { payBy: PAID_AT }),
    /^Not paid Not paid: nobody paid until yesterday at 13:33. .* held for/,
  ],
  [
    'cancelled',
    ended('Tunde'),
    /^Cancelled Tunde cancelled this yesterday at 13:33: “does not want it” Nothing. .* held for you/,
  ],
  [
    'lost',
    paid({}, SENT, { payments: [LOST] }),
    /^Reversed NGN 8,500.00 was reversed and written off by Ngozi .* 13:33. NGN 0.00 is ours. Nothing/,
  ],
  [
    'explained, and nothing is gone',
    paid(ALL, SENT, { payments: [payment(ALL, { cases: [by('explain', { acknowledged: new Uint8Array() })] })] }),
    /^Paid Paid NGN 8,500.00 .*something else later; Ngozi explained it yesterday at 13:33. Nothing/,
  ],
  // The words depend on the ledger, whether or not a case is open.
  [
    'explained',
    paid({}, SENT, { payments: [GONE] }),
    /^Reversed NGN 8,500.00 of NGN 8,500.00 was reversed; Ngozi explained it yesterday .* Nothing/,
  ],
];

const wordsOf = ({ badge, sentence, next }: Words): string => `${badge} ${sentence} ${next}`;
test.each(ORDERS)('the words of an order: %s', (_what, one, words) => {
  expect(wordsOf(orderWords(one, VIEW))).toMatch(words);
});

const held = (amount: bigint, more: object = {}) => ({ held: amount, ...more });
const said = { evidence: { verifyWord: 'ON_HOLD', verifyDoubt: 'amount_received differs' } };
const ASKED = { payment: payment({}, { cases: [{ ...by('ask-rest'), held: 500_000n }] }) };
const AFTER = { payment: payment({}, { cases: [by('refund')] }) };
const CASES_TOLD: [name: string, one: object, order: Told | null, words: RegExp][] = [
  ['underpaid', held(800_000n), order(), /^Paid too little .*8,000.00 .* 8,500.00: NGN 500.00 is missing.*refund the/],
  [
    'underpaid',
    held(500_000n, ASKED),
    order({ partPaid: 500_000n }),
    /^Part paid NGN 5,000.00 .* 8,500.00. .* the rest, NGN 3,500.00. .*refund the NGN 5,000.00/,
  ],
  ['overpaid', held(900_000n), order(), /^Paid too much .*NGN 500.00 too much.* Refund NGN 500.00 .* then paid/],
  ['duplicate_payment', held(850_000n), paid(ALL, SENT, { paidReference: FIRST }), /second.* Not 1fj9vztx…/],
  ['charged_again', held(850_000n), paid(ALL), /^Paid twice .*charged again: NGN 8,500.00.* of c8wnzg3t…/],
  ['paid_after_end', held(850_000n), ended('Tunde'), /^Paid late .*for an order that was cancelled.* reopen/],
  ['paid_after_end', held(850_000n), ended('deadline'), /^Paid late .*for an order that was over.* reopen/],
  [
    'paid_after_decision',
    held(5n, AFTER),
    order(),
    /^Paid late .*that Ngozi had closed yesterday at 13:33. If the payment/,
  ],
  ['currency_mismatch', held(1_200n, { currency: 'USD' }), order(), /^Another currency USD 12.00 .* NGN 8,500.00/],
  ['unit_error', held(85_000_000n), order(), /^Wrong unit .*exactly 100 times as much.* Do not refund or accept/],
  ['unit_error', held(8_500n), order(), /^Wrong unit .*exactly 1\/100 of it/],
  ['reversed', { missing: 100n, payment: payment(ALL) }, paid(ALL), /^Reversed .*1.00 of NGN 8,500.00.* parcel/],
  [
    'reversed',
    { missing: 100n, payment: payment(ALL) },
    paid(ALL, SENT, { paidReference: FIRST, proof: { acceptedBy: null, payments: [{ reference: FIRST }] } }),
    /paid no order.*Write it off.*send it/,
  ],
  ['contradicted', { missing: 100n }, paid(ALL), /^Contradicted We were told .* Send nothing more.* c8wnzg3t…/],
  ['contradicted', held(100n), order(), /^Contradicted .*reported NGN 1.00 .* Send nothing\./],
  ['absent_from_history', { payment: payment(ALL) }, paid(ALL), /^Not in the history .*does not show .* NGN 8,500.00/],
  ['refund_not_shown', { missing: 100n }, paid(ALL), /^Refund not shown NGN 1.00 was written down .* record that here/],
  ['unknown_reference', held(200_000n), null, /^Without an order .*NGN 2,000.00 that belongs to no order.* who paid/],
  ['unknown_status', said, order(), /^Unknown answer .*“ON_HOLD”.* keep asking/],
  ['unproven', said, order(), /^In doubt .*proves nothing: amount_received differs\. Nothing is lost/],
  ['unproven', held(850_000n, said), order(), /^In doubt NGN 8,500.00 was received, but is in doubt: amount.* refund/],
  ['unreadable', {}, order(), /^Not readable For a day we could not read .* developer/],
];
const told = (name: string, one: object, its: Told | null, more: object = {}): ToldCase =>
  ({ ...aCase(), payment: payment(), class: name, ...one, order: its, ...more }) as unknown as ToldCase;

test.each(CASES_TOLD)('the words of a case: %s', (name, one, its, words) => {
  expect(wordsOf(caseWords(told(name, one, its), VIEW))).toMatch(words);
});

/** It does not compile if a class is missing. */
const CLASSES = {
  ...{ unknown_reference: true, currency_mismatch: true, paid_after_decision: true, charged_again: true },
  ...{ duplicate_payment: true, paid_after_end: true, unit_error: true, underpaid: true, overpaid: true },
  ...{ reversed: true, absent_from_history: true, refund_not_shown: true, contradicted: true, unproven: true },
  ...{ unknown_status: true, unreadable: true },
} satisfies Record<CaseClass, true>;
const WITH_MONEY = [
  'reversed, explained',
  'underpaid, asked',
  'contradicted, held',
  'unproven, held',
  'reversed, kept',
  'balance',
];
/**
 * Every figure of the journal that people see, including those of version 1.0.0, and every other
 * line of the journal that has its own words.
 */
const OLD_COUNTERS = ['came', 'went', 'earned', 'kept', 'sendBack', 'byItself', 'lost'];
const ELSEWHERE = ['sendBackElsewhere', 'refundedElsewhere'];
const COUNTERS: string[] = ['received', 'outflow', ...BOOK_FIGURES, ...OLD_COUNTERS, ...ELSEWHERE];
const LINES = [
  'answer',
  'next payment',
  'verification asked',
  'marked paid',
  'released',
  'case opened',
  'case changed',
  'case closed',
  'decided',
  'any',
];
const NEW_WORDS = ['accepted captured', 'decided returned'];
const WITH_COUNTER = ['initialize opened', 'accepted earned', 'decided sendBack', ...NEW_WORDS];

test('every state, every class and every line of the journal has words, and no words are unused', () => {
  expect(Object.keys(TEXTS.cases).sort()).toEqual([...Object.keys(CLASSES), ...WITH_MONEY].sort());
  expect(new Set(CASES_TOLD.map(([name]) => name))).toEqual(new Set(Object.keys(CLASSES)));
  expect(Object.keys(TEXTS.happened).sort()).toEqual([...COUNTERS, ...LINES, ...WITH_COUNTER].sort());
  const told = ORDERS.map(([, one]) => orderWords(one, VIEW).sentence);
  const shape = (text: string) => text.split(/\{\w+\}/).filter((part) => part.length > 2);
  const isTold = (text: string) => told.some((one) => shape(text).every((part) => one.includes(part.trim())));
  const untold = Object.entries(TEXTS.states).filter(([, { sentence }]) => !isTold(sentence));
  expect(untold.map(([name]) => name)).toEqual(['unmatched', 'unmatchedClosed']);
  expect(wordsOf(balanceWords({ amount: -120_000n, currency: 'NGN' }))).toContain('NGN 1,200.00 lower than');
});

const FORBIDDEN =
  /\b(findings?|cases?|suspense|releases?d?|events?|hints?|verif\w+|dialect|gateway|run|minor|delivered|reconcil\w+|send back|sent back|give back)\b|(?<!payment )\bservice\b/i;

test('no line has technical words or is too long, whatever values it contains', () => {
  const words = [...Object.values(TEXTS.states), ...Object.values(TEXTS.cases)].flatMap((one) => Object.values(one));
  const lines = [...words, ...Object.values(TEXTS.happened), ...Object.values(TEXTS.who)];
  expect(lines.filter((line) => FORBIDDEN.test(line))).toEqual([]);
  const texts = (
    amount: bigint,
    long = { note: 'x'.repeat(500), closedBy: 'N'.repeat(100), number: 'R'.repeat(100) },
  ) =>
    [
      ...ORDERS.map(([, one]) => orderWords({ ...one, amount, endReason: long.note }, VIEW)),
      ...CASES_TOLD.map(([name, one, its]) => caseWords(told(name, { ...one, ...long }, its, { held: amount }), VIEW)),
    ].flatMap(({ badge, sentence, next }) => [badge, sentence, next]);
  const isBad = (text: string): boolean => text.length > 140 || text === '' || /[{}]|undefined|null|Invalid/.test(text);
  expect(texts(9_223_372_036_854_775_807n).filter(isBad)).toEqual([]);
  // Nothing is cut off if amounts are in the range of a shop.
  expect(texts(99_999_999_999n).filter((text) => isBad(text) || text.endsWith('…'))).toEqual([]);
});

test('amounts and e-mail addresses are written as people write them', () => {
  expect([1_275_000n, -1_000n, 5n].map((amount) => amountText({ amount, currency: 'NGN' }))).toEqual([
    ...['NGN 12,750.00', 'NGN −10.00', 'NGN 0.05'],
  ]);
  expect([amountText({ amount: 65_000n, currency: 'XOF' }), amountText({ amount: 18_500n, currency: 'KWD' })]).toEqual([
    ...['XOF 65,000', 'KWD 18.500'],
  ]);
  const addresses = ['ada@example.com', 'olu1@example.com', 'olu2@example.com', '"a@b"@example.com', 'nobody', '@x'];
  expect(addresses.map(masked)).toEqual([
    ...['a***@example.com', 'o***1@example.com', 'o***2@example.com', '"***"@example.com', 'nobody', '***@x'],
  ]);
});

test('times are in the shop’s time zone', () => {
  const at = ['2026-11-26T10:00:00Z', '2026-11-25T23:30:00Z', '2026-11-25T22:30:00Z', '2025-03-01T10:00:00Z'];
  const texts = at.map((time) => whenText(new Date(time), VIEW));
  expect(texts).toEqual(['11:00', '00:30', 'yesterday 23:30', '1 Mar 2025 11:00']);
  expect(atText(new Date('2026-11-27T10:00:00Z'), VIEW)).toBe('tomorrow at 11:00');
});

// Clocks that change at midnight or near it, and the other side of the world.
const ZONES = [
  'Africa/Lagos',
  'Africa/Cairo',
  'America/Havana',
  'Australia/Sydney',
  'Pacific/Apia',
  'Asia/Kathmandu',
  'UTC',
];
test.each(ZONES)('in %s, a day starts at its first moment', (timeZone) => {
  for (let day = Date.UTC(2025, 0, 1); day < Date.UTC(2027, 0, 1); day += 86_400_000) {
    const date = new Date(day).toISOString().slice(0, 10);
    const start = startOfDay(date, timeZone);
    const before = new Date(start.getTime() - 1);
    expect([dateOf(start, timeZone), dateOf(before, timeZone) < date, timeOf(before, timeZone)]).toEqual([
      ...[date, true, '23:59:59'],
    ]);
  }
});
