import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createAccept, type Accept } from '../../src/payments/accept.ts';
import { hintAndLease, isBeingChecked } from '../../src/payments/checks.sql.ts';
import { loadPayment } from '../../src/payments/confirm.sql.ts';
import type { Payment } from '../../src/payments/payment.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { confirmedDays, heldDays, wentBackDays } from '../../src/reporting/money-by-day.sql.ts';
import { explain } from '../../src/reporting/explain.ts';
import { listFindings } from '../../src/cases/findings.ts';
import { findOrder } from '../../src/orders/orders.sql.ts';
import { recordRefund } from '../../src/orders/refunds.sql.ts';
import { reopenOrder } from '../../src/orders/reopen.sql.ts';
import type { OrderId } from '../../src/platform/ids.ts';
import { noteSurplusRefund, openSuspense, resolveSuspense } from '../../src/cases/suspense.sql.ts';
import { decisionsFor } from '../../src/admin/cases/case-advice.ts';
import { recordsOf } from '../../src/admin/cases/case-records.sql.ts';
import { readCases } from '../../src/admin/cases/cases.sql.ts';
import type { Ending } from '../../src/cases/resolution.ts';
import { openDesk, startReconciling, type Desk } from '../reconciliation/desk.ts';
import { parseDialect } from '../../src/gateway/dialect/dialect.ts';
import { asOrderId, asReference } from '../support/ids.ts';
import { eventually } from '../support/program.ts';

/* A person lets what came pay its order: on what the service shows now, once, and the books still close. */

let desk: Desk;
let accept: Accept;
let told = 0;
beforeEach(async () => {
  desk = await openDesk();
  told = 0;
  accept = createAccept({
    ...desk,
    planRelease: ({ releaseId }) => ({ id: releaseId, delivery: 'waiting' }),
    onReleased: () => (told += 1),
    logger: createLogger('silent'),
  });
});
afterEach(() => desk.close());

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  desk.database.query<Row>(text, values);
const items = () => openSuspense(desk.database, 'test');

/** The service shows this from now on, in its list and when it is asked; the one room asks. */
async function show(reference: string, amount: string, status = 'SUCCESS'): Promise<void> {
  const record = { reference, status, amount, currency: 'NGN' };
  desk.service.history.splice(0, Infinity, record);
  desk.service.verify.set(reference, record);
  await desk.confirm(await load(reference), 'webhook');
}
async function load(reference: string): Promise<Payment> {
  const payment = await loadPayment(desk.database, asReference(reference), 'test');
  if (payment === null) throw new Error(`there is no payment ${reference}`);
  return payment;
}

/** Verify would answer with the amount, and has not been asked; the list shows a charge, and what went back of it. */
function list(reference: string, amount: string, charge: string, back?: string): void {
  const row = (id: string, status: string, of: string) => ({
    id,
    reference,
    status,
    amount: of,
    currency: 'NGN',
  });
  desk.service.verify.set(reference, row('T1', 'SUCCESS', amount));
  const rows = [row('T1', 'SUCCESS', charge), ...(back === undefined ? [] : [row('T2', 'REVERSED', back)])];
  desk.service.history.splice(0, Infinity, ...rows);
}

async function resolveTheOne(): Promise<void> {
  const [item] = await items();
  const how = { by: 'Ada', note: 'x', decision: 'refund', refundNote: 'RF-1' } as const;
  expect(await resolveSuspense(desk.database, 'test', item?.id ?? 0n, how)).toBe(true);
}

async function acceptTheOne(): Promise<string> {
  const [item] = await items();
  return accept({ id: item?.id ?? 0n, by: 'Ngozi', note: 'it is enough', seen: item?.version ?? null });
}

async function stateOf(orderId: string) {
  const [row] = await sql(
    `SELECT o.status AS order, p.status AS payment, p.decided_at AS decided, r.amount, r.outcome, r.delivery
     FROM orders o JOIN payments p ON p.order_id = o.id LEFT JOIN releases r ON r.order_id = o.id WHERE o.id = $1`,
    orderId,
  );
  return row;
}
/** What contradicts its journal, but for the lines that a planted order lacks. */
const isWhole = async (orderId: string) =>
  (await explain(desk.database, orderId))?.orderDetail.contradictions.filter(
    (what) => what !== 'the order costs other than its lines',
  );

/** Today's money in minor units: confirmed, held, and gone back. */
async function today(): Promise<bigint[]> {
  const days = [confirmedDays, heldDays, wentBackDays];
  const sums = days.map(async (read): Promise<bigint> => {
    const rows: { amount: bigint }[] = await read(desk.database, 'test', 2);
    return rows.reduce((all, { amount }) => all + amount, 0n);
  });
  return Promise.all(sums);
}

