import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openDesk, type Desk } from './desk.ts';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

const standing = (reference: string): Promise<object[]> =>
  desk.database.query(
    `SELECT p.status, o.status AS "order" FROM payments p JOIN orders o ON o.id = p.order_id WHERE reference = $1`,
    [reference],
  );

test('that the history does not list an open payment is no answer: verify is asked, and decides', async () => {
  const old = { age: '9 days' };
  const [paid, unknown, unclear, young] = [
    await desk.put(old, null),
    await desk.put(old, null),
    await desk.put(old, null),
    await desk.put({}, null),
  ];
  desk.service.verify.set(paid.reference, { reference: paid.reference });
  desk.service.verify.set(unknown.reference, null);
  desk.service.verify.set(unclear.reference, { reference: unclear.reference, status: 'COLLECTED' });
  const report = await desk.reconcile({ dryRun: false });
  expect(await standing(paid.reference)).toEqual([{ status: 'paid', order: 'paid' }]);
  expect(await standing(unknown.reference)).toEqual([{ status: 'expired', order: 'expired' }]);
  expect(await standing(unclear.reference)).toEqual([{ status: 'held', order: 'review' }]);
  expect(report.items.map(({ reference, class: name }) => [reference, name])).toContainEqual([
    unclear.reference,
    'absent_from_history',
  ]);
  // Too young to be missed: the clock asks about it in its own time.
  expect(desk.service.calls.filter((call) => call.includes(young.reference))).toEqual([]);
});
