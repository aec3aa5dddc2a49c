import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '../../src/platform/ids.ts';
import { readCases } from '../../src/admin/cases/cases.sql.ts';
import { stepsFor } from '../../src/admin/cases/case-advice.ts';
import { openSuspense, resolveSuspense } from '../../src/cases/suspense.sql.ts';
import { giveUpReturned } from '../../src/fulfilment/withhold.sql.ts';
import { recordRefund } from '../../src/orders/refunds.sql.ts';
import { wentBackDays } from '../../src/reporting/money-by-day.sql.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { loadPayment } from '../../src/payments/confirm.sql.ts';
import { asOrderId, asReference } from '../support/ids.ts';
import { eventually } from '../support/program.ts';
import { openDesk, startReconciling, type Desk, type Planted } from './desk.ts';
import { defaultDialect } from '../support/dialect.ts';
import { contradictionsOf } from '../../src/reporting/integrity.sql.ts';

// What refunds that the shop wrote down explain of what the service shows. Every payment is of 25.00 NGN.
let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

const run = async (): Promise<ReconciliationReport> => {
  const report = await desk.reconcile({ dryRun: false });
  expect(report.unclassified).toBe(0);
  expect(report.identity.map(({ difference }) => Number(difference))).toEqual(report.identity.map(() => 0));
  return report;
};

/** A confirmed payment; verify and the history show it as paid. */
async function paid(): Promise<Planted> {
  const planted = await desk.put({ isConfirmed: true }, { id: newId() });
  desk.service.verify.set(planted.reference, { reference: planted.reference });
  return planted;
}

async function refund({ orderId }: Planted, amount: bigint): Promise<void> {
  const given = { reason: 'Sent back', externalId: newId(), by: 'ada' };
  const done = await recordRefund(desk.database, 'test', { orderId: asOrderId(orderId), amount, ...given });
  expect(done.outcome).toBe('recorded');
}

/** Its release waits for the receiver. */
const waits = ({ orderId }: Planted) =>
  desk.database.query(`UPDATE releases SET delivery = 'waiting', next_check_at = now() WHERE order_id = $1`, [
    orderId,
  ]);
/** As a run does that no longer sees its finding. */
const closedByReconciliation = ({ orderId }: Planted) =>
  desk.database.query(
    `UPDATE findings SET closed_at = now(), closed_by = 'reconciliation', note = 'gone' WHERE order_id = $1`,
    [orderId],
  );
const deliveryOf = async ({ orderId }: Planted): Promise<string | undefined> => {
  const text = 'SELECT delivery FROM releases WHERE order_id = $1';
  return (await desk.database.query<{ delivery: string }>(text, [orderId]))[0]?.delivery;
};

/** The service shows a row of its own under the same reference. */
function showBack({ reference }: Planted, amount: string, status = 'REVERSED'): void {
  desk.service.history.push({ id: newId(), reference, status, amount });
}

/** The service shows the payment itself as given back. */
function showAllBack({ reference }: Planted): void {
  desk.service.history = desk.service.history.map((row) =>
    typeof row !== 'string' && row.reference === reference ? { ...row, status: 'REVERSED' } : row,
  );
  desk.service.verify.set(reference, { reference, status: 'REVERSED' });
}

/** The list and verify show these payments, each paid once, and no others. */
function showPlain(...payments: Planted[]): void {
  desk.service.history = payments.map(({ reference }) => ({ id: newId(), reference }));
  for (const { reference } of payments) desk.service.verify.set(reference, { reference });
}

const classesIn = ({ identity }: ReconciliationReport) => identity[0]?.classes;
const findings = (): Promise<object[]> =>
  desk.database.query(
    `SELECT class, closed_by, evidence ->> 'refunded' AS refunded, evidence ->> 'unexplained' AS unexplained
     FROM findings ORDER BY id`,
  );