const PAID = {
  order: 'paid',
  payment: 'paid',
  decided: null,
  amount: 2_500n,
  outcome: null,
  delivery: 'waiting',
};

describe('too little that a person accepts', () => {
  test('pays its order, closes item and finding, and the books close from then on', async () => {
    const { reference, orderId } = await desk.put({}, null);
    await show(reference, '24.99');
    expect(await desk.reconcile({ dryRun: false })).toMatchObject({ findings: { underpaid: 1 } });
    expect(await acceptTheOne()).toBe('accepted');
    expect(await stateOf(orderId)).toEqual(PAID);
    expect(told).toBe(1);
    expect([await items(), await listFindings(desk.database, 'test')]).toEqual([[], []]);
    expect(await isWhole(orderId)).toEqual([]);
    for (let again = 0; again < 2; again += 1) {
      const report = await desk.reconcile({ dryRun: false });
      expect(report).toMatchObject({ verdict: 'agreed', findings: {} });
      expect(report.identity).toMatchObject([
        { serviceTotal: '24.99', confirmed: '25.00', classes: { accepted: '-0.01' }, difference: '0.00' },
      ]);
      // The same answer once more contradicts nothing.
      const payment = await loadPayment(desk.database, asReference(reference), 'test');
      if (payment !== null)
        expect(await desk.confirm(payment, 'webhook')).toMatchObject({ contradicts: false });
    }
    expect(await isWhole(orderId)).toEqual([]);
    expect(await today()).toEqual([2_499n, 0n, 0n]);
    // The rest comes, and only the list says so: the run asks.
    const record = { reference, status: 'SUCCESS', amount: '25', currency: 'NGN' };
    desk.service.history.splice(0, Infinity, record);
    desk.service.verify.set(reference, record);
    expect(await desk.reconcile({ dryRun: false })).toMatchObject({ verdict: 'agreed', verified: 1 });
    expect(await today()).toEqual([2_500n, 0n, 0n]);
    expect(await desk.reconcile({ dryRun: false })).toMatchObject({ verdict: 'agreed', verified: 0 });
  });

  test('no more of it can go back than came', async () => {
    const { reference, orderId } = await desk.put({}, null);
    await show(reference, '20.00');
    expect(await acceptTheOne()).toBe('accepted');
    const refund = { orderId: asOrderId(orderId), reason: 'torn', externalId: null, by: 'Ngozi' };
    const record = (amount: bigint) => recordRefund(desk.database, 'test', { ...refund, amount });
    expect(await record(2_001n)).toMatchObject({ outcome: 'too-much', left: 2_000n });
    expect(await record(2_000n)).toMatchObject({ outcome: 'recorded' });
    const order = await findOrder(desk.database, asOrderId(orderId));
    expect(order).toMatchObject({ came: 2_000n, refunded: 2_000n, total: { amount: 2_500n } });
    await expect(
      desk.database.query(
        `INSERT INTO refunds (id, order_id, mode, amount, currency, reason, refunded_by)
         VALUES ('re_' || repeat('a', 24), $1, 'test', 1, 'NGN', 'x', 'x')`,
        [orderId],
      ),
    ).rejects.toThrow('more than was paid');
  });

  test('and then goes back, or becomes less, is raised', async () => {
    const { reference } = await desk.put({}, null);
    await show(reference, '20');
    await acceptTheOne();
    await show(reference, '15');
    expect(await desk.reconcile({ dryRun: false })).toMatchObject({ findings: { underpaid: 1 } });
    await show(reference, '20', 'REVERSED');
    expect(await desk.reconcile({ dryRun: false })).toMatchObject({ findings: { reversed: 1 } });
    const told = await sql(`SELECT data ->> 'unexplained' AS gone FROM events WHERE type = 'order.reversed'`);
    expect(told).toEqual([{ gone: '2000' }]);
    expect(await today()).toEqual([2_000n, 0n, 2_000n]);
  });

  test('explains no further money: all that comes later is in the takings or in suspense', async () => {
    const { reference, orderId } = await desk.put({}, null);
    // What verify showed before is not what came after a person accepted.
    await show(reference, '45');
    await show(reference, '20');
    await acceptTheOne();
    expect(await today()).toEqual([2_000n, 0n, 0n]);
    const refund = { orderId: orderId as OrderId, reason: 'torn', externalId: null, by: 'Ngozi' };
    const record = (amount: bigint) => recordRefund(desk.database, 'test', { ...refund, amount });
    await show(reference, '40');
    expect(await items()).toMatchObject([{ class: 'charged_again', amount: 1_500n }]);
    expect(await today()).toEqual([2_500n, 1_500n, 0n]);
    const evidence = await sql(
      `SELECT c.amount, v.outcome FROM confirmed_money c JOIN verifications v ON v.id = c.verification_id
       WHERE NOT is_release`,
    );
    expect(evidence).toEqual([{ amount: 500n, outcome: 'overpaid' }]);
    expect(await desk.reconcile({ dryRun: false })).toMatchObject({ findings: { charged_again: 1 } });
    const [item] = await items();
    const how = { by: 'Ada', note: 'x', decision: 'refund', refundNote: 'RF-1' } as const;
    await resolveSuspense(desk.database, 'test', item?.id ?? 0n, how);
    // Exact, and more again: it is counted once.
    for (const amount of ['25', '40']) await show(reference, amount);
    expect(await today()).toEqual([2_500n, 3_000n, 0n]);
    expect(await record(2_501n)).toMatchObject({ outcome: 'too-much', left: 2_500n });
  });

  test.each<[string, [shown: string, held: bigint | null][]]>([
    ['the rest', [['25', 500n]]],
    [
      'a part of the rest, and then all of it',
      [
        ['22', 200n],
        ['25', 500n],
      ],
    ],
    ['more than the rest', [['40', 2_000n]]],
  ])(
    'and is refunded as a whole, is paid for by nothing that comes then: %s is held',
    async (_what, steps) => {
      const { reference, orderId } = await desk.put({}, null);
      await show(reference, '20');
      await acceptTheOne();
      const refund = { orderId: asOrderId(orderId), reason: 'torn', externalId: null, by: 'Ngozi' };
      const record = (amount: bigint) => recordRefund(desk.database, 'test', { ...refund, amount });
      await record(2_000n);
      for (const [amount, held] of steps) {
        await show(reference, amount);
        for (let again = 0; again < 2; again += 1) {
          await desk.reconcile({ dryRun: false });
          expect(await items()).toMatchObject([{ class: 'charged_again', amount: held }]);
          expect(await today()).toEqual([2_000n, held, 2_000n]);
        }
      }
      expect(await record(1n)).toMatchObject({ outcome: 'too-much', left: 0n });
      await resolveTheOne();
      for (let again = 0; again < 2; again += 1) {
        await desk.confirm(await load(reference), 'webhook');
        expect(await items()).toEqual([]);
      }
      expect(await isWhole(orderId)).toEqual([]);
    },
  );

  test('and is refunded as a whole, and charged again, as only the list shows: all of that is held', async () => {
    const { reference, orderId } = await desk.put({}, null);
    await show(reference, '20');
    await acceptTheOne();
    const refund = { orderId: asOrderId(orderId), reason: 'torn', externalId: null, by: 'Ngozi' };
    await recordRefund(desk.database, 'test', { ...refund, amount: 2_000n });
    const charge = { reference, status: 'SUCCESS', amount: '20', currency: 'NGN' };
    desk.service.history.splice(0, Infinity, { ...charge, id: 'T1' }, { ...charge, id: 'T2' });
    for (let again = 0; again < 2; again += 1) {
      await desk.reconcile({ dryRun: false });
      expect(await items()).toMatchObject([{ class: 'duplicate_payment', amount: 2_000n }]);
      expect(await today()).toEqual([2_000n, 2_000n, 2_000n]);
    }
  });

  test('and is refunded, and grows within its charge, as only the list shows: the run asks and holds it', async () => {
    const { reference, orderId } = await desk.put({}, null);
    await show(reference, '20');
    await acceptTheOne();
    const refund = { orderId: asOrderId(orderId), reason: 'torn', externalId: null, by: 'Ngozi' };
    await recordRefund(desk.database, 'test', { ...refund, amount: 2_000n });
    list(reference, '25', '25', '20');
    for (let again = 0; again < 2; again += 1) {
      await desk.reconcile({ dryRun: false });
      expect(await items()).toMatchObject([{ class: 'charged_again', amount: 500n }]);
      expect(await today()).toEqual([2_000n, 500n, 2_000n]);
    }
  });

  test('and is refunded, and comes again: only what nobody has decided about is held and raised', async () => {
    const { reference, orderId } = await desk.put({}, null);
    await show(reference, '20');
    await acceptTheOne();
    const refund = { orderId: asOrderId(orderId), reason: 'torn', externalId: null, by: 'Ngozi' };
    await recordRefund(desk.database, 'test', { ...refund, amount: 2_000n });
    await show(reference, '25');
    await resolveTheOne();
    for (const amount of ['25', '30']) await show(reference, amount);
    expect(await items()).toMatchObject([{ class: 'charged_again', amount: 500n }]);
    expect(await desk.reconcile({ dryRun: false })).toMatchObject({ findings: { charged_again: 1 } });
    await resolveTheOne();
    for (const amount of ['25', '32']) await show(reference, amount);
    expect(await items()).toMatchObject([{ class: 'charged_again', amount: 700n }]);
    await resolveTheOne();
    await show(reference, '32');
    expect(await desk.reconcile({ dryRun: false })).toMatchObject({ verdict: 'agreed', findings: {} });
    expect(await items()).toEqual([]);
    // All that came since is gone, and the rest of the price comes again.
    for (const amount of ['20', '25']) await show(reference, amount);
    expect(await items()).toMatchObject([{ class: 'charged_again', amount: 500n }]);
  });

  test('and is refunded while the answer that shows the rest is written: the next run holds it', async () => {
    const { reference, orderId } = await desk.put({}, null);
    await show(reference, '20');
    await acceptTheOne();
    const before = await load(reference);
    const refund = { orderId: asOrderId(orderId), reason: 'torn', externalId: null, by: 'Ngozi' };
    await recordRefund(desk.database, 'test', { ...refund, amount: 2_000n });
    list(reference, '25', '25');
    await desk.confirm(before, 'webhook');
    await desk.reconcile({ dryRun: false });
    expect(await items()).toMatchObject([{ class: 'charged_again', amount: 500n }]);
    expect(await today()).toEqual([2_000n, 500n, 2_000n]);
  });

  test('is counted as it comes, and what goes of it again is raised', async () => {
    const { reference, orderId } = await desk.put({}, null);
    await show(reference, '20');
    await acceptTheOne();
    const steps: [amount: string, taken: bigint, findings: object][] = [
      ['22', 2_200n, {}],
      ['21', 2_200n, { underpaid: 1 }],
      ['24', 2_400n, {}],
      ['25', 2_500n, {}],
      ['20', 2_500n, { underpaid: 1 }],
    ];
    for (const [amount, taken, findings] of steps) {
      await show(reference, amount);
      expect([amount, ...(await today())]).toEqual([amount, taken, 0n, 0n]);
      for (let again = 0; again < 2; again += 1)
        expect([amount, (await desk.reconcile({ dryRun: false })).findings]).toEqual([amount, findings]);
    }
    const refund = { orderId: asOrderId(orderId), reason: 'torn', externalId: null, by: 'Ngozi' };
    expect(await recordRefund(desk.database, 'test', { ...refund, amount: 2_501n })).toMatchObject({
      left: 2_500n,
    });
    expect(await isWhole(orderId)).toEqual([]);
  });

  test('of which only the list shows a further part: the run asks, once', async () => {
    const { reference } = await desk.put({}, null);
    await show(reference, '20');
    await acceptTheOne();
    list(reference, '22', '22');
    expect(await desk.reconcile({ dryRun: false })).toMatchObject({ verdict: 'agreed', verified: 1 });
    expect(await desk.reconcile({ dryRun: false })).toMatchObject({ verdict: 'agreed', verified: 0 });
    expect(await today()).toEqual([2_200n, 0n, 0n]);
    const payment = await loadPayment(desk.database, asReference(reference), 'test');
    list(reference, '23', '23');
    if (payment !== null)
      expect(await desk.confirm(payment, 'webhook')).toMatchObject({ contradicts: false });
  });

  test('and is charged a second time, is raised, and both charges are counted', async () => {
    const { reference } = await desk.put({}, null);
    await show(reference, '20');
    await acceptTheOne();
    const charge = { reference, status: 'SUCCESS', amount: '20', currency: 'NGN' };
    desk.service.history.splice(0, Infinity, { ...charge, id: 'T1' }, { ...charge, id: 'T2' });
    for (let again = 0; again < 2; again += 1) {
      expect(await desk.reconcile({ dryRun: false })).toMatchObject({ findings: { duplicate_payment: 1 } });
      // Of the second charge the order takes what it lacked.
      expect(await items()).toMatchObject([{ class: 'duplicate_payment', amount: 1_500n }]);
      expect(await today()).toEqual([2_500n, 1_500n, 0n]);
    }
  });

  test('of two charges that the list shows, the second stays a case, and is held', async () => {
    const { reference } = await desk.put({}, null);
    await show(reference, '20');
    desk.service.history.push({ id: 'T2', reference, status: 'SUCCESS', amount: '20', currency: 'NGN' });
    expect(await desk.reconcile({ dryRun: false })).toMatchObject({ findings: { duplicate_payment: 1 } });
    expect(await acceptTheOne()).toBe('accepted');
    expect(await desk.reconcile({ dryRun: false })).toMatchObject({ findings: { duplicate_payment: 1 } });
    expect(await items()).toMatchObject([{ class: 'duplicate_payment', amount: 1_500n }]);
  });

  test.each([
    ['all of it', 2_000n, { status: 'REVERSED', amount: '20' }],
    ['a part of it', 500n, { status: 'REVERSED', amount: '5' }],
  ])('and goes back as it was written down, %s, is no finding', async (_how, amount, back) => {
    const { reference, orderId } = await desk.put({}, null);
    await show(reference, '20');
    await acceptTheOne();
    const refund = { amount, reason: 'sent back', externalId: 'RF-1', by: 'shop' };
    await recordRefund(desk.database, 'test', { ...refund, orderId: orderId as OrderId });
    desk.service.history.push({ id: 'B1', reference, currency: 'NGN', ...back });
    expect(await desk.reconcile({ dryRun: false })).toMatchObject({ verdict: 'agreed', findings: {} });
  });

  test('is refused when the service shows something else by now, or cannot be asked', async () => {
    const { reference, orderId } = await desk.put({}, null);
    await show(reference, '20');
    desk.service.verify.set(reference, { reference, status: 'FAILED', amount: '20', currency: 'NGN' });
    expect(await acceptTheOne()).toBe('changed');
    expect(await stateOf(orderId)).toMatchObject({ order: 'review', payment: 'held', amount: null });
    expect(await sql('SELECT FROM acceptances')).toEqual([]);
  });

  test('is refused once a person has decided about it, and of another class', async () => {
    const { reference } = await desk.put({}, null);
    await show(reference, '20');
    const [item] = await items();
    const how = { by: 'Ada', note: 'x', decision: 'refund', refundNote: 'RF-1' } as const;
    await resolveSuspense(desk.database, 'test', item?.id ?? 0n, how);
    expect(await accept({ id: item?.id ?? 0n, by: 'Ngozi', note: 'x', seen: null })).toBe('gone');
    await show(reference, '21');
    expect(await acceptTheOne()).toBe('not-this');
    const other = await desk.put({}, null);
    await show(other.reference, '2500');
    const unit = (await items()).find(({ reference: of }) => of === other.reference);
    expect(await accept({ id: unit?.id ?? 0n, by: 'Ngozi', note: 'x', seen: null })).toBe('not-this');
  });

  test('where the service names no currency, and the dialect lets it', async () => {
    const { database, service } = desk;
    const { dialect } = parseDialect('{"verify": {"currencyMayBeAbsent": true}}');
    const alarm = (): Promise<void> => Promise.resolve();
    const { gateway, confirm } = startReconciling({ database, url: service.url, dialect, alarm });
    const { reference, orderId } = await desk.put({}, null);
    service.verify.set(reference, JSON.stringify({ reference, status: 'SUCCESS', amount: 20 }));
    const payment = await loadPayment(database, asReference(reference), 'test');
    if (payment !== null) await confirm(payment, 'webhook');
    accept = createAccept({
      ...{ ...desk, confirm, planRelease: ({ releaseId }) => ({ id: releaseId, delivery: 'waiting' }) },
      ...{ onReleased: () => undefined, logger: createLogger('silent') },
    });
    expect(await acceptTheOne()).toBe('accepted');
    expect(await stateOf(orderId)).toEqual(PAID);
    await gateway.close();
  });

  test('leases it while the service is asked: no other check writes an older answer afterwards', async () => {
    const { reference, orderId } = await desk.put({}, null);
    await show(reference, '20');
    const seen: unknown[] = [];
    desk.service.onVerify = async () => {
      seen.push((await hintAndLease(desk.database, asReference(reference), 'test'))?.isLeased);
    };
    expect(await acceptTheOne()).toBe('accepted');
    expect(seen).toEqual([false]);
    expect(await stateOf(orderId)).toEqual(PAID);
    expect(await isBeingChecked(desk.database, asReference(reference))).toBe(false);
  });

  test('by two people at once pays once', async () => {
    const { reference, orderId } = await desk.put({}, null);
    await show(reference, '20');
    const outcomes = await Promise.all([acceptTheOne(), acceptTheOne()]);
    expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(1);
    expect(await stateOf(orderId)).toEqual(PAID);
    expect(await isWhole(orderId)).toEqual([]);
  });
});

