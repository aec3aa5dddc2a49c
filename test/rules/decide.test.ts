import { expect, test } from '@jest/globals';
import { statusOf } from '../../src/orders/order.ts';
import { decide, statusOfPayment, type AnswerSituation } from '../../src/payments/decide.ts';

/** Every combination of the values of all fields. */
function combinations<Fields extends object>(values: { [Name in keyof Fields]: readonly Fields[Name][] }): Fields[] {
  const fields = Object.entries<readonly unknown[]>(values);
  const each = (all: object[], [name, some]: (typeof fields)[number]): object[] =>
    all.flatMap((one) => some.map((value) => ({ ...one, [name]: value })));
  return fields.reduce(each, [{}]) as Fields[];
}

const ANSWERS = ['paid', 'pending', 'failed', 'expired', 'reversed', 'unknown', 'unproven', 'not_found'] as const;
const OUTCOMES = [...ANSWERS, 'unreadable'] as const;
const BOTH = [false, true];

test('of all answers and states of an order, only an exact answer pays, and only an open order', () => {
  const evidence = combinations<AnswerSituation['evidence']>({
    outcome: OUTCOMES,
    balance: [null, 0n, 1n, 350_000n, 849_999n, 850_000n, 850_001n, 85_000_000n],
    currency: [null, 'NGN', 'USD'],
    doubt: [null, 'amount_received differs from amount'],
  });
  const ours = { amount: [850_000n], due: [850_000n, 350_000n, 0n], currency: ['NGN'], isPaid: BOTH, isEnded: BOTH };
  const order = [null, ...combinations<NonNullable<AnswerSituation['order']>>(ours)];
  const all = combinations<AnswerSituation>({ evidence, order, isLeft: BOTH, isDecided: BOTH });
  expect(all).toHaveLength(9 * 8 * 3 * 2 * 13 * 2 * 2);
  const paying = all.filter((one) => decide(one) === 'mark-paid');
  expect(paying.map(({ evidence: { balance }, order: about }) => [balance, about?.due])).toEqual([
    // The due rest after part payments, and the whole price by one payment.
    [350_000n, 350_000n],
    [850_000n, 850_000n],
    [850_000n, 350_000n],
    [850_000n, 0n],
  ]);
  for (const one of paying)
    expect(one).toMatchObject({
      evidence: { outcome: 'paid', currency: 'NGN', doubt: null },
      order: { isPaid: false, isEnded: false },
      isLeft: true,
      isDecided: false,
    });
});

type PaymentFacts = Parameters<typeof statusOfPayment>[0];
const PAYMENTS = ['sending', 'open', 'paid', 'review', 'failed', 'expired', 'refused', 'unmatched'] as const;

// The payment paid nothing, holds nothing, and has no case. Rows are the newest answer (other
// answers count as none), columns the previous status.
const BECOMES = `
              sending  open     review   failed   expired  refused
  null        sending  open     open     failed   expired  refused
  paid        failed   failed   failed   failed   failed   failed
  pending     open     open     open     open     open     open
  failed      failed   failed   failed   failed   failed   failed
  expired     expired  expired  expired  expired  expired  expired
  reversed    failed   failed   failed   failed   failed   failed`;
const [COLUMNS = [], ...ROWS] = BECOMES.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));
const became = new Map(ROWS.flatMap(([name, ...cells]) => cells.map((cell, at) => [`${name} ${COLUMNS[at]}`, cell])));

function expectedOf({ status, isPaidBy, hasHeldMoney, hasOpenCase, outcome, isOver }: PaymentFacts): string {
  if (status === 'unmatched') return 'unmatched';
  if (isPaidBy) return 'paid';
  if (hasHeldMoney || hasOpenCase) return 'review';
  const isFailed = outcome === 'paid' || outcome === 'failed' || outcome === 'reversed';
  if (isOver && !isFailed && status !== 'refused') return 'expired';
  return became.get(`${outcome} ${status}`) ?? became.get(`null ${status}`) ?? 'there is no such column';
}

test('a payment has exactly one status: by its proof, then held money or a case, then the answer, then the time', () => {
  const all = combinations<PaymentFacts>({
    status: PAYMENTS,
    isPaidBy: BOTH,
    hasHeldMoney: BOTH,
    hasOpenCase: BOTH,
    outcome: [null, ...OUTCOMES],
    isOver: BOTH,
  });
  // A payment cannot be paid without a proof.
  const possible = all.filter(({ status, isPaidBy }) => status !== 'paid' || isPaidBy);
  for (const facts of possible) expect([facts, statusOfPayment(facts)]).toEqual([facts, expectedOf(facts)]);
});

type OrderFacts = Parameters<typeof statusOf>[0];
const has = ({ payments }: OrderFacts, ...statuses: string[]): boolean =>
  payments.some(({ status }) => statuses.includes(status));

/** The first one that applies, from the top. */
const ORDER_IS: [string, (facts: OrderFacts) => boolean][] = [
  ['paid', (facts) => facts.isPaid],
  ['expired', (facts) => facts.endedBy === 'deadline'],
  ['cancelled', (facts) => facts.endedBy !== null],
  ['review', (facts) => facts.hasHeldMoney || facts.hasOpenCase],
  ['pending', (facts) => facts.isRestDue || has(facts, 'sending', 'open')],
  ['failed', (facts) => has(facts, 'failed', 'expired')],
  ['pending', () => true],
];

test('a proof makes an order paid; without one, its end, a review and its payments decide, in this order', () => {
  const single = PAYMENTS.map((status) => ({ status }));
  const all = combinations<OrderFacts>({
    isPaid: BOTH,
    endedBy: [null, 'deadline', 'shop', 'ada'],
    hasHeldMoney: BOTH,
    hasOpenCase: BOTH,
    isRestDue: BOTH,
    payments: [[], ...single.flatMap((one) => [[one], ...single.map((other) => [one, other])])],
  });
  for (const facts of all)
    expect([facts, statusOf(facts)]).toEqual([facts, ORDER_IS.find(([, fits]) => fits(facts))?.[0]]);
});
