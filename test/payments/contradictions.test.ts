import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '../../src/platform/ids.ts';
import { keepLines } from '../support/lines.ts';
import { startProgram, type TestProgram } from '../support/program.ts';
import { json, raw, startOddService, type OddService } from '../support/service.ts';

/* G1: an order is paid, and later the service says something else about its payment. */

const TOKEN = 'operator-token-of-the-test';
const { logger, lines } = keepLines();
let service: OddService;
let shop: TestProgram;
let order: { orderId: string; reference: string };
beforeAll(async () => {
  service = await startOddService();
  shop = await startProgram({ gatewayUrl: service.url.origin, logger, env: { ADMIN_TOKEN: TOKEN } });
});
afterAll(async () => {
  await shop.close();
  await service.close();
});
beforeEach(async () => {
  service.answer = json({ data: `https://pay.example.com/${newId()}` });
  order = await shop.checkout();
  await look({});
});

const query = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);

/** The service answers with the record that paid, changed so; or with this text. */
async function look(change: object | string, status = 200): Promise<void> {
  const record = { reference: order.reference, status: 'SUCCESS', amount: 8500, currency: 'NGN' };
  service.answer =
    typeof change === 'string' ? raw(change, status) : json({ data: { ...record, ...change } }, status);
  lines.length = 0;
  await query('UPDATE payments SET next_check_at = now() WHERE reference = $1', order.reference);
  await shop.program.duePayments.runOnce();
}

const contradictions = async () =>
  (
    await query<{ outcome: string }>(
      `SELECT detail ->> 'outcome' AS outcome FROM journal
       WHERE order_id = $1 AND event = 'verification-contradicts' ORDER BY seq`,
      order.orderId,
    )
  ).map(({ outcome }) => outcome);

async function counted(outcome: string): Promise<number> {
  const answer = await fetch(`${shop.origin}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
  const name = `integrator_contradicting_answers_total{outcome="${outcome}"} `;
  const line = (await answer.text()).split('\n').find((each) => each.startsWith(name));
  return Number(line?.slice(name.length) ?? 0);
}

const warnings = (): unknown[] =>
  lines
    .map((line) => JSON.parse(line) as { level: number; msg: string; reference?: string; outcome?: string })
    .filter(({ level, reference }) => level === 40 && reference === order.reference)
    .map(({ msg, outcome }) => ({ msg, outcome }));

describe('G1: every answer about a paid order that is not exactly "paid" is journalled, warned of and counted', () => {
  test.each<[string, string, object | string, number?]>([
    ['less money', 'underpaid', { amount: 1 }],
    ['more money', 'overpaid', { amount: 9000 }],
    ['another unit', 'unit_error', { amount: 850_000 }],
    ['another currency', 'currency_mismatch', { currency: 'XOF' }],
    ['an unknown word', 'unknown_status', { status: 'chargeback' }],
    ['pending', 'pending', { status: 'PENDING' }],
    ['failed', 'failed', { status: 'FAILED' }],
    ['reversed', 'reversed', { status: 'REVERSED' }],
    ['an amount that cannot be read', 'unproven', { amount: 'a lot' }],
    ['the other mode', 'mode_mismatch', { mode: 'live' }],
    ["a neighbour's reference", 'reference_mismatch', { reference: 'N'.repeat(24) }],
    ['nothing', 'not_found', '{}', 404],
    ['a page', 'unreadable', '<html>'],
  ])('%s', async (_name, outcome, change, status = 200) => {
    const before = await counted(outcome);
    await look(change, status);
    expect(await contradictions()).toEqual([outcome]);
    expect(warnings()).toEqual([{ msg: 'verify contradicts a paid order', outcome }]);
    expect((await counted(outcome)) - before).toBe(1);
    expect(await query('SELECT status FROM orders WHERE id = $1', order.orderId)).toEqual([
      { status: 'paid' },
    ]);
  });

  test('what is said again is journalled once, what is said after it was confirmed once more', async () => {
    await look({ status: 'chargeback' });
    await look({ status: 'chargeback' });
    expect(await contradictions()).toEqual(['unknown_status']);
    await look({});
    await look({ status: 'chargeback' });
    expect(await contradictions()).toEqual(['unknown_status', 'unknown_status']);
  });

  test('the same answer that paid contradicts nothing', async () => {
    await look({});
    expect(await contradictions()).toEqual([]);
    expect(warnings()).toEqual([]);
  });
});

describe('F4: a payment does not move by hand', () => {
  const move = (status: string) =>
    query('UPDATE payments SET status = $2 WHERE reference = $1', order.reference, status);

  test.each(['open', 'failed', 'expired', 'held', 'refused', 'ambiguous'])(
    'from paid to %s',
    async (status) => {
      await expect(move(status)).rejects.toThrow('the payment is paid');
    },
  );

  test.each(['open', 'failed', 'expired', 'paid', 'refused', 'ambiguous'])(
    'from held to %s',
    async (status) => {
      service.answer = json({ data: `https://pay.example.com/${newId()}` });
      order = await shop.checkout();
      await look({ status: 'MUDDLED' });
      await expect(move(status)).rejects.toThrow('only an answer of the service moves it');
      await look({});
      expect(await query('SELECT status FROM payments WHERE reference = $1', order.reference)).toEqual([
        { status: 'paid' },
      ]);
    },
  );
});