describe('a refund that was written down', () => {
  test('before the service shows it: all is quiet, and stays so when it shows it', async () => {
    const payment = await paid();
    await refund(payment, 2_500n);
    expect(await run()).toMatchObject({ verdict: 'agreed', matched: 1 });
    showAllBack(payment);
    const report = await run();
    expect(report).toMatchObject({ verdict: 'agreed', findings: {} });
    expect(classesIn(report)).toEqual({ refunded: '-25.00' });
    expect(await findings()).toEqual([]);
  });

  test('once, and the service shows two of the same amount under the id of the payment', async () => {
    const payment = await paid();
    await refund(payment, 500n);
    const { id = '' } = desk.service.history.find((row) => typeof row !== 'string') ?? {};
    const back = (at: string) =>
      JSON.stringify({
        id,
        reference: payment.reference,
        status: 'REVERSED',
        amount: 5,
        currency: 'NGN',
        at,
      });
    // The first was read twice.
    desk.service.history.push(back('Monday'), back('Monday'));
    expect(await run()).toMatchObject({ verdict: 'agreed' });
    desk.service.history.push(back('Tuesday'));
    expect(await run()).toMatchObject({ findings: { reversed: 1 } });
    expect(await findings()).toMatchObject([{ refunded: '500', unexplained: '500' }]);
  });

  test('after the service showed it: the finding closes by itself', async () => {
    const payment = await paid();
    showAllBack(payment);
    expect(await run()).toMatchObject({ verdict: 'findings', findings: { reversed: 1 } });
    await refund(payment, 2_500n);
    expect(await run()).toMatchObject({ verdict: 'agreed', findings: {} });
    expect(await findings()).toMatchObject([{ class: 'reversed', closed_by: 'reconciliation' }]);
    expect(await run()).toMatchObject({ verdict: 'agreed', verified: 0 });
  });

  test.each([
    ['as a row of its own', '5.00', 'REVERSED'],
    ['as a negative row', '-5.00', 'SUCCESS'],
    ['as a negative row that went back', '-5.00', 'REFUNDED'],
  ])('in part, and the service shows it %s', async (_how, amount, status) => {
    const payment = await paid();
    await refund(payment, 500n);
    showBack(payment, amount, status);
    const report = await run();
    expect(report).toMatchObject({ verdict: 'agreed', findings: {} });
    expect(classesIn(report)).toEqual({ refunded: '-5.00' });
    expect(await run()).toMatchObject({ verdict: 'agreed', verified: 0 });
  });

  test('in two parts of which the service shows one', async () => {
    const payment = await paid();
    await refund(payment, 500n);
    await refund(payment, 700n);
    showBack(payment, '7.00');
    expect(await run()).toMatchObject({ verdict: 'agreed' });
    showBack(payment, '5.00');
    expect(classesIn(await run())).toEqual({ refunded: '-12.00' });
  });
});

