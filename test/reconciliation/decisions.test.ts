import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { buy, happens, MAKERS, type Made } from './makers.ts';
import { caseOf, decide, look, startDesk, type Desk } from './support.ts';

// The table of decisions, tested by typed commands. Only the run and the command verify payments.

let desk: Desk;
/** One for each allowed decision. */
const made: string[] = [];
beforeAll(async () => {
  desk = await startDesk({ worker: false });
  for (const [name] of ALLOWED) made.push(await MAKERS[name](desk));
  await runTwice();
});
afterAll(() => desk.stop());

const REFUSED: [Made, string, RegExp][] = [
  ['currency_mismatch', 'accept', /another currency/],
  ['paid_after_end', 'accept', /has ended/],
  ['duplicate_payment', 'accept', /is paid/],
  ['charged_again', 'accept', /is paid/],
  ['unknown_reference', 'accept', /the order/],
  ['contradicted, held', 'accept', /verify does not show all of it/],
  ['underpaid', 'write-off', /only money that went/],
  ['underpaid', 'accept --elsewhere', /another way/],
  ['underpaid', 'explain', /money is held/],
  ['unknown_reference', 'explain', /money is held/],
  ['reversed', 'refund --elsewhere', /another way/],
  ['reversed', 'accept', / is held/],
  ['reversed', 'keep', / is held/],
  ['contradicted', 'refund', / is held/],
  ['contradicted', 'write-off', /only money that went/],
  ['absent_from_history', 'refund', / is held/],
  ['refund_not_shown', 'write-off', /only money that went/],
  ['refund_not_shown', 'refund', /make the refund at the payment service/],
  ['unknown_status', 'accept', / is held/],
];

const SURPLUS = 'NGN received 1000000 captured 850000 returned 150000';
const PART = 'NGN received 850000 captured 850000 refunded 50000';
const ALLOWED: [Made, string, order: string | null, message: string | null, money: string | null][] = [
  // Held money.
  ['underpaid', 'accept', 'paid', 'goes', 'NGN received 100000 captured 100000'],
  ['overpaid', 'accept', 'paid', 'goes', 'NGN received 1000000 captured 1000000'],
  ['unproven, held', 'accept', 'paid', 'goes', 'NGN received 850000 captured 850000'],
  ['underpaid', 'refund', 'cancelled', null, 'NGN received 100000 returned 100000'],
  ['overpaid', 'refund', 'paid', 'goes', SURPLUS],
  ['unproven, held', 'refund', 'cancelled', null, 'NGN received 850000 returned 850000'],
  ['currency_mismatch', 'refund', 'cancelled', null, 'USD received 850000 returned 850000'],
  ['paid_after_end', 'refund', 'cancelled', null, 'NGN received 850000 returned 850000'],
  ['paid_after_decision', 'refund', 'cancelled', null, 'NGN received 950000 returned 950000'],
  ['duplicate_payment', 'refund', 'paid', 'goes', 'NGN received 850000 returned 850000'],
  ['charged_again', 'refund', 'paid', 'goes', 'NGN received 1700000 captured 850000 returned 850000'],
  ['unknown_reference', 'refund', null, null, 'NGN received 850000 returned 850000'],
  ['contradicted, held', 'refund', 'cancelled', null, 'NGN received 850000 returned 850000'],
  ['underpaid', 'refund --elsewhere', 'cancelled', null, 'NGN received 100000 returned 100000 off_provider 100000'],
  ['overpaid', 'refund --elsewhere', 'paid', 'goes', `${SURPLUS} off_provider 150000`],
  ['underpaid', 'keep', 'cancelled', null, 'NGN received 100000 retained 100000'],
  ['overpaid', 'keep', 'cancelled', null, 'NGN received 1000000 retained 1000000'],
  ['charged_again', 'keep', 'paid', 'goes', 'NGN received 1700000 captured 850000 retained 850000'],
  ['unknown_reference', 'keep', null, null, 'NGN received 850000 retained 850000'],
  ['contradicted, held', 'explain', 'review', null, 'NGN received 850000'],
  // Missing money.
  ['reversed', 'refund', 'paid', 'held', 'NGN received 850000 outflow 850000 captured 850000 refunded 850000'],
  ['reversed', 'write-off', 'paid', 'held', 'NGN received 850000 outflow 850000 captured 850000 written_off 850000'],
  ['reversed', 'explain', 'paid', 'held', 'NGN received 850000 outflow 850000 captured 850000'],
  ['contradicted', 'explain', 'paid', 'held', 'NGN received 850000 captured 850000'],
  ['absent_from_history', 'explain', 'paid', 'held', 'NGN received 850000 captured 850000'],
  // Money that should have left and is still there.
  ['refund_not_shown', 'refund --elsewhere', 'paid', 'goes', `${PART} off_provider 50000`],
  ['refund_not_shown', 'keep', 'paid', 'goes', `${PART} recovered 50000`],
  ['refund_not_shown', 'explain', 'paid', 'goes', PART],
  // Status words.
  ['unknown_status', 'explain', 'pending', null, null],
  ['unproven', 'explain', 'pending', null, null],
  ['unreadable', 'explain', 'pending', null, null],
];