describe('too much that a person accepts', () => {
  test('pays its order, and the surplus stays held until it is given back', async () => {
    const { reference, orderId } = await desk.put({}, null);
    await show(reference, '30');
    await desk.reconcile({ dryRun: false });
    expect(await acceptTheOne()).toBe('accepted');
    expect(await stateOf(orderId)).toEqual(PAID);
    expect(await items()).toMatchObject([{ class: 'overpaid', amount: 500n, reference }]);
    expect(await today()).toEqual([2_500n, 500n, 0n]);
    expect(await isWhole(orderId)).toEqual([]);
    // What was held at first stays told.
    expect((await explain(desk.database, orderId))?.text).toContain('NGN 30.00 is held for a decision');
    expect(await recordsOf(desk.database, 'test', asReference(reference))).toMatchObject([
      { kind: 'money', amount: 3_000n },
      { kind: 'finding' },
    ]);
    const surplusWaits = { verdict: 'findings', findings: {}, held: 1 };
    expect(await desk.reconcile({ dryRun: false })).toMatchObject(surplusWaits);
    // The same answer changes nothing, more money is charged again.
    await show(reference, '30');
    expect(await items()).toMatchObject([{ class: 'overpaid', amount: 500n }]);
    // The surplus goes back: what is left is what was asked for.
    await show(reference, '25');
    expect(await desk.reconcile({ dryRun: false })).toMatchObject(surplusWaits);
    const [item] = await items();
    const how = { by: 'Ada', note: 'x', decision: 'refund', refundNote: 'RF-1' } as const;
    expect(await resolveSuspense(desk.database, 'test', item?.id ?? 0n, how)).toBe(true);
    expect(await desk.reconcile({ dryRun: false })).toMatchObject({ verdict: 'agreed' });
    expect(await isWhole(orderId)).toEqual([]);
  });
});