describe('what refunds do not explain is raised', () => {
  test.each(['7.00', '-7.00'])('more went back than was written down, in a row of %s', async (amount) => {
    const payment = await paid();
    await refund(payment, 500n);
    showBack(payment, amount);
    const report = await run();
    expect(report.items).toMatchObject([{ class: 'reversed', expected: '25.00', actual: '18.00' }]);
    expect(await findings()).toMatchObject([{ refunded: '500', unexplained: '200' }]);
  });

  test('of a list that has only the negative row of it', async () => {
    const payment = await desk.put({ isConfirmed: true }, { status: 'REVERSED', amount: '-7.00' });
    desk.service.verify.set(payment.reference, { reference: payment.reference });
    await run();
    expect(await findings()).toMatchObject([{ refunded: '0', unexplained: '700' }]);
  });

  test('a part was written down, and then all of it is charged back', async () => {
    const payment = await paid();
    await refund(payment, 500n);
    showBack(payment, '5.00');
    expect(await run()).toMatchObject({ verdict: 'agreed' });
    desk.service.verify.set(payment.reference, { reference: payment.reference, status: 'REVERSED' });
    showBack(payment, '20.00');
    expect(await run()).toMatchObject({ findings: { reversed: 1 } });
    expect(await findings()).toMatchObject([{ refunded: '500', unexplained: '2000' }]);
    await refund(payment, 2_000n);
    expect(await run()).toMatchObject({ verdict: 'agreed', findings: {} });
  });

  test.each(['SUCCESS', 'REVERSED'])(
    'all was refunded, as was written down, and all of it is charged back besides, and verify says %s',
    async (status) => {
      const payment = await paid();
      await refund(payment, 2_500n);
      showBack(payment, '25.00');
      const { reference } = payment;
      desk.service.verify.set(reference, { reference, status });
      const loaded = await loadPayment(desk.database, asReference(reference), 'test');
      if (loaded !== null) await desk.confirm(loaded, 'webhook');
      expect(await run()).toMatchObject({ verdict: 'agreed' });
      showBack(payment, '25.00');
      const report = await run();
      expect(report.items).toMatchObject([{ class: 'reversed', expected: '25.00', actual: '-25.00' }]);
      expect(await findings()).toMatchObject([{ refunded: '2500', unexplained: '2500' }]);
    },
  );

  test('a chargeback after the delivery that nobody has written down', async () => {
    showAllBack(await paid());
    expect(await run()).toMatchObject({ findings: { reversed: 1 } });
    expect(await findings()).toMatchObject([{ refunded: '0', unexplained: '2500' }]);
  });

  test('nor a second charge that went back: none of the money that paid the order did', async () => {
    const payment = await paid();
    await waits(payment);
    desk.service.history.push({ id: newId(), reference: payment.reference });
    showBack(payment, '25.00');
    expect(await run()).toMatchObject({ findings: { reversed: 1 } });
    expect(await findings()).toMatchObject([{ refunded: '0', unexplained: '0' }]);
    expect(await deliveryOf(payment)).toBe('waiting');
    showBack(payment, '25.00');
    await run();
    expect(await deliveryOf(payment)).toBe('withheld');
  });

  test('two charges and two refunds of as much that are not told apart: it is withheld', async () => {
    const payment = await paid();
    await waits(payment);
    const { reference } = payment;
    desk.service.history.push({ id: newId(), reference });
    const back = { id: 'R1', reference, status: 'REVERSED', amount: '25', currency: 'NGN' };
    desk.service.history.push(JSON.stringify({ ...back, at: 1 }), JSON.stringify({ ...back, at: 2 }));
    expect((await run()).findings).toEqual({ reversed: 1 });
    expect(await deliveryOf(payment)).toBe('withheld');
  });

  test('a reversal that the service takes back gives the release up, and somebody is told', async () => {
    const payment = await paid();
    const other = await paid();
    const unneeded = await paid();
    await waits(payment);
    await waits(other);
    await refund(other, 2_500n);
    showAllBack(payment);
    showAllBack(unneeded);
    expect(await run()).toMatchObject({ findings: { reversed: 2 } });
    expect([await deliveryOf(payment), await deliveryOf(unneeded)]).toEqual(['withheld', 'withheld']);
    showPlain(payment, other, unneeded);
    for (let again = 0; again < 2; again += 1) expect(await run()).toMatchObject({ verdict: 'agreed' });
    expect([await deliveryOf(payment), await deliveryOf(other)]).toEqual(['dead', 'withheld']);
    expect(desk.inTransaction.filter(({ event }) => event === 'release-given-up')).toMatchObject([
      { orderId: payment.orderId, reason: 'its money had gone back, and is there again' },
    ]);
    const journal = `SELECT event, cause FROM journal WHERE order_id = $1 ORDER BY seq DESC LIMIT 1`;
    expect(await desk.database.query(journal, [payment.orderId])).toEqual([
      { event: 'release-dead', cause: 'reconciliation' },
    ]);
    // Nobody was to be told of the one that no receiver was to get, and it is as before.
    expect(await deliveryOf(unneeded)).toBe('unneeded');
    const all = [payment, unneeded].map(({ orderId }) => asOrderId(orderId));
    expect(
      (await contradictionsOf(desk.database, all)).filter(
        ({ what }) => what.startsWith('release') && what.includes('does not say so'),
      ),
    ).toEqual([]);
  });

  test('while a refund of its order is being written down, a release is not given back', async () => {
    const payment = await paid();
    showAllBack(payment);
    await run();
    await closedByReconciliation(payment);
    await desk.database.transaction(async (refunding) => {
      await refunding.query('SELECT FROM orders WHERE id = $1 FOR NO KEY UPDATE', [payment.orderId]);
      expect(await giveUpReturned(desk.database, 'test')).toEqual({ returned: [], isAnyLeft: false });
    });
    expect(await deliveryOf(payment)).toBe('withheld');
  });

  test('since the shop has a receiver, a person is told of one that none was to get', async () => {
    const payment = await paid();
    showAllBack(payment);
    await run();
    await closedByReconciliation(payment);
    await waits(await paid());
    const { returned } = await giveUpReturned(desk.database, 'test');
    expect(returned.map(({ orderId }) => orderId)).toContain(payment.orderId);
    expect(await deliveryOf(payment)).toBe('dead');
  });

  test('of more orders than one transaction writes journals of: all is withheld, held and given up', async () => {
    const payments = [await paid(), await paid(), await paid()];
    for (const payment of payments) await waits(payment);
    const twice = [await paid(), await paid(), await paid()];
    for (const { reference } of twice) desk.service.history.push({ id: newId(), reference });
    const told: unknown[] = [];
    const { reconcile, gateway } = startReconciling({
      ...{ database: desk.database, url: desk.service.url, dialect: defaultDialect, journalsAtOnce: 1 },
      alarm: (alert) => Promise.resolve(void told.push(alert.event)),
    });
    for (const payment of payments) showAllBack(payment);
    expect(await reconcile({ dryRun: false })).toMatchObject({
      findings: { reversed: 3, duplicate_payment: 3 },
    });
    const deliveries = () => Promise.all(payments.map(deliveryOf));
    expect(await deliveries()).toEqual(payments.map(() => 'withheld'));
    expect(await openSuspense(desk.database, 'test')).toHaveLength(3);
    showPlain(...payments, ...twice);
    await reconcile({ dryRun: false });
    expect(await deliveries()).toEqual(payments.map(() => 'dead'));
    expect(told.filter((event) => event === 'release-given-up')).toHaveLength(3);
    await gateway.close();
  });

  test.each<[string, string, object]>([
    [',"refunded":true', 'withheld', { reversed: 1 }],
    [',"refunded":true,"amount_refunded":25', 'withheld', { reversed: 1 }],
    [',"refunded":true,"amount_refunded":5', 'waiting', { unknown_status: 1 }],
    [',"refunds":[{"id":"re_1"}]', 'waiting', { unknown_status: 1 }],
    [',"disputed":true', 'waiting', { unknown_status: 1 }],
  ])('nor a flag beside a status that stays as it was: %s', async (flag, delivery, raised) => {
    const payment = await paid();
    await waits(payment);
    const { reference } = payment;
    const record = `{"reference":"${reference}","status":"SUCCESS","amount":25,"currency":"NGN"${flag}}`;
    desk.service.history = [record];
    desk.service.verify.set(reference, record);
    expect((await run()).findings).toEqual(raised);
    expect(await deliveryOf(payment)).toBe(delivery);
  });

  test('nor a second charge, other money, or a word that nobody explained', async () => {
    const [twice, more, odd] = [await paid(), await paid(), await paid()];
    for (const payment of [twice, more, odd]) await refund(payment, 2_500n);
    desk.service.history.push({ id: newId(), reference: twice.reference });
    showBack(twice, '25.00');
    desk.service.history.push({ id: newId(), reference: more.reference, amount: '5.00' });
    showBack(more, '5.00');
    showBack(odd, '5.00', 'partially refunded');
    const report = await run();
    expect(report.findings).toEqual({ reversed: 2, conflicting_records: 1 });
  });
});

