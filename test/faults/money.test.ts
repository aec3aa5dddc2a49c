import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { answers, withRecord } from '../support/line-faults.ts';
import { eventually } from '../support/program.ts';
import { startStage, type End, type Order, type Stage } from '../support/stage.ts';

// What really happens to the money: late, twice, too little, back again. The ledger says what is true, the table where
// the order must stand when every word has been heard.

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.close());

const DAY = 86_400;
const says = (status: string) => withRecord({ status });

/** The service hints at this payment, and the clock asks. */
async function hintAndAsk(order: Order): Promise<void> {
  const body = { data: { reference: order.reference }, nonce: Math.random() };
  expect(await stage.callUs(body)).toBe(202);
  // The pause between two hinted checks is over.
  await stage.later(order, 11);
}

/** The checkout failed, and the shopper began another. @returns the second one */
async function secondCheckout(order: Order): Promise<Order> {
  stage.line.disturb('verify', [says('FAILED')], order.reference);
  await stage.comeBack(order);
  return stage.checkout({ orderId: order.orderId });
}

type Scenario = { id: string; name: string; play: (order: Order) => Promise<unknown>; end: Partial<End> };

const SCENARIOS: readonly Scenario[] = [
  {
    id: 'S9',
    name: 'the record appears two minutes late',
    play: async (order) => {
      await stage.decide(order, 'pay');
      stage.line.disturb('verify', [answers(404), answers(404), answers(404)], order.reference);
      await stage.comeBack(order);
      await stage.later(order, 45);
      await stage.later(order, 75);
      expect(await stage.endOf(order)).toMatchObject({ order: 'pending', payments: ['open'], releases: 0 });
      await stage.later(order, 180);
    },
    end: {
      order: 'paid',
      payments: ['paid'],
      proofs: ['not_found', 'paid'],
      releases: 1,
    },
  },
  {
    id: 'S9',
    name: 'the record is missing to the horizon, and money is found after it',
    play: async (order) => {
      stage.line.disturb('verify', answers(404), order.reference);
      for (let day = 1; day <= 7; day += 1) await stage.later(order, DAY);
      expect(await stage.endOf(order)).toMatchObject({ order: 'pending', payments: ['open'] });
      await stage.later(order, 1.1 * DAY);
      expect(await stage.endOf(order)).toMatchObject({ order: 'expired', payments: ['expired'] });
      stage.line.clear();
      await stage.decide(order, 'pay');
      await hintAndAsk(order);
    },
    end: { order: 'paid', payments: ['paid'], suspense: [], releases: 1 },
  },
  {
    id: 'S10',
    name: 'paid, then pending, then paid again',
    play: async (order) => {
      await stage.decide(order, 'pay');
      await stage.comeBack(order);
      stage.line.disturb('verify', [says('PENDING')], order.reference);
      await hintAndAsk(order);
      await hintAndAsk(order);
    },
    end: {
      order: 'paid',
      payments: ['paid'],
      proofs: ['paid', 'pending', 'paid'],
      suspense: [],
      releases: 1,
    },
  },
  {
    id: 'S11',
    name: 'failed, pending, failed, paid',
    play: async (order) => {
      await stage.decide(order, 'pay');
      stage.line.disturb('verify', [says('FAILED'), says('PENDING'), says('FAILED')], order.reference);
      await stage.comeBack(order);
      expect(await stage.endOf(order)).toMatchObject({ order: 'failed', payments: ['failed'], releases: 0 });
      for (let look = 0; look < 3; look += 1) await hintAndAsk(order);
    },
    end: { order: 'paid', payments: ['paid'], proofs: ['failed', 'pending', 'failed', 'paid'], releases: 1 },
  },
  {
    id: 'S11',
    name: 'paid, then failed',
    play: async (order) => {
      await stage.decide(order, 'pay');
      await stage.comeBack(order);
      stage.line.disturb('verify', [says('FAILED')], order.reference);
      await hintAndAsk(order);
    },
    end: { order: 'paid', payments: ['paid'], proofs: ['paid', 'failed'], suspense: [], releases: 1 },
  },
  {
    id: 'S15',
    name: 'a kobo too little was paid',
    play: async (order) => {
      await stage.decide(order, 'pay', { amount: '8499.99' });
      await stage.comeBack(order);
    },
    end: {
      order: 'review',
      payments: ['held'],
      proofs: ['underpaid'],
      suspense: ['underpaid 849999'],
      releases: 0,
    },
  },
  {
    id: 'S15',
    name: 'a kobo too much was paid',
    play: async (order) => {
      await stage.decide(order, 'pay', { amount: '8500.01' });
      await stage.comeBack(order);
    },
    end: {
      order: 'review',
      payments: ['held'],
      proofs: ['overpaid'],
      suspense: ['overpaid 850001'],
      releases: 0,
    },
  },
  {
    id: 'S15',
    name: 'a part was paid, and then the rest',
    play: async (order) => {
      await stage.decide(order, 'pay', { amount: '8000.00' });
      await stage.comeBack(order);
      expect(await stage.endOf(order)).toMatchObject({ order: 'review', suspense: ['underpaid 800000'] });
      await stage.decide(order, 'pay', { amount: '500.00' });
      await hintAndAsk(order);
    },
    end: { order: 'paid', payments: ['paid'], proofs: ['underpaid', 'paid'], suspense: [], releases: 1 },
  },
  {
    id: 'S16',
    name: 'the same number of another currency was paid',
    play: async (order) => {
      await stage.decide(order, 'pay', { amount: '8500', currency: 'XOF' });
      await stage.comeBack(order);
    },
    end: {
      order: 'review',
      payments: ['held'],
      proofs: ['currency_mismatch'],
      suspense: ['currency_mismatch 8500'],
      releases: 0,
    },
  },
  {
    id: 'S36',
    name: 'paid by two checkouts, the second one first',
    play: async (order) => {
      const second = await secondCheckout(order);
      for (const each of [order, second]) await stage.decide(each, 'pay');
      await stage.comeBack(second);
      await hintAndAsk(order);
    },
    end: { order: 'paid', payments: ['held', 'paid'], suspense: ['duplicate_payment 850000'], releases: 1 },
  },
  {
    id: 'S36',
    name: 'paid by two checkouts, seen at the same instant',
    play: async (order) => {
      const second = await secondCheckout(order);
      for (const each of [order, second]) await stage.decide(each, 'pay');
      await Promise.all([
        stage.comeBack(second),
        stage.later(order, 0),
        stage.comeBack(order),
        hintAndAsk(order),
      ]);
      await stage.later(order, 60);
    },
    end: { order: 'paid', suspense: ['duplicate_payment 850000'], releases: 1 },
  },
  {
    id: 'S36',
    name: 'one checkout charged twice, after the first charge was seen',
    play: async (order) => {
      await stage.decide(order, 'pay');
      await stage.comeBack(order);
      await stage.decide(order, 'pay');
      await hintAndAsk(order);
    },
    end: {
      order: 'paid',
      payments: ['paid'],
      proofs: ['paid', 'overpaid'],
      suspense: ['charged_again 850000'],
      releases: 1,
    },
  },
  {
    id: 'S36',
    name: 'one checkout charged twice before anybody looked',
    play: async (order) => {
      await stage.decide(order, 'pay');
      await stage.decide(order, 'pay');
      await stage.comeBack(order);
    },
    end: { order: 'review', payments: ['held'], suspense: ['overpaid 1700000'], releases: 0 },
  },
  {
    id: 'S37',
    name: 'paid after the order had expired',
    play: async (order) => {
      await stage.later(order, 9 * DAY);
      expect(await stage.endOf(order)).toMatchObject({ order: 'expired', proofs: ['pending'] });
      await stage.decide(order, 'pay');
      await hintAndAsk(order);
    },
    end: { order: 'paid', payments: ['paid'], proofs: ['pending', 'paid'], suspense: [], releases: 1 },
  },
  {
    id: 'S37',
    name: 'paid after it had failed, and nobody called',
    play: async (order) => {
      await stage.decide(order, 'fail');
      await stage.comeBack(order);
      expect(await stage.endOf(order)).toMatchObject({ order: 'failed', payments: ['failed'] });
      await stage.decide(order, 'pay');
      await stage.later(order, 3 * DAY);
    },
    end: { order: 'paid', payments: ['paid'], proofs: ['failed', 'paid'], suspense: [], releases: 1 },
  },
  {
    id: 'S37',
    name: 'paid by an expired checkout, while another one of the order is open',
    play: async (order) => {
      await stage.later(order, 9 * DAY);
      await stage.checkout({ orderId: order.orderId });
      await stage.decide(order, 'pay');
      await hintAndAsk(order);
    },
    end: { order: 'paid', payments: ['paid', 'open'], suspense: [], releases: 1 },
  },
  {
    id: 'S38',
    name: 'paid and seen, then charged back',
    play: async (order) => {
      await stage.decide(order, 'pay');
      await stage.comeBack(order);
      await stage.decide(order, 'reverse');
      await hintAndAsk(order);
      const report = await stage.program.reconcile({ dryRun: false });
      expect(report.items.filter(({ reference }) => reference === order.reference)).toMatchObject([
        { class: 'reversed', orderId: order.orderId },
      ]);
    },
    end: { order: 'paid', payments: ['paid'], proofs: ['paid', 'reversed'], suspense: [], releases: 1 },
  },
  {
    id: 'S38',
    name: 'paid and charged back before anybody looked',
    play: async (order) => {
      await stage.decide(order, 'pay');
      await stage.decide(order, 'reverse');
      await stage.comeBack(order);
    },
    end: { order: 'failed', payments: ['failed'], proofs: ['reversed'], suspense: [], releases: 0 },
  },
  {
    id: 'S41',
    name: 'history says paid, verify says pending, and comes round in the end',
    play: async (order) => {
      await stage.decide(order, 'pay');
      stage.line.disturb('verify', says('PENDING'), order.reference);
      await stage.comeBack(order);
      const report = await stage.program.reconcile({ dryRun: false });
      // Lists lag: within its first hour a contradiction is counted and not yet raised.
      expect(report.graced).toMatchObject({ sources_disagree: 1 });
      expect(await stage.endOf(order)).toMatchObject({ order: 'pending', payments: ['open'], releases: 0 });
      stage.line.clear();
      await stage.program.reconcile({ dryRun: false });
    },
    end: { order: 'paid', payments: ['paid'], suspense: [], releases: 1 },
  },
  {
    id: 'S42',
    name: 'history holds payments that are not ours: nobody asks about them',
    play: async (order) => {
      for (const reference of ['not-ours-at-all', 'N0tOurs'.padEnd(24, 'x')]) await foreignPayment(reference);
      const report = await stage.program.reconcile({ dryRun: false });
      expect(report.items.filter((item) => item.class === 'unknown_reference')).toHaveLength(2);
      expect(stage.line.callsAbout('N0tOurs'.padEnd(24, 'x')).verify).toBe(0);
      await stage.comeBack(order);
    },
    end: { order: 'pending', payments: ['open'], proofs: ['pending'], releases: 0 },
  },
];