test.each(REFUSED)('of %s, %s is refused: %s', async (name, words, why) => {
  const reference = made[ALLOWED.findIndex(([one]) => one === name)] ?? '';
  const before = await look(desk, reference);
  const { exit, err } = await decide(desk, reference, ...words.split(' '));
  expect([exit, err]).toEqual([1, expect.stringMatching(why)]);
  expect(await look(desk, reference)).toEqual(before);
});

test.each(ALLOWED.map((row, index) => [...row, index] as const))(
  'of %s, %s: the order is %s, order.paid %s, %s',
  async (_, words, order, message, money, index) => {
    const reference = made[index] ?? '';
    const before = await look(desk, reference);
    const id = await caseOf(desk, reference);
    const { exit, out, err } = await decide(desk, reference, ...words.split(' '));
    expect([exit, err]).toEqual([0, '']);
    expect(out).toContain(before?.order === 'review' && order === 'paid' ? 'is paid' : `case ${id} is closed`);
    expect(await look(desk, reference)).toEqual({ order, message, cases: [], money: money === null ? [] : [money] });
    const [closed] = await desk.database.query('SELECT decision, closed_by, note FROM cases WHERE id = $1', [id]);
    expect(closed).toEqual({ decision: words.split(' ')[0], closed_by: 'ada', note: 'a test' });
  },
);

/** The first run verifies, and the second one applies the history to what was new then. */
async function runTwice(): Promise<void> {
  for (let run = 0; run < 2; run += 1) await desk.reconcile();
}
const charge = (reference: string, amount: number) => happens(desk, reference, 'pay', { amount });
const takeBack = (reference: string, amount: number) => happens(desk, reference, 'reverse', { amount });

test('a refund number is recorded once, and a case that changed is not decided as it was seen', async () => {
  const { orderId, reference } = await buy(desk);
  const refunds = () => desk.database.query('SELECT external_id FROM refunds WHERE order_id = $1', [orderId]);
  await takeBack(reference, 500);
  await desk.reconcile();
  const seenNow = async (): Promise<string> => {
    const { out } = await desk.run('cases', 'show', await caseOf(desk, reference), '--json');
    return (JSON.parse(out) as { seen: string }).seen;
  };
  const seen = await seenNow();
  await takeBack(reference, 300);
  await desk.reconcile();
  const stale = await decide(desk, reference, 'refund', '--number', 'RF-7', '--seen', seen);
  expect([stale.exit, stale.err]).toEqual([1, expect.stringMatching(/has changed since you looked at it/)]);
  expect(await refunds()).toEqual([]);
  expect(await decide(desk, reference, 'refund', '--number', 'RF-7', '--seen', await seenNow())).toMatchObject({
    exit: 0,
  });
  await takeBack(reference, 200);
  await desk.reconcile();
  const before = await look(desk, reference);
  expect(before).toMatchObject({ cases: ['reversed 0 20000 NGN'] });
  expect(await decide(desk, reference, 'refund', '--number', 'RF-7')).toMatchObject({ exit: 1 });
  const other = await desk.run('orders', 'refund', orderId, '200', '--number', 'RF-7');
  expect([other.exit, other.err]).toEqual([1, expect.stringMatching(/^Nothing was done/)]);
  expect(await desk.run('orders', 'refund', orderId, '800', '--number', 'RF-7')).toMatchObject({ exit: 0 });
  expect([await look(desk, reference), await refunds()]).toEqual([before, [{ external_id: 'RF-7' }]]);
  const closed = `SELECT id::text FROM cases WHERE decision IS NOT NULL AND reference = $1`;
  const [once] = await desk.database.query<{ id: string }>(closed, [reference]);
  const twice = await desk.run('cases', 'decide', once?.id ?? '', '--as', 'explain', '--note', 'a test');
  expect([twice.exit, twice.err]).toEqual([1, expect.stringMatching(/has changed since you looked at it/)]);
  expect(await desk.run('cases', 'decide', '99999', '--as', 'keep', '--note', 'a test')).toMatchObject({ exit: 64 });
});

