import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { befall, healService } from '../support/failures.ts';
import { buy } from './makers.ts';
import { letPass, look, startDesk, type Desk } from './support.ts';

// A row that cannot be read names its payment all the same: the list does not lack it.

let desk: Desk;
beforeAll(async () => {
  desk = await startDesk();
});
afterEach(() => healService(desk));
afterAll(() => desk.stop());

const rowOf = (reference: string, more = {}) => {
  return { id: `A-${reference}`, reference, status: 'SUCCESS', amount: 8500, currency: 'NGN', ...more };
};
/** Rows of what was paid before. */
const others: object[] = [];
/** The whole list is heard, late enough after what verify said. */
async function hear(references: readonly string[], ...rows: object[]) {
  for (const reference of references) await letPass(desk, reference, '2 minutes');
  const data = [...others, ...rows];
  await befall(desk, 'history', 'body', { body: { status: true, data: { data, hasNextPage: false } } });
  return desk.reconcile();
}

test.each([
  ['whose id has 201 characters', { id: 'i'.repeat(201) }],
  ['whose amount is beyond all sums', { amount: '9'.repeat(30) }],
])('a paid payment is not absent while its row, %s, cannot be read', async (_which, slip) => {
  const ours = [(await buy(desk)).reference, (await buy(desk)).reference] as const;
  const [odd, other] = ours;
  for (let run = 0; run < 2; run += 1) {
    const { exit, report } = await hear(ours, rowOf(odd, slip), rowOf(other));
    expect(report).toMatchObject({ complete: true, verdict: 'findings', history: { unreadable: 1 } });
    expect([exit, report.reason]).toEqual([1, expect.stringMatching(/cannot be read/)]);
    for (const reference of ours)
      expect(await look(desk, reference)).toMatchObject({ order: 'paid', message: 'goes', cases: [] });
  }
  // What no row names is absent, whatever else cannot be read.
  await hear(ours, rowOf(odd, slip));
  expect(await look(desk, odd)).toMatchObject({ message: 'goes', cases: [] });
  expect(await look(desk, other)).toMatchObject({ message: 'held', cases: ['absent_from_history 0 850000 NGN'] });

  const { exit, report } = await hear(ours, rowOf(odd), rowOf(other));
  expect([exit, report]).toMatchObject([0, { complete: true, verdict: 'agreed', history: { unreadable: 0 } }]);
  for (const reference of ours)
    expect(await look(desk, reference)).toMatchObject({ order: 'paid', message: 'goes', cases: [] });
  others.push(...ours.map((reference) => rowOf(reference)));
});
