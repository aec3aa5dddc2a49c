import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Evidence, Reading, StatusClass } from '../../src/gateway/records/evidence.ts';
import type { VerifyAnswer } from '../../src/gateway/verify.ts';
import type { OrderStatus } from '../../src/orders/order.ts';
import { decide } from '../../src/payments/decide.ts';
import type { Payment, PaymentStatus } from '../../src/payments/payment.ts';
import { asOrderId, asReference } from '../support/ids.ts';

const STRICT = { referenceMayBeAbsent: false, amountMayBeAbsent: false, currencyMayBeAbsent: false };
const PAYMENT_STATUSES: PaymentStatus[] = [
  'created',
  'sending',
  'open',
  'ambiguous',
  'refused',
  'paid',
  'failed',
  'expired',
  'held',
];
const ORDER_STATUSES: OrderStatus[] = ['pending', 'paid', 'failed', 'expired', 'review'];
const CLASSES: StatusClass[] = ['paid', 'pending', 'failed', 'expired', 'reversed', 'unknown'];

const payment: Payment = {
  reference: asReference('R'.repeat(24)),
  orderId: asOrderId('O'.repeat(24)),
  mode: 'test',
  amount: 2500n,
  currency: 'NGN',
  status: 'open',
  orderStatus: 'pending',
  ageSec: 10,
  releaseId: 'rel_x',
  hasCheckoutUrl: true,
  lastAnswerAt: null,
  hasSuspense: false,
  suspenseChanges: 0,
  isDecided: false,
  isEndedByDeadline: false,
  accepted: null,
  isAdopted: false,
  isRefunded: false,
  hints: 0,
};

const exact: Evidence = {
  status: 'paid',
  statusWord: 'SUCCESS',
  reference: read(payment.reference),
  currency: read('NGN'),
  amount: read(2500n),
  mode: null,
  contradiction: null,
  isAllBack: false,
};

function read<T>(value: T): Reading<T> {
  return { is: 'read', value };
}

const aBody = { body: Buffer.from('{}'), bodySha256: Buffer.alloc(32) };

function answer(change: Partial<Evidence> = {}): VerifyAnswer {
  return { kind: 'record', evidence: { ...exact, ...change }, ...aBody, httpStatus: 200 };
}

test('evidence that matches in every respect pays', () => {
  expect(decide(payment, answer(), STRICT)).toEqual({
    outcome: 'paid',
    nextStatus: 'paid',
    release: true,
    suspense: null,
  });
});

describe('evidence that differs in one respect does not pay, and says in which', () => {
  test.each<[string, Partial<Evidence>]>([
    ['reference_mismatch', { reference: read('N'.repeat(24)) }],
    ['unproven', { reference: { is: 'absent' } }],
    ['unproven', { reference: { is: 'unreadable' } }],
    ['currency_mismatch', { currency: read('XOF') }],
    ['unproven', { currency: { is: 'absent' } }],
    ['unproven', { currency: { is: 'unreadable' } }],
    ['underpaid', { amount: read(2499n) }],
    ['overpaid', { amount: read(2501n) }],
    ['unit_error', { amount: read(250_000n) }],
    ['unit_error', { amount: read(25n) }],
    ['underpaid', { amount: read(0n) }],
    ['unproven', { amount: { is: 'absent' } }],
    ['unproven', { amount: { is: 'unreadable' } }],
    ['unproven', { contradiction: '"refunded" says that money went back' }],
    ['unproven', { contradiction: '"paid" disagrees with the amount', amount: read(2499n) }],
    ['pending', { contradiction: '"refunded" says that money went back', status: 'pending' }],
    ['mode_mismatch', { mode: 'live' }],
    ['unknown_status', { status: 'unknown', statusWord: 'COLLECTED' }],
    ['pending', { status: 'pending' }],
    ['failed', { status: 'failed' }],
    ['expired', { status: 'expired' }],
    ['reversed', { status: 'reversed' }],
  ])('%s: %j', (outcome, change) => {
    const decision = decide(payment, answer(change), STRICT);
    expect(decision).toMatchObject({ outcome, release: false });
    expect(decision.nextStatus).not.toBe('paid');
  });
});

test('stray money is accounted for in the currency it came in', () => {
  expect(decide(payment, answer({ amount: read(2000n) }), STRICT).suspense).toEqual({
    class: 'underpaid',
    amount: 2000n,
    currency: 'NGN',
  });
  expect(decide(payment, answer({ currency: read('XOF') }), STRICT).suspense).toEqual({
    class: 'currency_mismatch',
    amount: 2500n,
    currency: 'XOF',
  });
});

test.each(['test', 'live'] as const)(
  'a record of the other mode under a %s key is held and is no money: nothing is owed back for it',
  (mode) => {
    const other = { mode: mode === 'test' ? 'live' : 'test' } as const;
    for (const amount of [2500n, 2499n, 2501n])
      expect(decide({ ...payment, mode }, answer({ ...other, amount: read(amount) }), STRICT)).toEqual({
        outcome: 'mode_mismatch',
        nextStatus: 'held',
        release: false,
        suspense: null,
      });
  },
);

describe('an answer that says nothing moves nothing: not found is not failed', () => {
  const bare = { ...aBody, httpStatus: 404 };
  const silent: VerifyAnswer[] = [
    { ...bare, kind: 'not-found' },
    { ...bare, kind: 'unreadable', why: 'x' },
  ];
  test.each(PAYMENT_STATUSES)('%s', (status) => {
    for (const nothing of silent) {
      const decision = decide({ ...payment, status }, nothing, STRICT);
      expect(decision.nextStatus).toBe(status === 'sending' ? 'ambiguous' : status);
    }
  });
});

