import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../src/platform/ids.ts';
import { loadPayment } from '../../src/payments/confirm.sql.ts';
import { CONTRADICTORY, HONEST, PLAIN_RECORD } from '../gateway/contradictory-records.ts';
import { someOf } from '../support/extent.ts';
import { startProgram, type TestProgram } from '../support/program.ts';
import { json, raw, startOddService, type OddService } from '../support/service.ts';

/**
 * The whole way: a service answers verify over HTTP, and `confirm` decides. Each record
 * by itself is read in test/gateway/contradictions.test.ts.
 */
let service: OddService;
let shop: TestProgram;
beforeAll(async () => {
  service = await startOddService();
  shop = await startProgram({
    gatewayUrl: service.url.origin,
    env: { CHECKOUTS_PER_MINUTE: '0', GATEWAY_CALLS_PER_SECOND: '0' },
  });
});
afterAll(async () => {
  await shop.close();
  await service.close();
});

type End = {
  order: string;
  payment: string;
  outcome: string;
  releases: number;
  suspense: number;
  /** Whether the journal names fields that contradict each other. */
  isNamed: boolean;
};

/** Confirms one payment whose verify answer is `answer`, and tells where it ended. */
async function confirmedBy(answer: object): Promise<End | undefined> {
  service.answer = json({ data: `https://pay.example.com/${newId()}` });
  const { orderId, reference } = await shop.checkout();
  const { database, confirm } = shop.program;
  const payment = await loadPayment(database, reference, 'test');
  if (payment === null) throw new Error('no payment');
  const text = JSON.stringify(answer)
    .replaceAll('{{reference}}', reference)
    .replace(/"@([^"]*)"/g, '$1');
  service.answer = raw(text);
  await confirm(payment, 'schedule');
  const [end] = await database.query<End>(
    `SELECT o.status AS order, p.status AS payment,
       (SELECT outcome FROM verifications v WHERE v.order_id = o.id ORDER BY v.id DESC LIMIT 1) AS outcome,
       (SELECT count(*)::int FROM releases r WHERE r.order_id = o.id) AS releases,
       (SELECT count(*)::int FROM suspense_items s WHERE s.order_id = o.id) AS suspense,
       EXISTS (SELECT FROM journal j WHERE j.order_id = o.id AND j.detail ->> 'contradiction' <> '') AS "isNamed"
     FROM orders o JOIN payments p ON p.order_id = o.id WHERE o.id = $1`,
    [orderId],
  );
  return end;
}

const PAID = { order: 'paid', payment: 'paid', outcome: 'paid', releases: 1, suspense: 0, isNamed: false };
const HELD = {
  order: 'review',
  payment: 'held',
  outcome: 'unproven',
  releases: 0,
  suspense: 0,
  isNamed: true,
};

const honest = someOf(Object.entries(HONEST), 8);
test.each(honest)('A2: an honest record pays at once: %s', async (_name, change) => {
  expect(await confirmedBy({ status: true, data: { ...PLAIN_RECORD, ...change } })).toEqual(PAID);
});

test.each(someOf(Object.entries(CONTRADICTORY), 16))(
  'A2: a record that contradicts itself is held: %s',
  async (_name, change) => {
    expect(await confirmedBy({ status: true, data: { ...PLAIN_RECORD, ...change } })).toEqual(HELD);
  },
);

describe('A2: an answer without an envelope', () => {
  test('pays when it is a record', async () => {
    expect(await confirmedBy(PLAIN_RECORD)).toEqual(PAID);
    expect(
      await confirmedBy({
        ...PLAIN_RECORD,
        customer: { status: 'active' },
        card: { status: 'expired' },
        metadata: { status: 'x' },
      }),
    ).toEqual(PAID);
  });
  test.each([
    { message: 'fetched', transaction: { status: 'pending' } },
    { transaction: { status: 'pending' } },
    { message: 'fetched' },
    { code: 200 },
  ])('is held when its status may be the one of the call: %j', async (beside) => {
    expect(await confirmedBy({ ...PLAIN_RECORD, ...beside })).toEqual(HELD);
  });
});