/** Somebody else uses the same account at the service. */
async function foreignPayment(reference: string): Promise<void> {
  const opened = await fetch(`${stage.sandbox.url}/v1/transactions/initialize`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': stage.sandbox.testKey },
    body: JSON.stringify({
      email: 'someone@example.com',
      amount: 12,
      localCurrency: 'NGN',
      amountCurrency: 'local',
      reference,
      redirectUrl: 'https://elsewhere.example/',
    }),
  });
  expect(opened.status).toBe(200);
  await stage.decide({ reference }, 'pay');
}

describe('where the money ends', () => {
  test.each(SCENARIOS)('$id: $name', async ({ play, end }) => {
    const order = await stage.checkout();
    await play(order);
    stage.line.clear();
    expect(await stage.endOf(order)).toMatchObject(end);
    await stage.heal(order);
    const { order: status, releases } = await stage.endOf(order);
    expect({ order: status, releases }).toMatchObject({ order: end.order, releases: end.releases });
    await stage.check();
  });
});

test('S36: a second charge that the service tells by webhook stands in suspense, too', async () => {
  const order = await stage.checkout();
  for (let charge = 0; charge < 2; charge += 1) {
    const before = await hintsOf(order);
    await stage.decide(order, 'pay', { notify: true });
    await eventually(async () => (await hintsOf(order)) > before);
    await stage.later(order, 11);
  }
  expect(await stage.endOf(order)).toMatchObject({
    order: 'paid',
    suspense: ['charged_again 850000'],
    releases: 1,
    wire: { initialize: 1, verify: 2 },
  });
  await stage.check();
});

async function hintsOf({ reference }: Order): Promise<number> {
  const [row] = await stage.program.database.query<{ hints: number }>(
    'SELECT hints FROM payments WHERE reference = $1',
    [reference],
  );
  return row?.hints ?? 0;
}

test.each([
  ['a hundredfold', '850000.00', 'unit_error 85000000'],
  ['a hundredth', '85.00', 'unit_error 8500'],
])(
  'S15: %s was paid: a class of its own, because somebody mixes up units',
  async (_name, amount, suspense) => {
    const own = await startStage();
    try {
      const order = await own.checkout();
      await own.decide(order, 'pay', { amount });
      expect(await own.comeBack(order)).toBe(303);
      await own.heal(order);
      const end = await own.endOf(order);
      expect(end).toMatchObject({ order: 'review', payments: ['held'], suspense: [suspense], releases: 0 });
      expect(new Set(end.proofs)).toEqual(new Set(['unit_error']));
      await own.check();
    } finally {
      await own.close();
    }
  },
);