test('money that comes on top of a paid payment is a surplus, and only that', () => {
  const paid: Payment = { ...payment, status: 'paid', orderStatus: 'paid' };
  expect(decide(paid, answer({ amount: read(6000n) }), STRICT)).toMatchObject({
    nextStatus: 'paid',
    release: false,
    suspense: { class: 'charged_again', amount: 3500n, currency: 'NGN' },
  });
  expect(decide(paid, answer({ amount: read(2000n) }), STRICT)).toMatchObject({
    nextStatus: 'paid',
    suspense: null,
  });
});

test('after all that was accepted is refunded, an error of unit is a contradiction and no money', () => {
  const refunded: Payment = {
    ...payment,
    status: 'paid',
    orderStatus: 'paid',
    accepted: 2000n,
    isRefunded: true,
  };
  const heldOf = (amount: bigint) =>
    decide(refunded, answer({ amount: read(amount) }), STRICT).suspense?.amount;
  expect([2200n, 2500n, 3000n, 250_000n].map(heldOf)).toEqual([200n, 500n, 1000n, undefined]);
});

test('a second payment of a paid order is money to give back, never a second release', () => {
  const decision = decide({ ...payment, orderStatus: 'paid' }, answer(), STRICT);
  expect(decision).toEqual({
    outcome: 'paid',
    nextStatus: 'held',
    release: false,
    suspense: { class: 'duplicate_payment', amount: 2500n, currency: 'NGN' },
  });
});

test('absent evidence counts only where the dialect allows it, odd evidence never', () => {
  const lenient = { referenceMayBeAbsent: true, amountMayBeAbsent: true, currencyMayBeAbsent: true };
  const absent = { is: 'absent' } as const;
  expect(
    decide(payment, answer({ reference: absent, amount: absent, currency: absent }), lenient).release,
  ).toBe(true);
  expect(decide(payment, answer({ amount: { is: 'unreadable' } }), lenient).outcome).toBe('unproven');
  expect(decide(payment, answer({ amount: read(1n) }), lenient).release).toBe(false);
});

/**
 * The rule once more, stated without any of the program's words for it: a second opinion for the walk below.
 */
function mayPay(p: Payment, a: VerifyAnswer): boolean {
  if (a.kind !== 'record') return false;
  const e = a.evidence;
  return (
    e.status === 'paid' &&
    e.contradiction === null &&
    e.reference.is === 'read' &&
    e.reference.value === p.reference &&
    e.amount.is === 'read' &&
    e.amount.value === p.amount &&
    e.currency.is === 'read' &&
    e.currency.value === p.currency &&
    (e.mode === null || e.mode === p.mode) &&
    p.orderStatus !== 'paid' &&
    p.orderStatus !== 'cancelled' &&
    p.status !== 'paid'
  );
}

const readings = <T>(...values: T[]): fc.Arbitrary<Reading<T>> =>
  fc.constantFrom<Reading<T>>(...values.map(read), { is: 'absent' }, { is: 'unreadable' });

test('whatever the state and the answer: released exactly when the plain rule says so, and never back from paid', () => {
  const states = fc.record({
    status: fc.constantFrom(...PAYMENT_STATUSES),
    orderStatus: fc.constantFrom(...ORDER_STATUSES),
  });
  const evidence = fc.record({
    status: fc.constantFrom(...CLASSES),
    statusWord: fc.constant('WORD'),
    reference: readings(payment.reference, 'N'.repeat(24)),
    currency: readings('NGN', 'XOF'),
    amount: readings(2500n, 2499n, 2501n, 25n, 250_000n, 0n),
    mode: fc.constantFrom(null, 'test' as const, 'live' as const),
    contradiction: fc.option(fc.constant('"refunded" says that money went back'), { freq: 4 }),
    isAllBack: fc.boolean(),
  });
  const bare = { ...aBody, httpStatus: 200 };
  const answers = fc.oneof(
    evidence.map((e): VerifyAnswer => ({ ...bare, kind: 'record', evidence: e })),
    fc.constant<VerifyAnswer>({ ...bare, kind: 'not-found' }),
    fc.constant<VerifyAnswer>({ ...bare, kind: 'unreadable', why: 'x' }),
  );
  fc.assert(
    fc.property(states, answers, (state, a) => {
      const p = { ...payment, ...state };
      const decision = decide(p, a, STRICT);
      expect(decision.release).toBe(mayPay(p, a));
      if (decision.release) expect(decision.nextStatus).toBe('paid');
      if (p.status === 'paid') expect(decision.nextStatus).toBe('paid');
      else if (decision.nextStatus === 'paid') expect(decision.release).toBe(true);
    }),
    { numRuns: 5_000 },
  );
});

test('a plain "pending" frees a held payment, unless its money is in suspense', () => {
  const pending = answer({ status: 'pending' });
  const held = { ...payment, status: 'held' } as const;
  expect(decide(held, pending, STRICT).nextStatus).toBe('open');
  expect(decide({ ...held, hasCheckoutUrl: false }, pending, STRICT).nextStatus).toBe('ambiguous');
  expect(decide({ ...held, hasSuspense: true }, pending, STRICT).nextStatus).toBe('held');
});