test('the number of a refund of held money is not recorded again as a refund of the order', async () => {
  const { orderId, reference } = await buy(desk, { times: 2 });
  await runTwice();
  expect(await decide(desk, reference, 'refund', '--number', 'RF-9')).toMatchObject({ exit: 0 });
  await desk.run('orders', 'refund', orderId, '8500', '--number', 'RF-9');
  const money = ['NGN received 1700000 captured 850000 returned 850000'];
  expect(await look(desk, reference)).toMatchObject({ message: 'goes', cases: [], money });
});

test('money that was refunded and then topped up to the price pays nothing', async () => {
  const { orderId, reference } = await buy(desk, { amount: 8499 });
  expect(await decide(desk, reference, 'refund')).toMatchObject({ exit: 0 });
  await desk.run('orders', 'reopen', orderId, '--note', 'a test');
  await happens(desk, reference, 'record', { amount: 8500 });
  await runTwice();
  const cases = ['paid_after_decision 100 0 NGN'];
  expect(await look(desk, reference)).toMatchObject({ order: 'review', message: null, cases });
});

test('an explanation covers the loss that was seen, and no larger loss', async () => {
  const { reference } = await buy(desk);
  await happens(desk, reference, 'record', { amount: 8000 });
  await runTwice();
  expect(await look(desk, reference)).toMatchObject({ cases: ['reversed 0 50000 NGN'] });
  await decide(desk, reference, 'explain');
  await runTwice();
  expect(await look(desk, reference)).toMatchObject({ cases: [] });
  await happens(desk, reference, 'record', { amount: 7000 });
  await runTwice();
  expect(await look(desk, reference)).toMatchObject({ message: 'held', cases: ['reversed 0 150000 NGN'] });
});

test.each(['of the order', 'of a second charge'])(
  'a refund %s by bank explains no outflow in the history',
  async (name) => {
    const { orderId, reference } = await buy(desk, { times: name === 'of a second charge' ? 2 : 1 });
    await runTwice();
    if (name === 'of a second charge') await decide(desk, reference, 'refund', '--elsewhere', '--number', 'SWIFT-1');
    else await desk.run('orders', 'refund', orderId, '4500', '--number', 'SWIFT-1', '--elsewhere');
    await runTwice();
    expect(await look(desk, reference)).toMatchObject({ message: 'goes', cases: [] });
    await takeBack(reference, name === 'of a second charge' ? 8500 : 4000);
    await runTwice();
    const missing = name === 'of a second charge' ? 850_000 : 400_000;
    expect(await look(desk, reference)).toMatchObject({ message: 'held', cases: [`reversed 0 ${missing} NGN`] });
  },
);

test.each<[string, string, (reference: string) => Promise<unknown>]>([
  ['a third charge is held alone', '850000', (one) => charge(one, 8500)],
  [
    'a reversed charge and a new one: the new one is held',
    '200000',
    async (one) => {
      await takeBack(one, 8500);
      await charge(one, 2000);
    },
  ],
])('%s, %s, after the second was decided', async (_, held, happen) => {
  const { reference } = await buy(desk, { times: 2 });
  await runTwice();
  expect(await decide(desk, reference, 'refund')).toMatchObject({ exit: 0 });
  await happen(reference);
  await runTwice();
  const cases = [`paid_after_decision ${held} 0 NGN`];
  expect(await look(desk, reference)).toMatchObject({ order: 'paid', message: 'goes', cases });
});
