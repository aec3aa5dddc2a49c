import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { startReceiver } from '../support/receiver.ts';
import { buy, happens, MAKERS, type Made } from './makers.ts';
import { decide, letPass, look, startDesk, type Desk } from './support.ts';

// The advice of each case is followed, and must not cause a new case. Only the runs and the
// commands verify payments.

let desk: Desk;
beforeAll(async () => {
  desk = await startDesk({ worker: false });
  for (const { made } of PLAYS) played.push({ reference: await MAKERS[made](desk), opened: [], cases: [] });
  for (const step of [run, run]) await step('');
  for (const one of played) one.opened = (await look(desk, one.reference))?.cases ?? [];
  await act('first');
  await run('');
  await act('then');
  for (const one of played) one.cases = await casesOf(one.reference);
  for (const step of [run, run]) await step('');
});
afterAll(() => desk.stop());

type Step = (reference: string) => Promise<unknown>;
type End = [order: string | null, message: string | null, money: string | null];
/**
 * `first`: the steps that a person takes for the case. A run follows, and then the steps of `then`.
 */
type Play = { made: Made; advice: string; first: Step[]; then?: Step[]; end: End };
type Played = { reference: string; opened: string[]; cases: unknown[]; failure?: unknown };
const played: Played[] = [];

async function act(part: 'first' | 'then'): Promise<void> {
  for (const [index, { reference, ...one }] of played.entries())
    try {
      for (const step of PLAYS[index]?.[part] ?? []) await step(reference);
    } catch (failure) {
      played[index] = { reference, ...one, failure };
    }
}

const run: Step = () => desk.reconcile();
const at =
  (act: string, body: object): Step =>
  (reference) =>
    happens(desk, reference, act, body);
const shows = (more: object = {}): Step => at('record', { status: 'SUCCESS', ...more });
const decides =
  (...words: string[]): Step =>
  async (reference) => {
    expect(await decide(desk, reference, ...words)).toMatchObject({ exit: 0, err: '' });
  };
/** A command about the payment's order. */
const types =
  (...words: string[]): Step =>
  async (reference) => {
    const sql = 'SELECT order_id FROM payments WHERE reference = $1';
    const [row] = await desk.database.query<{ order_id: string }>(sql, [reference]);
    const typed = words.map((word) => (word === 'ORDER' ? (row?.order_id ?? '') : word));
    expect(await desk.run(...typed)).toMatchObject({ exit: 0, err: '' });
  };
const forgive: Step = () => fetch(`${desk.sandbox?.url ?? ''}/sandbox/faults`, { method: 'DELETE' });
const casesOf = (reference: string): Promise<unknown[]> =>
  desk.database.query('SELECT id FROM cases WHERE reference = $1 ORDER BY id', [reference]);

const REFUNDS: [Made, number, ...End, alone: string | null][] = [
  ['underpaid', 1000, 'cancelled', null, 'NGN received 100000 outflow 100000 returned 100000', 'failed'],
  ['overpaid', 1500, 'paid', 'goes', 'NGN received 1000000 outflow 150000 captured 850000 returned 150000', 'paid'],
  ['duplicate_payment', 8500, 'paid', 'goes', 'NGN received 850000 outflow 850000 returned 850000', 'paid'],
  [
    'charged_again',
    8500,
    'paid',
    'goes',
    'NGN received 1700000 outflow 850000 captured 850000 returned 850000',
    'paid',
  ],
  ['paid_after_end', 8500, 'cancelled', null, 'NGN received 850000 outflow 850000 returned 850000', 'cancelled'],
  ['paid_after_decision', 9500, 'cancelled', null, 'NGN received 950000 outflow 950000 returned 950000', 'cancelled'],
  ['currency_mismatch', 8500, 'cancelled', null, 'USD received 850000 outflow 850000 returned 850000', 'failed'],
  ['unproven, held', 8500, 'cancelled', null, 'NGN received 850000 outflow 850000 returned 850000', 'failed'],
  ['unknown_reference', 8500, null, null, 'NGN received 850000 outflow 850000 returned 850000', null],
];
const refundsOf = ([made, amount, order, message, money, alone]: (typeof REFUNDS)[number]): Play[] => {
  const [gone, writes] = [at('reverse', { amount }), decides('refund', '--number', 'RF-1')];
  const byItself =
    money === null || /captured|NGN received 950000/.test(money) ? money : money.replace(/ returned.*/, '');
  // Before the surplus pays the order, it is verified. The refund is visible then, so the exact
  // price remains, and it pays without a decision.
  const writesToo: Step = made === 'overpaid' ? (reference) => decide(desk, reference, 'refund') : writes;
  return [
    {
      made,
      advice: 'refund it: recorded first, shown later',
      first: [writes],
      then: [gone],
      end: [order, message, money],
    },
    {
      made,
      advice: 'refund it: made and recorded at once',
      first: [],
      then: [gone, writesToo],
      end: [order, message, money],
    },
    // The money left before a decision. Only a ledger with a booked amount records it as returned.
    { made, advice: 'refund it: a run sees it first', first: [gone], end: [alone, message, byItself] },
  ];
};

const PAID = 'NGN received 850000 captured 850000';
const GONE = 'NGN received 850000 outflow 850000 captured 850000';
const PART = 'NGN received 850000 captured 850000 refunded 50000';
const GOES = (money: string): End => ['paid', 'goes', money];
const HELD = (money: string): End => ['paid', 'held', money];
const reopens = types('orders', 'reopen', 'ORDER', '--note', 'a test');
const isGone = [at('reverse', {}), at('record', { status: 'REVERSED' })];
const listsIt = at('hide', { from: 'list', hidden: false });
const lost = decides('write-off');