describe('a second charge that went back', () => {
  /** The second charge is in suspense. */
  async function chargedTwice(): Promise<Planted> {
    const payment = await paid();
    desk.service.history.push({ id: newId(), reference: payment.reference });
    expect(await run()).toMatchObject({ findings: { duplicate_payment: 1 } });
    return payment;
  }
  async function decide(decision: 'refund' | 'keep'): Promise<void> {
    const [item] = await openSuspense(desk.database, 'test');
    const how = { by: 'Ada', note: 'x', decision, refundNote: decision === 'refund' ? 'RF-1' : null };
    expect(await resolveSuspense(desk.database, 'test', item?.id ?? 0n, how)).toBe(true);
  }

  test('after a person decided to refund it is no finding; one that was kept is', async () => {
    for (const [decision, verdict] of [
      ['refund', 'agreed'],
      ['keep', 'findings'],
    ] as const) {
      const payment = await chargedTwice();
      await decide(decision);
      showBack(payment, '25.00');
      expect(await run()).toMatchObject({ verdict });
    }
  });

  test('is other money when it has disappeared and comes again; what is left of more is not', async () => {
    const { reference } = await paid();
    const show = async (...ids: string[]): Promise<object> => {
      desk.service.history.splice(0, Infinity, ...ids.map((id) => ({ id, reference })));
      return (await run()).findings;
    };
    const heldNow = async () => (await openSuspense(desk.database, 'test')).map(({ amount }) => amount);
    expect(await show('T1', 'T2')).toEqual({ duplicate_payment: 1 });
    await decide('refund');
    expect([await show('T1', 'T2'), await show('T1'), await heldNow()]).toEqual([{}, {}, []]);
    for (let again = 0; again < 2; again += 1) {
      expect(await show('T1', 'T3')).toEqual({ duplicate_payment: 1 });
      expect(await heldNow()).toEqual([2_500n]);
    }
    // A third one is one more, once the second was decided about.
    await decide('refund');
    for (let again = 0; again < 2; again += 1) {
      expect(await show('T1', 'T3', 'T4')).toEqual({ duplicate_payment: 1 });
      expect(await heldNow()).toEqual([2_500n]);
    }
    await decide('refund');
    for (const ids of [
      ['T1', 'T3', 'T4'],
      ['T1', 'T3'],
      ['T1', 'T3'],
    ])
      expect([await show(...ids), await heldNow()]).toEqual([{}, []]);
    // None of them was left when a run looked: whatever was decided, one more is new.
    expect([await show('T1'), await heldNow()]).toEqual([{}, []]);
    for (let again = 0; again < 2; again += 1) {
      expect(await show('T1', 'T5')).toEqual({ duplicate_payment: 1 });
      expect(await heldNow()).toEqual([2_500n]);
    }
  });

  test('before anybody decided is not to be refunded again, and the decision closes its finding', async () => {
    const payment = await chargedTwice();
    const steps = async () => {
      const [row] = await readCases(desk.database, 'test', {}, { limit: 2 });
      return row && stepsFor(row, 'en');
    };
    expect((await steps())?.[0]).toMatch(/^Refund .*25.00 at the payment service.$/);
    showBack(payment, '25.00');
    expect(await run()).toMatchObject({ findings: { reversed: 1 } });
    expect((await steps())?.[0]).toMatch(/^The service shows that money of this payment went back already/);
    await decide('refund');
    expect(await readCases(desk.database, 'test', {}, { limit: 2 })).toEqual([]);
    for (let again = 0; again < 2; again += 1)
      expect(await run()).toMatchObject({ verdict: 'agreed', findings: {} });
    // The charge that paid the order goes back, too.
    showBack(payment, '25.00');
    expect(await run()).toMatchObject({ findings: { reversed: 1 } });
  });
});

