import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { befall, healService } from '../support/failures.ts';
import { buy, happens } from './makers.ts';
import { letPass, look, startDesk, type Desk } from './support.ts';

// An unreadable row does not hide the answer of verify or another row of its payment.

let desk: Desk;
beforeAll(async () => {
  desk = await startDesk();
});
afterEach(() => healService(desk));
afterAll(() => desk.stop());

const rowOf = (reference: string, more = {}) => {
  return { id: `A-${reference}`, reference, status: 'SUCCESS', amount: 8500, currency: 'NGN', ...more };
};
/** The rows of all earlier payments. */
const others: object[] = [];
/** Applies the whole history, late enough after the last answer of verify. */
async function hear(references: readonly string[], ...rows: object[]) {
  for (const reference of references) await letPass(desk, reference, '2 minutes');
  const data = [...others, ...rows];
  await befall(desk, 'history', 'body', { body: { status: true, data: { data, hasNextPage: false } } });
  return desk.reconcile();
}

test('an unreadable row does not hide a reversal, because its payment is verified', async () => {
  const { reference } = await buy(desk);
  await happens(desk, reference, 'record', { status: 'REVERSED' });
  const { report } = await hear([reference], rowOf(reference, { amount_refunded: '8.500,00' }));
  expect(report).toMatchObject({ complete: true, history: { unreadable: 1 } });
  expect(await look(desk, reference)).toMatchObject({ message: 'held', cases: ['reversed 0 850000 NGN'] });
});

test('an unreadable row does not hide a chargeback in another row of its payment', async () => {
  const { reference } = await buy(desk);
  const chargeback = rowOf(reference, { id: 'C-1', status: 'CHARGEBACK', amount: -8500 });
  const odd = rowOf(reference, { id: 'fee', amount: '1e3' });
  const { report } = await hear([reference], rowOf(reference), chargeback, odd);
  expect(report).toMatchObject({ complete: true, history: { unreadable: 1 } });
  expect(await look(desk, reference)).toMatchObject({ message: 'held', cases: ['reversed 0 850000 NGN'] });
});