describe('a surplus that went back', () => {
  test('and comes again, is new money, also when only the list shows it', async () => {
    const { reference } = await desk.put({}, null);
    await show(reference, '30');
    await acceptTheOne();
    await resolveTheOne();
    for (const amount of ['30', '25']) {
      await show(reference, amount);
      expect(await desk.reconcile({ dryRun: false })).toMatchObject({ verdict: 'agreed' });
    }
    list(reference, '30', '30');
    expect(await desk.reconcile({ dryRun: false })).toMatchObject({ findings: { charged_again: 1 } });
    expect(await items()).toMatchObject([{ amount: 500n }]);
    await resolveTheOne();
    expect(await desk.reconcile({ dryRun: false })).toMatchObject({ verdict: 'agreed' });
  });

  const note = async (): Promise<void> => {
    const [item] = await items();
    await noteSurplusRefund(desk.database, 'test', item?.id ?? 0n, { by: 'N', note: 'x', refundNote: 'R' });
  };
  test.each<[string, amounts: string[], deeds: (() => Promise<unknown>)[], findings: object]>([
    ['accepted and refunded', ['30'], [acceptTheOne, resolveTheOne], {}],
    ['noted', ['30'], [note], {}],
    ['of a paid order, refunded', ['25', '30'], [resolveTheOne], {}],
    ['given back by the service', ['30'], [], { reversed: 1 }],
  ])('as a row of its own takes nothing of the price: %s', async (_how, amounts, deeds, findings) => {
    const { reference } = await desk.put({}, null);
    for (const amount of amounts) await show(reference, amount);
    for (const deed of deeds) await deed();
    await show(reference, '25');
    await sql(`UPDATE releases SET delivery = 'waiting', next_check_at = now()`);
    list(reference, '25', '30', '5');
    expect((await desk.reconcile({ dryRun: false })).findings).toEqual(findings);
    expect(await sql('SELECT delivery FROM releases')).toEqual([{ delivery: 'waiting' }]);
  });
});