describe('a refund that is written down while a run ends', () => {
  const waiting = async (): Promise<number> => {
    const [row] = await desk.database.query<{ count: number }>(
      `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return row?.count ?? 0;
  };
  const events = (): Promise<object[]> =>
    desk.database.query(`SELECT type, data ->> 'unexplained' AS unexplained FROM events ORDER BY seq`);

  test.each([
    [500n, [{ type: 'order.refunded' }, { type: 'order.reversed', unexplained: '2000' }]],
    [2_500n, [{ type: 'order.refunded' }]],
  ])('before it: %d minor units are not raised as gone', async (amount, told) => {
    const payment = await paid();
    showAllBack(payment);
    // Verify has said it already: the run does not ask, and waits for no answer to be written.
    const loaded = await loadPayment(desk.database, asReference(payment.reference), 'test');
    if (loaded !== null) await desk.confirm(loaded, 'webhook');
    const ended = await desk.database.transaction(async (tx) => {
      await tx.query(
        `INSERT INTO refunds (id, order_id, mode, amount, currency, reason, refunded_by)
         VALUES ($1, $2, 'test', $3, 'NGN', 'Sent back', 'ada')`,
        [`re_${newId()}`, payment.orderId, amount],
      );
      const running = run();
      await eventually(async () => (await waiting()) === 1);
      return { running };
    });
    await ended.running;
    expect(await events()).toMatchObject(told);
    expect(await findings()).toHaveLength(told.length - 1);
  });

  test('after it: the refund waits, and its event comes second', async () => {
    const payment = await paid();
    showAllBack(payment);
    const both = await desk.database.transaction(async (tx) => {
      await tx.query('LOCK TABLE confirmed_payments IN EXCLUSIVE MODE');
      const running = run();
      await eventually(async () => (await waiting()) === 1);
      const writing = refund(payment, 2_500n);
      await eventually(async () => (await waiting()) === 2);
      return { done: Promise.all([running, writing]) };
    });
    await both.done;
    expect(await events()).toMatchObject([
      { type: 'order.reversed', unexplained: '2500' },
      { type: 'order.refunded' },
    ]);
  });
});

describe('what went back, by day', () => {
  const wentBack = async (days = 1): Promise<unknown[]> =>
    (await wentBackDays(desk.database, 'test', days)).map(({ by, count, amount }) => [by, count, amount]);

  test('is a refund on the day it was written down, or a reversal on the day it was raised, never both', async () => {
    const [payment, other] = [await paid(), await paid()];
    await refund(other, 700n);
    expect(await wentBack()).toEqual([['refunded', 1, 700n]]);
    showAllBack(payment);
    await run();
    expect(await wentBack()).toEqual([
      ['refunded', 1, 700n],
      ['reversed', 1, 2_500n],
    ]);
    // Before the next run sees it, too.
    await refund(payment, 1_000n);
    expect(await wentBack()).toEqual([
      ['refunded', 2, 1_700n],
      ['reversed', 1, 1_500n],
    ]);
    await refund(payment, 1_500n);
    expect(await wentBack()).toEqual([['refunded', 3, 3_200n]]);
    await run();
    expect(await wentBack()).toEqual([['refunded', 3, 3_200n]]);
  });

  test('is gone for good when a person has written it off, and not when the service took its word back', async () => {
    const [lost, won] = [await paid(), await paid()];
    showAllBack(lost);
    showAllBack(won);
    await run();
    await desk.database.query(
      `UPDATE findings SET closed_at = now(), closed_by = 'ada', note = 'written off' WHERE reference = $1`,
      [lost.reference],
    );
    desk.service.history = [{ id: newId(), reference: won.reference }];
    desk.service.history.push({ id: newId(), reference: lost.reference, status: 'REVERSED' });
    desk.service.verify.set(won.reference, { reference: won.reference });
    await run();
    expect(await wentBack()).toEqual([['reversed', 1, 2_500n]]);
  });

  test('counts no other day', async () => {
    await refund(await paid(), 700n);
    await desk.database.query('ALTER TABLE refunds DISABLE TRIGGER refunds_are_frozen');
    await desk.database.query(`UPDATE refunds SET refunded_at = now() - interval '26 hours'`);
    await desk.database.query('ALTER TABLE refunds ENABLE TRIGGER refunds_are_frozen');
    expect(await wentBack()).toEqual([]);
    expect(await wentBack(3)).toEqual([['refunded', 1, 700n]]);
  });
});
