import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { IS_WHOLE } from '../support/extent.ts';
import { brokenPromises, secondTruths, takings, takingsOf } from '../support/order-life/one-truth.ts';
import {
  aStep,
  beginLife,
  passTime,
  PRICE,
  takeStep,
  TOKEN,
  type Life,
  type Step,
} from '../support/order-life/steps.ts';
import { startProgram, type TestProgram } from '../support/program.ts';

// Random lives of orders: whatever anybody does, by whichever door, all that is written of the order tells one story
// afterwards, and a person can end it. A failure prints the seed and the shortest life that fails.

const LIVES = IS_WHOLE ? 60 : 2;
const MOST_STEPS = 12;
const SEED = 17;

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram({ env: { SHOP_API_TOKEN: TOKEN, GATEWAY_CALLS_PER_SECOND: '0' } });
});
afterAll(() => shop.close());

/** All that is due is done, and the books are compared. */
async function settle(life: Life): Promise<void> {
  await shop.hand('faults/clear');
  await passTime(life);
  await shop.program.reconcile({ dryRun: false });
  await passTime(life);
}

const ROUNDS = 6;
/** A person decides whatever is open and cancels, until the order has ended. @returns its status */
async function wayOut(life: Life): Promise<string> {
  const byHand = (what: string): Promise<number | null> => takeStep(life, { what, amount: '', whose: 0 });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const what of ['decide refund', 'close finding', 'cancel']) await byHand(what);
    await settle(life);
    const [row] = await shop.program.database.query<{ status: string; open: number }>(
      `SELECT status, (SELECT count(*)::int FROM suspense_items WHERE order_id = o.id AND closed_at IS NULL)
         + (SELECT count(*)::int FROM findings WHERE order_id = o.id AND closed_at IS NULL AND raised_at IS NOT NULL)
         AS open FROM orders o WHERE id = $1`,
      [life.orderId],
    );
    if (row?.open === 0 && ['paid', 'cancelled'].includes(row.status)) return 'ended';
    if (round === ROUNDS - 1) return JSON.stringify(row);
  }
  return '';
}

async function live(hasDeadline: boolean, steps: readonly Step[]): Promise<void> {
  const before = await takings(shop);
  const life = await beginLife(shop, hasDeadline);
  for (const step of steps) {
    const status = await takeStep(life, step);
    // 503: the service could not be asked.
    expect([step, status !== null && status >= 500 && status !== 503 ? status : 'fine']).toEqual([
      step,
      'fine',
    ]);
  }
  await settle(life);
  const { orderId } = life;
  expect(await secondTruths(shop, orderId)).toEqual([]);
  expect(await brokenPromises(shop, orderId)).toEqual([]);
  expect((await takings(shop)) - before).toBe(await takingsOf(shop, orderId));
  expect(await wayOut(life)).toBe('ended');
  expect(await secondTruths(shop, orderId)).toEqual([]);
}

const told = (...steps: [what: string, amount?: string][]): Step[] =>
  steps.map(([what, amount = '']) => ({ what, amount, whose: 0 }));

/** Tried before what is drawn: the shortest lives of what is easily done wrong. */
const EXAMPLES: [boolean, Step[]][] = [
  [false, told(['checkout'], ['cancel'], ['pay', PRICE], ['clock'])],
  [
    false,
    told(
      ['checkout'],
      ['pay', PRICE],
      ['return'],
      ['write refund down', '10.30'],
      ['write refund down', '4.20'],
      ['write refund down', '19.75'],
    ),
  ],
  [true, told(['checkout'], ['deadline'], ['clock'], ['pay', PRICE], ['webhook'], ['clock'])],
  [false, told(['checkout'], ['pay', '4.20'], ['clock'], ['reverse'], ['pay', PRICE])],
  [
    false,
    told(['checkout'], ['pay', '19.75'], ['return'], ['decide accept'], ['give back', '4.20'], ['reconcile']),
  ],
];

test(`${LIVES} lives of up to ${MOST_STEPS} steps: no two truths, and a way out`, async () => {
  const steps = fc.array(aStep, { minLength: 1, maxLength: MOST_STEPS, size: 'max' });
  const property = fc.asyncProperty(fc.boolean(), steps, live);
  await fc.assert(property, {
    seed: SEED,
    numRuns: LIVES + EXAMPLES.length,
    examples: EXAMPLES,
  });
}, 900_000);