test('PostgreSQL refuses a release without proof, with both, and one of another acceptance', async () => {
  const { reference, orderId } = await desk.put({}, null);
  await show(reference, '20');
  const release = (outcome: string | null, acceptance: bigint | null) =>
    sql(
      `INSERT INTO releases (id, order_id, reference, mode, amount, currency, outcome, verification_id, acceptance_id, delivery)
       SELECT 'rel_x', order_id, reference, mode, 2500, currency, $2, id, $3, 'unneeded' FROM verifications
       WHERE order_id = $1`,
      orderId,
      outcome,
      acceptance,
    );
  await expect(release(null, null)).rejects.toThrow('released_on_one_proof');
  await expect(release('paid', null)).rejects.toThrow('released_on_evidence');
  await expect(release(null, 99n)).rejects.toThrow('released_on_acceptance');
  await expect(release('paid', 99n)).rejects.toThrow('released_on_one_proof');
  await expect(
    sql(
      `INSERT INTO acceptances (order_id, reference, mode, verification_id, outcome, amount, currency, accepted_by, note)
       SELECT order_id, reference, mode, id, outcome, amount + 1, currency, 'Ngozi', 'x' FROM verifications`,
    ),
  ).rejects.toThrow('foreign key');
});

describe('an overpayment whose surplus a person gives back', () => {
  test('waits for the service, and the exact amount then pays its order by itself', async () => {
    const { reference, orderId } = await desk.put({}, null);
    await show(reference, '30');
    const [item] = await items();
    const how = { by: 'Ngozi', note: 'sent 5.00 back', refundNote: 'RF-5' };
    expect(await noteSurplusRefund(desk.database, 'test', item?.id ?? 0n, how)).toBe(true);
    expect(await items()).toMatchObject([
      { amount: 3_000n, notes: [{ by: 'Ngozi', note: 'surplus refunded, number RF-5: sent 5.00 back' }] },
    ]);
    expect(await stateOf(orderId)).toMatchObject({ order: 'review', payment: 'held' });
    await show(reference, '25');
    expect(await stateOf(orderId)).toMatchObject({ order: 'paid', payment: 'paid', outcome: 'paid' });
    expect(await items()).toEqual([]);
    expect(await isWhole(orderId)).toEqual([]);
  });

  test('is of no use for too little', async () => {
    const { reference } = await desk.put({}, null);
    await show(reference, '20');
    const [item] = await items();
    const how = { by: 'Ngozi', note: 'x', refundNote: 'RF-5' };
    expect(await noteSurplusRefund(desk.database, 'test', item?.id ?? 0n, how)).toBe(false);
  });
});