const PLAYS: Play[] = [
  ...REFUNDS.flatMap(refundsOf),
  {
    made: 'underpaid',
    advice: 'accept it and send it',
    first: [decides('accept')],
    end: GOES('NGN received 100000 captured 100000'),
  },
  { made: 'unproven, held', advice: 'accept it and send it', first: [decides('accept')], end: GOES(PAID) },
  { made: 'paid_after_end', advice: 'reopen the order', first: [reopens], end: GOES(PAID) },
  { made: 'unit_error', advice: 'correct the adapter', first: [shows({ amount: 8500 })], end: GOES(PAID) },
  {
    ...{ made: 'reversed', advice: 'record the refund’s number' },
    ...{ first: [decides('refund', '--number', 'RF-2')], end: HELD(`${GONE} refunded 850000`) },
  },
  {
    ...{ made: 'reversed', advice: 'open the proof and write it off' },
    ...{ first: [types('proof', 'ORDER'), lost], end: HELD(`${GONE} written_off 850000`) },
  },
  { made: 'contradicted', advice: 'ask the service: it is paid', first: [shows()], end: GOES(PAID) },
  {
    made: 'contradicted',
    advice: 'ask the service: it explains the difference',
    first: [decides('explain')],
    end: HELD(PAID),
  },
  {
    made: 'contradicted',
    advice: 'ask the service: the money left',
    first: isGone,
    then: [lost],
    end: HELD(`${GONE} written_off 850000`),
  },
  {
    made: 'contradicted, held',
    advice: 'ask the service: it is paid',
    first: [shows({ verifyOnly: true })],
    end: GOES(PAID),
  },
  { made: 'absent_from_history', advice: 'ask the service: it is in the history', first: [listsIt], end: GOES(PAID) },
  {
    made: 'absent_from_history',
    advice: 'ask the service: it explains the difference',
    first: [decides('explain')],
    end: HELD(PAID),
  },
  { made: 'unknown_status', advice: 'add the status word', first: [shows()], end: GOES(PAID) },
  { made: 'unproven', advice: 'verify proves it', first: [shows({ amount: 8500 })], end: GOES(PAID) },
  { made: 'unreadable', advice: 'the answer is readable again', first: [forgive, at('pay', {})], end: GOES(PAID) },
  {
    ...{ made: 'refund_not_shown', advice: 'make the refund at the service' },
    ...{ first: [at('reverse', { amount: 500 })], end: GOES(PART.replace(' captured', ' outflow 50000 captured')) },
  },
  {
    ...{ made: 'refund_not_shown', advice: 'it was refunded another way' },
    ...{ first: [decides('refund', '--elsewhere')], end: GOES(`${PART} off_provider 50000`) },
  },
  {
    ...{ made: 'refund_not_shown', advice: 'keep it', first: [decides('keep')] },
    end: GOES(`${PART} recovered 50000`),
  },
];
const expected = ([order, message, money]: End) => ({ order, message, cases: [], money: [money] });

test.each(PLAYS.map(({ made, advice, end }, index) => [made, advice, index, end] as const))(
  '%s: %s',
  async (made, _advice, index, end) => {
    const { reference, opened, cases, failure } = played[index] ?? { reference: '' };
    expect(failure).toBeUndefined();
    expect(opened).toEqual([expect.stringMatching(`^${made.split(',')[0]} `)]);
    expect(await casesOf(reference)).toEqual(cases);
    expect(await look(desk, reference)).toEqual(expected(end));
  },
);

test('reversed: a refund that is recorded before it is shown causes no case', async () => {
  const { reference } = await buy(desk);
  await types('orders', 'refund', 'ORDER', '8500', '--number', 'RF-3')(reference);
  for (const step of [run, at('reverse', {}), run, run]) await step(reference);
  expect(await casesOf(reference)).toEqual([]);
  expect(await look(desk, reference)).toEqual(expected(['paid', 'held', `${GONE} refunded 850000`]));
});

test('eleven more days cause no case', async () => {
  const cases = () => desk.database.query('SELECT id, class, closed_at IS NULL AS open FROM cases ORDER BY id');
  const before = await cases();
  for (const { reference } of played) await letPass(desk, reference, '11 days');
  for (const step of [run, run]) await step('');
  expect(await cases()).toEqual(before);
});

test('overpaid: a refund by the advice pays the order at once, and order.paid is sent once', async () => {
  const receiver = await startReceiver();
  const other = await startDesk({ env: receiver.env });
  try {
    const { orderId, reference } = await buy(other, { amount: 10_000 });
    await other.reconcile();
    expect(receiver.messages).toEqual([]);
    const { out } = await decide(other, reference, 'refund', '--number', 'RF-5');
    expect(out).toContain(`The order ${orderId} is paid.`);
    await eventually(() => receiver.messages.length > 0);
    await other.sandboxPost(`/transactions/${reference}/reverse`, { amount: 1500 });
    for (let runs = 0; runs < 2; runs += 1) expect((await other.reconcile()).report.findings).toEqual({});
    const told = receiver.messages.map(({ type, data }) => [type, data.orderId, data.amount]);
    expect(told).toEqual([['order.paid', orderId, '8500.00']]);
  } finally {
    await other.stop();
    await receiver.close();
  }
});