describe('one decision after another about the same money', () => {
  type Act = (id: bigint) => Promise<boolean>;
  const note: Act = (id) =>
    noteSurplusRefund(desk.database, 'test', id, { by: 'Ngozi', note: 'x', refundNote: 'RF-5' });
  const end =
    (decision: Ending, refundNote: string | null = null): Act =>
    (id) =>
      resolveSuspense(desk.database, 'test', id, { by: 'Ngozi', note: 'x', decision, refundNote });
  const acceptIt: Act = async (id) =>
    (await accept({ id, by: 'Ngozi', note: 'x', seen: null })) === 'accepted';
  const ACTS = {
    accept: acceptIt,
    surplus: note,
    'refund RF-5': end('refund', 'RF-5'),
    'refund RF-6': end('refund', 'RF-6'),
    ...{ credit: end('credit'), keep: end('keep'), 'write off': end('write_off'), other: end('other') },
  };
  type Name = keyof typeof ACTS;
  const REFUNDS: Name[] = ['refund RF-5', 'refund RF-6'];
  const GIVEN: Name[] = [...REFUNDS, 'credit', 'keep', 'write off', 'other'];
  const AFTER: [what: string, amount: string, before: Name[], allowed: Name[]][] = [
    ['too little', '20', [], ['accept', ...GIVEN]],
    ['too much', '30', [], ['accept', 'surplus', ...GIVEN]],
    ['too much, surplus noted', '30', ['surplus'], ['accept', ...REFUNDS, 'other']],
    ['too much, accepted', '30', ['accept'], GIVEN],
    ['too much, surplus noted, accepted', '30', ['surplus', 'accept'], ['refund RF-5', 'other']],
    ['refunded', '30', ['refund RF-5'], []],
    ['credited', '30', ['credit'], []],
    ['too little, accepted', '20', ['accept'], []],
  ];

  test.each(AFTER)('%s', async (_what, amount, before, allowed) => {
    for (const name of Object.keys(ACTS) as Name[]) {
      const { reference, orderId } = await desk.put({}, null);
      await show(reference, amount);
      const id = (await items()).find((item) => item.reference === reference)?.id ?? 0n;
      for (const earlier of before) expect(await ACTS[earlier](id)).toBe(true);
      expect([name, await ACTS[name](id)]).toEqual([name, allowed.includes(name)]);
      expect(await isWhole(orderId)).toEqual([]);
    }
  });

  test('is what the page of the case offers', async () => {
    const { reference } = await desk.put({}, null);
    await show(reference, '30');
    const offered = async () => {
      const [row] = await readCases(
        desk.database,
        'test',
        { references: [asReference(reference)] },
        { limit: 1 },
      );
      return row && decisionsFor(row);
    };
    const [item] = await items();
    expect(await offered()).toEqual(['accept', 'refund', 'credit', 'keep', 'write_off', 'other']);
    await note(item?.id ?? 0n);
    expect(await offered()).toEqual(['accept', 'refund', 'other']);
    await acceptIt(item?.id ?? 0n);
    expect(await offered()).toEqual(['refund', 'other']);
    await expect(
      sql(`UPDATE suspense_items SET closed_at = now(), closed_by = 'Ada', decision = 'credit', note = 'x'`),
    ).rejects.toThrow('surplus_goes_back_once');
  });
});

describe('an order that a decision has ended', () => {
  async function decided(
    decision: 'refund' | 'keep' | 'write_off',
  ): Promise<{ reference: string; orderId: OrderId }> {
    const { reference, orderId } = await desk.put({}, null);
    await show(reference, '20');
    const [item] = await items();
    const how = { by: 'Ada', note: 'x', decision, refundNote: decision === 'refund' ? 'RF-1' : null };
    await resolveSuspense(desk.database, 'test', item?.id ?? 0n, how);
    expect(await stateOf(orderId)).toMatchObject({ order: 'cancelled', payment: 'held' });
    return { reference, orderId: orderId as OrderId };
  }
  const reopen = (orderId: OrderId) =>
    reopenOrder(desk.database, 'test', orderId, { by: 'Ngozi', note: 'the shopper wants it after all' });

  test('is reopened, once, for a new payment; what was decided pays nothing', async () => {
    const { reference, orderId } = await decided('refund');
    expect(await reopen(orderId)).toBe(true);
    expect(await reopen(orderId)).toBe(false);
    expect(await stateOf(orderId)).toMatchObject({ order: 'pending' });
    await show(reference, '25');
    expect(await stateOf(orderId)).toMatchObject({ order: 'review', amount: null });
    expect(await isWhole(orderId)).toEqual([]);
  });

  const deadline = (orderId: string, hours: number) =>
    sql(
      `UPDATE orders SET created_at = now() - interval '1 day', pay_by = now() + make_interval(hours => $2) WHERE id = $1`,
      orderId,
      hours,
    );

  test('ends again by its deadline', async () => {
    const { orderId } = await decided('refund');
    await deadline(orderId, 1);
    expect(await reopen(orderId)).toBe(true);
    expect(await sql('SELECT status, deadline_check_at = pay_by AS due FROM orders')).toEqual([
      { status: 'pending', due: true },
    ]);
  });

  test('is not, when its deadline has passed, or when it had expired for good', async () => {
    const { orderId } = await decided('refund');
    await deadline(orderId, -1);
    expect(await reopen(orderId)).toBe(false);
    await sql('UPDATE orders SET expired_at = now() WHERE id = $1', orderId);
    expect(await reopen(orderId)).toBe(false);
    expect(await stateOf(orderId)).toMatchObject({ order: 'cancelled' });
  });

  test.each(['keep', 'write_off'] as const)('is not, when its money ended as %s', async (decision) => {
    const { orderId } = await decided(decision);
    expect(await reopen(orderId)).toBe(false);
    expect(await stateOf(orderId)).toMatchObject({ order: 'cancelled' });
  });
});

test('PostgreSQL refuses a refund without its number', async () => {
  const { reference } = await desk.put({}, null);
  await show(reference, '20');
  await expect(
    sql(`UPDATE suspense_items SET closed_at = now(), closed_by = 'Ada', decision = 'refund', note = 'x'`),
  ).rejects.toThrow('refund_has_a_number');
});

test('an answer that waited for longer than its lease lets nothing be accepted over a newer one', async () => {
  const { reference, orderId } = await desk.put({}, null);
  await show(reference, '20');
  const answers: (() => void)[] = [];
  desk.service.onVerify = () => new Promise<void>((answer) => answers.push(answer));
  const slow = acceptTheOne();
  await eventually(() => Promise.resolve(answers.length === 1));
  desk.service.onVerify = null;
  await show(reference, '20', 'REVERSED');
  answers[0]?.();
  expect(await slow).toBe('changed');
  expect(await stateOf(orderId)).toMatchObject({ order: 'review', amount: null });
});
