import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '../../src/platform/ids.ts';
import type { Payment } from '../../src/payments/payment.ts';
import { loadPayment } from '../../src/payments/confirm.sql.ts';
import type { Ending } from '../../src/cases/resolution.ts';
import { openSuspense, resolveSuspense } from '../../src/cases/suspense.sql.ts';
import { openDesk, type Desk } from '../reconciliation/desk.ts';
import type { FakeTransaction } from '../reconciliation/fake-service.ts';
import { asReference } from '../support/ids.ts';
import { eventually } from '../support/program.ts';

/* What a person has decided about money holds against whatever the service says later, and against whoever writes. */

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  desk.database.query<Row>(text, values);
const items = async () =>
  (await openSuspense(desk.database, 'test')).map((item) => ({
    class: item.class,
    amount: item.amount,
    currency: item.currency,
  }));
const paid = (amount: string, currency = 'NGN') => ({ status: 'SUCCESS', amount, currency });

async function load(reference: string): Promise<Payment> {
  const payment = await loadPayment(desk.database, asReference(reference), 'test');
  if (payment === null) throw new Error(`there is no payment ${reference}`);
  return payment;
}

/** The service answers verify with this from now on, and the one room asks. */
async function look(reference: string, record: Partial<FakeTransaction>): Promise<void> {
  desk.service.verify.set(reference, { reference, ...record });
  await desk.confirm(await load(reference), 'webhook');
}

/** A person ends the one open item. */
async function decide(decision: Ending = 'refund', db = desk.database): Promise<void> {
  const [item] = await openSuspense(db, 'test');
  const resolution = {
    by: 'Ngozi',
    note: 'looked into it',
    decision,
    refundNote: decision === 'refund' ? 'RF-1' : null,
  };
  expect(await resolveSuspense(db, 'test', item?.id ?? 0n, resolution)).toBe(true);
}

async function stateOf(reference: string) {
  const [row] = await sql<{ payment: string; order: string; releases: number }>(
    `SELECT p.status AS payment, o.status AS order,
       (SELECT count(*)::int FROM releases r WHERE r.order_id = o.id) AS releases
     FROM payments p JOIN orders o ON o.id = p.order_id WHERE p.reference = $1`,
    reference,
  );
  return row;
}

const held = { payment: 'held', order: 'review', releases: 0 };
/** A decision about the last of its money has ended the order. */
const ended = { payment: 'held', order: 'cancelled', releases: 0 };

describe('A1: money that a person has decided about never pays an order by itself', () => {
  test.each<[Ending, string]>([
    ['refund', '20'],
    ['credit', '24.99'],
    ['keep', '30'],
    ['write_off', '250'],
    ['other', '0.01'],
  ])('%s of %s, then the exact sum', async (decision, amount) => {
    const { reference } = await desk.put({}, null);
    await look(reference, paid(amount));
    await decide(decision);
    await look(reference, paid('25'));
    expect(await stateOf(reference)).toEqual(ended);
  });

  test('the case says what no decision has accounted for, and under a class of its own', async () => {
    const { reference, orderId } = await desk.put({}, null);
    await look(reference, paid('24.99'));
    await decide();
    await look(reference, paid('25'));
    expect(await items()).toEqual([{ class: 'paid_after_decision', amount: 1n, currency: 'NGN' }]);
    expect(
      await sql(`SELECT detail FROM journal WHERE order_id = $1 ORDER BY seq DESC LIMIT 1`, orderId),
    ).toMatchObject([{ detail: { outcome: 'paid', suspense: 'paid_after_decision', money: '1 NGN' } }]);
  });

  test.each(['REVERSED', 'FAILED', 'EXPIRED'])(
    'what the service has shown as gone (%s) and shows again is other money',
    async (status) => {
      const { reference } = await desk.put({}, null);
      const show = async (record: Partial<FakeTransaction>): Promise<object> => {
        desk.service.history.splice(0, Infinity, { reference, ...record });
        await look(reference, record);
        return (await desk.reconcile({ dryRun: false })).findings;
      };
      expect(await show(paid('20'))).toEqual({ underpaid: 1 });
      await decide();
      expect(await show(paid('20'))).toEqual({});
      expect(await show({ ...paid('20'), status })).toEqual({});
      expect(await items()).toEqual([]);
      for (const [amount, money] of [
        ['20', 2_000n],
        ['22', 2_200n],
      ] as const) {
        expect(await show(paid(amount))).toEqual({ underpaid: 1 });
        expect(await items()).toEqual([{ class: 'underpaid', amount: money, currency: 'NGN' }]);
      }
      await decide();
      expect(await show(paid('22'))).toEqual({});
      expect(await items()).toEqual([]);
    },
  );

  test('and so it is where the list goes on showing what verify shows as gone', async () => {
    const { reference } = await desk.put({}, null);
    await look(reference, paid('20'));
    await decide();
    desk.service.history.push({ reference, ...paid('20') });
    expect(await desk.reconcile({ dryRun: false })).toMatchObject({ verdict: 'agreed' });
    await look(reference, { status: 'REVERSED' });
    expect(await desk.reconcile({ dryRun: false })).toMatchObject({
      verdict: 'findings',
      findings: { underpaid: 1 },
    });
  });

  test.each<[string, (Partial<FakeTransaction> | 'decide')[], bigint[]]>([
    ['gone before a person decides', [paid('20'), { status: 'FAILED' }, 'decide', paid('20')], [2_000n]],
    [
      'gone before and after a person decides',
      [paid('20'), { status: 'FAILED' }, 'decide', { status: 'FAILED' }, paid('20')],
      [2_000n],
    ],
    ['gone for a while only', [paid('20'), { status: 'FAILED' }, paid('20'), 'decide', paid('20')], []],
    ['failed before it came', [{ status: 'FAILED' }, paid('20'), 'decide', paid('20')], []],
  ])('and so it is when the service has shown it as %s', async (_what, steps, expected) => {
    const { reference } = await desk.put({}, null);
    for (const step of steps) await (step === 'decide' ? decide() : look(reference, step));
    expect((await items()).map(({ amount }) => amount)).toEqual(expected);
  });

  test('money in another currency that was given back accounts for none of the exact sum', async () => {
    const { reference } = await desk.put({}, null);
    await look(reference, paid('25', 'XOF'));
    await decide();
    await look(reference, paid('25'));
    expect(await items()).toEqual([{ class: 'paid_after_decision', amount: 2_500n, currency: 'NGN' }]);
  });

  test.each([true, false])('reconciliation raises it (the list shows it: %s)', async (isListed) => {
    const { reference } = await desk.put({}, null);
    await look(reference, paid('250'));
    await decide();
    if (isListed) desk.service.history.push({ reference, ...paid('25') });
    else await look(reference, paid('25'));
    desk.service.verify.set(reference, { reference, ...paid('25') });
    for (let again = 0; again < 2; again += 1) {
      const report = await desk.reconcile({ dryRun: false });
      expect(report).toMatchObject({ verdict: 'findings', findings: { paid_after_decision: 1 } });
    }
    expect(await stateOf(reference)).toEqual(ended);
    // The person accounted for ten times as much: there is a case, and no money besides.
    expect(await items()).toEqual([]);
  });

  test('also when it was decided while the answer was on its way', async () => {
    const { reference } = await desk.put({}, null);
    await look(reference, paid('24.99'));
    const before = await load(reference);
    await decide();
    desk.service.verify.set(reference, { reference, ...paid('25') });
    await desk.confirm(before, 'return');
    expect(await stateOf(reference)).toEqual(ended);
  });

  test('also when the decision is committed while the answer waits to be written', async () => {
    const { reference } = await desk.put({}, null);
    await look(reference, paid('24.99'));
    desk.service.verify.set(reference, { reference, ...paid('25') });
    const confirming: Promise<unknown>[] = [];
    await desk.database.transaction(async (tx) => {
      const [item] = await openSuspense(tx, 'test');
      const resolution = { by: 'Ngozi', note: 'x', decision: 'refund', refundNote: 'RF-1' } as const;
      await resolveSuspense(tx, 'test', item?.id ?? 0n, resolution);
      confirming.push(load(reference).then((payment) => desk.confirm(payment, 'return')));
      await eventually(
        async () =>
          (
            await sql(`SELECT FROM pg_stat_activity
              WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ~ 'seen AS'`)
          ).length > 0,
      );
    });
    await Promise.all(confirming);
    expect(await stateOf(reference)).toEqual(ended);
  });

  test('and a later "pending" does not offer its checkout again', async () => {
    const { reference } = await desk.put({}, null);
    await look(reference, paid('24.99'));
    await decide();
    await look(reference, { status: 'PENDING' });
    expect(await stateOf(reference)).toEqual(ended);
  });

  test('PostgreSQL refuses to forget the decision', async () => {
    const { reference } = await desk.put({}, null);
    await look(reference, paid('24.99'));
    await decide('keep');
    const forget = 'UPDATE payments SET decided_at = NULL WHERE reference = $1';
    await expect(sql(forget, reference)).rejects.toThrow('a person has decided about its money');
  });

  test('PostgreSQL itself refuses a release of it, and the status', async () => {
    const { reference, orderId } = await desk.put({}, null);
    await look(reference, paid('24.99'));
    await decide();
    const opened = `status = 'pending', cancelled_at = NULL, cancelled_by = NULL, cancel_reason = NULL`;
    await sql(`UPDATE orders SET ${opened} WHERE id = $1`, orderId);
    const [proof] = await sql<{ id: bigint }>(
      `INSERT INTO verifications (reference, order_id, mode, outcome, amount, currency, http_status, body_sha256, cause)
       SELECT reference, order_id, mode, 'paid', amount, currency, 200, sha256(''), 'operator' FROM payments
       WHERE reference = $1 RETURNING id`,
      reference,
    );
    await expect(
      sql(
        `INSERT INTO releases (id, order_id, reference, mode, amount, currency, verification_id, delivery)
         SELECT 'rel_x', order_id, reference, mode, amount, currency, $2, 'unneeded' FROM payments WHERE reference = $1`,
        reference,
        proof?.id,
      ),
    ).rejects.toThrow('a person has decided about this money');
    await expect(sql(`UPDATE payments SET status = 'paid' WHERE order_id = $1`, orderId)).rejects.toThrow(
      /decided_money_pays_nothing|is refused/,
    );
  });

  test.each(['refund', 'keep'] as const)(
    'is decided once: %s of all of it raises nothing more',
    async (how) => {
      const { reference, orderId } = await desk.put({}, paid('25'));
      await sql(
        `UPDATE orders SET status = 'cancelled', cancelled_at = now(), cancelled_by = 'shop', cancel_reason = 'x' WHERE id = $1`,
        orderId,
      );
      await look(reference, paid('25'));
      expect(await desk.reconcile({ dryRun: false })).toMatchObject({ findings: { paid_after_cancel: 1 } });
      await decide(how);
      // Verify and the list go on showing what was kept, and what was given back by other ways.
      expect(await desk.reconcile({ dryRun: false })).toMatchObject({ verdict: 'agreed', findings: {} });
      desk.service.history.splice(0);
      expect((await desk.reconcile({ dryRun: false })).findings).toEqual({});
    },
  );

  test('PostgreSQL itself refuses a release of a cancelled order', async () => {
    const { reference, orderId } = await desk.put({}, null);
    const cancelled = `UPDATE orders SET status = 'cancelled', cancelled_at = now(), cancelled_by = 'shop',
      cancel_reason = 'sold out' WHERE id = $1`;
    await sql(cancelled, orderId);
    await look(reference, paid('25'));
    expect(await items()).toEqual([{ class: 'paid_after_cancel', amount: 2_500n, currency: 'NGN' }]);
    expect(await stateOf(reference)).toEqual({ payment: 'held', order: 'cancelled', releases: 0 });
    await expect(
      sql(
        `INSERT INTO releases (id, order_id, reference, mode, amount, currency, verification_id, delivery)
         SELECT 'rel_x', order_id, reference, mode, amount, currency, id, 'unneeded' FROM verifications
         WHERE reference = $1`,
        reference,
      ),
    ).rejects.toThrow('it was cancelled');
  });

  test('what was earned is no decision of a person: the same payment goes on as before', async () => {
    const { reference } = await desk.put({}, null);
    await look(reference, paid('20'));
    await look(reference, paid('25'));
    expect(await stateOf(reference)).toEqual({ payment: 'paid', order: 'paid', releases: 1 });
    await look(reference, paid('30'));
    expect(await items()).toEqual([{ class: 'charged_again', amount: 500n, currency: 'NGN' }]);
  });

  test('another payment of the order is other money, and pays it', async () => {
    const first = await desk.put({}, null);
    const second = await desk.put({ orderId: first.orderId }, null);
    await look(first.reference, paid('20'));
    await decide();
    expect(await stateOf(second.reference)).toEqual({ payment: 'open', order: 'pending', releases: 0 });
    await look(second.reference, paid('25'));
    expect(await stateOf(second.reference)).toEqual({ payment: 'paid', order: 'paid', releases: 1 });
  });
});

describe('A1: money that had come under a reference before it was ours', () => {
  /** The history lists it, reconciliation puts it into suspense, and later a payment of ours has the reference. */
  async function orphan(decision: Ending | null): Promise<string> {
    const reference = newId();
    desk.service.history.push({ reference });
    await desk.reconcile({ dryRun: false });
    expect(await items()).toEqual([{ class: 'unknown_reference', amount: 2_500n, currency: 'NGN' }]);
    if (decision !== null) await decide(decision);
    await desk.put({ reference }, null);
    return reference;
  }

  test.each<Ending>(['refund', 'keep'])('and was decided (%s) never pays', async (decision) => {
    const reference = await orphan(decision);
    await look(reference, paid('25'));
    expect(await stateOf(reference)).toEqual(held);
  });

  test('and pays the order is no longer in suspense', async () => {
    const reference = await orphan(null);
    await look(reference, paid('25'));
    expect(await stateOf(reference)).toEqual({ payment: 'paid', order: 'paid', releases: 1 });
    expect(await items()).toEqual([]);
  });

  test('and is decided once the reference is ours: it never pays either', async () => {
    const reference = await orphan(null);
    await decide();
    await look(reference, paid('25'));
    expect(await stateOf(reference)).toEqual(held);
  });

  test('keeps its order in review while it waits', async () => {
    const reference = await orphan(null);
    await look(reference, { status: 'PENDING' });
    expect(await stateOf(reference)).toEqual(held);
  });
});

describe('A5: an item speaks only of money that no closed item has accounted for', () => {
  test('a third charge under the reference that paid, after the second was given back', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, { id: 'a' });
    desk.service.history.push({ reference, id: 'b' });
    await desk.reconcile({ dryRun: false });
    await decide();
    desk.service.history.push({ reference, id: 'c' });
    await desk.reconcile({ dryRun: false });
    expect(await items()).toEqual([{ class: 'duplicate_payment', amount: 2_500n, currency: 'NGN' }]);
  });

  test('surpluses that grow', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, null);
    await look(reference, paid('26'));
    await decide();
    await look(reference, paid('28.50'));
    expect(await items()).toEqual([{ class: 'charged_again', amount: 250n, currency: 'NGN' }]);
    await decide('keep');
    await look(reference, paid('29'));
    expect(await items()).toEqual([{ class: 'charged_again', amount: 50n, currency: 'NGN' }]);
  });

  test('a surplus that went back, and came again', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, null);
    await look(reference, paid('30'));
    await decide();
    await look(reference, paid('25'));
    await look(reference, paid('30'));
    expect(await items()).toEqual([{ class: 'charged_again', amount: 500n, currency: 'NGN' }]);
    desk.service.history.push({ reference, ...paid('30') });
    const run = () => desk.reconcile({ dryRun: false });
    expect(await run()).toMatchObject({ verdict: 'findings', findings: { charged_again: 1 } });
    await decide();
    expect(await run()).toMatchObject({ verdict: 'agreed' });
    expect(await items()).toEqual([]);
  });

  test.each([
    ['before a person decides', ['30', '25', 'decide', '30'], [500n]],
    ['before and after a person decides', ['30', '25', 'decide', '25', '30'], [500n]],
    ['for a while only', ['30', '25', '30', 'decide', '30'], []],
  ])('a surplus that the service showed as gone %s', async (_when, steps, expected) => {
    const { reference } = await desk.put({ isConfirmed: true }, null);
    for (const step of steps) await (step === 'decide' ? decide() : look(reference, paid(step)));
    expect((await items()).map(({ amount }) => amount)).toEqual(expected);
  });

  test.each<[string, steps: string[], held: bigint]>([
    ['a surplus', ['25', '30', 'decide', '27', '30'], 300n],
    ['a surplus, more of it each time', ['25', '30', 'decide', '28', '30', 'decide', '26', '29'], 300n],
    ['too little', ['20', 'decide', '15', '20'], 500n],
    ['too little, which grew', ['10', 'decide', '20', 'decide', '5', '20'], 1_500n],
    ['what came after a decision', ['20', 'decide', '45', 'decide', '20', '45'], 2_500n],
  ])('%s that went back in part, and came again', async (_what, steps, held) => {
    const { reference } = await desk.put({}, null);
    for (const step of steps) {
      if (step === 'decide') await decide();
      else await look(reference, paid(step));
    }
    expect((await items()).map(({ amount }) => amount)).toEqual([held]);
    desk.service.history.push({ reference, ...paid(steps.at(-1) ?? '') });
    expect((await desk.reconcile({ dryRun: false })).verdict).toBe('findings');
    await decide();
    expect(await desk.reconcile({ dryRun: false })).toMatchObject({ verdict: 'agreed', findings: {} });
  });

  test('a second charge that only the list had shown, and verify shows once it was gone', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, { id: 'a' });
    await look(reference, paid('25'));
    desk.service.history.push({ reference, id: 'b' });
    await desk.reconcile({ dryRun: false });
    await decide();
    // Verify says what it has always said, and then more.
    await look(reference, paid('25'));
    await look(reference, paid('50'));
    expect(await items()).toEqual([{ class: 'charged_again', amount: 2_500n, currency: 'NGN' }]);
  });

  test('what only the list had shown counts as shown once verify shows it: it went back in part, and came again', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, { id: 'a' });
    desk.service.history.push({ reference, id: 'b' });
    await desk.reconcile({ dryRun: false });
    await decide();
    for (const amount of ['50', '30', '50']) await look(reference, paid(amount));
    expect(await items()).toEqual([{ class: 'charged_again', amount: 2_000n, currency: 'NGN' }]);
  });

  test('and so it is where it came beside money that paid nothing', async () => {
    const { reference } = await desk.put({}, null);
    for (const [id, amount] of [
      ['a', '30'],
      ['b', '20'],
    ] as const)
      desk.service.history.push({ id, reference, amount });
    await look(reference, paid('30'));
    await decide();
    await desk.reconcile({ dryRun: false });
    await decide();
    for (const amount of ['28', '48', '33', '48']) await look(reference, paid(amount));
    expect(await items()).toMatchObject([{ amount: 1_500n, currency: 'NGN' }]);
  });

  test('what only the list had shown, verify shows in part, and then more came', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, { id: 'a' });
    desk.service.history.push({ reference, id: 'b' });
    await desk.reconcile({ dryRun: false });
    await decide();
    for (const amount of ['30', '50']) await look(reference, paid(amount));
    expect(await items()).toEqual([{ class: 'charged_again', amount: 2_000n, currency: 'NGN' }]);
  });

  test('a surplus that was reversed with the price, and came again', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, null);
    await look(reference, paid('30'));
    await decide();
    await look(reference, { status: 'REVERSED' });
    await look(reference, paid('30'));
    expect(await items()).toEqual([{ class: 'charged_again', amount: 500n, currency: 'NGN' }]);
  });

  test('underpayments that grow, and turn into a surplus', async () => {
    const { reference } = await desk.put({}, null);
    await look(reference, paid('10'));
    await decide();
    await look(reference, paid('15'));
    expect(await items()).toEqual([{ class: 'underpaid', amount: 500n, currency: 'NGN' }]);
    await decide();
    await look(reference, paid('27'));
    expect(await items()).toEqual([{ class: 'overpaid', amount: 1_200n, currency: 'NGN' }]);
  });

  test('the same answer again opens nothing', async () => {
    const { reference } = await desk.put({}, null);
    await look(reference, paid('10'));
    await decide();
    await look(reference, paid('10'));
    expect(await items()).toEqual([]);
  });
});

describe('A6: an order is in review as long as money of it is in suspense', () => {
  test.each(['FAILED', 'EXPIRED', 'REVERSED', 'PENDING'])('whatever the service says: %s', async (status) => {
    const { reference } = await desk.put({}, null);
    await look(reference, paid('20'));
    await look(reference, { status });
    expect(await stateOf(reference)).toEqual(held);
  });

  test('and reconciliation does not agree, though list and verify say that the payment failed', async () => {
    const { reference } = await desk.put({}, { status: 'FAILED' });
    await look(reference, paid('20'));
    await look(reference, { status: 'FAILED' });
    await desk.reconcile({ dryRun: false });
    // Raised when it has lasted for an hour.
    await sql(`UPDATE findings SET first_seen_at = now() - interval '2 hours'`);
    const report = await desk.reconcile({ dryRun: false });
    expect(report).toMatchObject({ verdict: 'findings', findings: { sources_disagree: 1 } });
  });

  test('though its payment had failed before the money was found', async () => {
    const { reference, orderId } = await desk.put({ status: 'failed' }, null);
    await sql(`UPDATE orders SET status = 'failed' WHERE id = $1`, orderId);
    await sql(
      `INSERT INTO suspense_items (mode, class, reference, order_id, amount, currency)
       VALUES ('test', 'duplicate_payment', $1, $2, 100, 'NGN')`,
      reference,
      orderId,
    );
    expect(await stateOf(reference)).toMatchObject({ order: 'review' });
    await look(reference, { status: 'FAILED' });
    expect(await stateOf(reference)).toEqual(held);
  });

  test('and leaves it when a person has decided and the service says that the payment ended', async () => {
    const { reference } = await desk.put({}, null);
    await look(reference, paid('20'));
    await decide();
    await look(reference, { status: 'FAILED' });
    expect(await stateOf(reference)).toEqual({ payment: 'failed', order: 'cancelled', releases: 0 });
  });
});

describe('A7: an answer that was asked for before money came to light loses against it', () => {
  test.each(['PENDING', 'FAILED', 'EXPIRED'])('a slow %s', async (status) => {
    const { reference } = await desk.put({}, null);
    await look(reference, { status: 'MUDDLED' });
    const before = await load(reference);
    await look(reference, paid('20'));
    desk.service.verify.set(reference, { reference, status });
    await desk.confirm(before, 'webhook');
    expect(await stateOf(reference)).toEqual(held);
    expect(await items()).toEqual([{ class: 'underpaid', amount: 2_000n, currency: 'NGN' }]);
  });
});

test.each([
  ['has moved the payment', []],
  ['says what was known', [{ status: 'FAILED' }]],
])(
  'an answer that waited for longer than its lease does not win over a newer one that %s',
  async (_how, before) => {
    const { reference } = await desk.put({}, null);
    for (const record of before) await look(reference, record);
    const answers: (() => void)[] = [];
    desk.service.verify.set(reference, { reference, ...paid('25') });
    desk.service.onVerify = () => new Promise<void>((answer) => answers.push(answer));
    const slow = desk.confirm(await load(reference), 'webhook');
    await eventually(() => Promise.resolve(answers.length === 1));
    desk.service.onVerify = null;
    await look(reference, { status: 'REVERSED' });
    answers[0]?.();
    expect(await slow).toMatchObject({ released: false });
    expect(await stateOf(reference)).toMatchObject({ payment: 'failed', releases: 0 });
  },
);

describe('a decision closes the findings about its money, and no others', () => {
  const classes = async (): Promise<string[]> => {
    await desk.reconcile({ dryRun: false });
    const open = await sql<{ class: string }>('SELECT class FROM findings WHERE closed_at IS NULL');
    return open.map(({ class: name }) => name);
  };
  const charge = (reference: string, id: string, amount: string): number =>
    desk.service.history.push({ id, reference, amount });

  test.each<Ending>(['refund', 'keep'])('%s of a surplus, while the price went back', async (decision) => {
    const { reference } = await desk.put({ isConfirmed: true }, { id: 'a' });
    charge(reference, 'b', '5');
    expect(await classes()).toEqual(['duplicate_payment']);
    desk.service.history.push({ id: 'c', reference, amount: '30', status: 'REVERSED' });
    expect(await classes()).toEqual(['reversed']);
    await decide(decision);
    expect(await classes()).toEqual(['reversed']);
  });

  test('what only the list shows beside it stays open, and is held', async () => {
    const { reference } = await desk.put({}, null);
    charge(reference, 'a', '30');
    charge(reference, 'b', '20');
    await look(reference, paid('30'));
    expect(await classes()).toEqual(['duplicate_payment']);
    await decide();
    expect(await classes()).toEqual(['duplicate_payment']);
    expect(await items()).toEqual([{ class: 'duplicate_payment', amount: 2_000n, currency: 'NGN' }]);
    await decide();
    expect(await classes()).toEqual([]);
    await look(reference, paid('50'));
    expect(await items()).toEqual([]);
  });

  test('what only the list had shown stays decided about, though some of what verify had shown went back', async () => {
    const { reference } = await desk.put({}, null);
    charge(reference, 'a', '30');
    charge(reference, 'b', '20');
    await look(reference, paid('30'));
    await classes();
    await decide();
    await classes();
    await decide();
    await look(reference, paid('28'));
    charge(reference, 'c', '7');
    expect(await classes()).toEqual(['duplicate_payment']);
    expect(await items()).toEqual([{ class: 'duplicate_payment', amount: 900n, currency: 'NGN' }]);
  });

  test('less of the price than was released is not about the surplus', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, null);
    await look(reference, paid('30'));
    charge(reference, 'a', '20');
    expect(await classes()).toEqual(['underpaid']);
    await decide();
    expect(await classes()).toEqual(['underpaid']);
  });

  test('beside what is left of what was decided about before, what only the list shows is held whole', async () => {
    const { reference } = await desk.put({}, null);
    await look(reference, paid('20'));
    await decide();
    await look(reference, paid('5'));
    charge(reference, 'a', '5');
    charge(reference, 'b', '18');
    expect(await classes()).toEqual(['duplicate_payment']);
    expect(await items()).toEqual([{ class: 'duplicate_payment', amount: 1_800n, currency: 'NGN' }]);
    await decide();
    expect(await classes()).toEqual([]);
    expect(await items()).toEqual([]);
  });

  test('more than is left of a surplus that went back stays open', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, null);
    for (const amount of ['30', '25']) {
      await look(reference, paid(amount));
      if (amount === '30') await decide();
    }
    await look(reference, paid('30'));
    charge(reference, 'a', '35');
    expect(await classes()).toEqual(['charged_again']);
    await decide();
    expect(await classes()).toEqual(['charged_again']);
  });

  test('a charge that only the list shows is not covered by decisions about what went back', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, { id: 'a' });
    for (const amount of ['30', '25', '30']) {
      await look(reference, paid(amount));
      if (amount === '30') await decide();
    }
    charge(reference, 'b', '5');
    charge(reference, 'c', '5');
    expect(await classes()).toEqual(['duplicate_payment']);
    expect(await items()).toEqual([{ class: 'duplicate_payment', amount: 500n, currency: 'NGN' }]);
    await decide();
    expect(await classes()).toEqual([]);
    await look(reference, paid('35'));
    expect(await items()).toEqual([]);
  });

  test('nor by two decisions about one charge, which verify showed late', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, { id: 'a' });
    charge(reference, 'b', '25');
    await classes();
    await decide();
    for (const amount of ['25', '50']) await look(reference, paid(amount));
    await decide();
    expect(await classes()).toEqual([]);
    charge(reference, 'c', '25');
    expect(await classes()).toEqual(['duplicate_payment']);
    expect(await items()).toEqual([{ class: 'duplicate_payment', amount: 2_500n, currency: 'NGN' }]);
  });

  test('nor by two decisions about one charge, the second about more', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, { id: 'a' });
    charge(reference, 'b', '25');
    await classes();
    await decide();
    for (const amount of ['25', '60']) await look(reference, paid(amount));
    await decide();
    charge(reference, 'c', '36');
    expect(await classes()).toEqual(['duplicate_payment']);
    expect(await items()).toMatchObject([{ amount: 2_600n, currency: 'NGN' }]);
  });

  test('money that verify and the list call otherwise is one item, which stays as it is', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, { id: 'a' });
    charge(reference, 'b', '25');
    const seen: unknown[] = [];
    for (let round = 0; round < 2; round += 1) {
      await look(reference, paid('50'));
      expect(await classes()).toEqual(['duplicate_payment']);
      const [{ version } = {}] = await openSuspense(desk.database, 'test');
      const journal = await sql(`SELECT event FROM journal WHERE detail ? 'suspense'`);
      seen.push({ version, entries: journal.length });
    }
    expect(seen[1]).toEqual(seen[0]);
  });

  describe('what only the list had shown beside money that paid nothing goes with it, once verify shows none', () => {
    /** Of 30.00 that verify shows and 20.00 that only the list does, both decided about. */
    async function decided(): Promise<string> {
      const { reference } = await desk.put({}, null);
      charge(reference, 'a', '30');
      charge(reference, 'b', '20');
      await look(reference, paid('30'));
      for (let again = 0; again < 2; again += 1) {
        await classes();
        await decide();
      }
      await look(reference, { status: 'FAILED' });
      return reference;
    }

    test('and is held with it when it comes again', async () => {
      await look(await decided(), paid('30'));
      expect(await classes()).toEqual(['duplicate_payment']);
      expect(await items()).toMatchObject([{ amount: 5_000n, currency: 'NGN' }]);
    });

    test('and hides no other charges of the list', async () => {
      const reference = await decided();
      desk.service.history.splice(0);
      charge(reference, 'c', '12');
      charge(reference, 'd', '8');
      expect(await classes()).toEqual(['duplicate_payment']);
    });
  });

  test('a decision about the next charge does not count what verify has shown as gone', async () => {
    const { reference } = await desk.put({}, null);
    await look(reference, paid('1'));
    await decide();
    for (const status of ['FAILED', 'MUDDLED']) await look(reference, { status });
    charge(reference, 'a', '12');
    charge(reference, 'b', '8');
    await classes();
    await decide();
    charge(reference, 'c', '10');
    expect(await classes()).toEqual(['duplicate_payment']);
    expect(await items()).toMatchObject([{ amount: 1_000n, currency: 'NGN' }]);
    await look(reference, { status: 'FAILED' });
    await decide();
    expect(await classes()).toEqual(['duplicate_payment']);
  });

  test('a decision about a surplus does not count a second charge that verify had not shown', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, { id: 'a' });
    charge(reference, 'b', '25');
    await classes();
    await decide();
    for (const amount of ['25', '30']) await look(reference, paid(amount));
    desk.service.history.pop();
    charge(reference, 'b', '10');
    expect(await classes()).toEqual(['duplicate_payment']);
    expect(await items()).toEqual([{ class: 'charged_again', amount: 500n, currency: 'NGN' }]);
    await decide();
    expect(await classes()).toEqual(['duplicate_payment']);
  });

  test('what only the list had shown stays decided about, though verify showed another currency then', async () => {
    const { reference } = await desk.put({}, null);
    await look(reference, paid('20'));
    await decide();
    await look(reference, paid('40', 'XOF'));
    charge(reference, 'a', '20');
    charge(reference, 'b', '10');
    // One at a time: what waits in another currency is not written over.
    for (const item of [
      { class: 'currency_mismatch', amount: 40n, currency: 'XOF' },
      { class: 'duplicate_payment', amount: 1_000n, currency: 'NGN' },
    ]) {
      expect(await classes()).toEqual(['duplicate_payment']);
      expect(await items()).toEqual([item]);
      await decide();
    }
    await look(reference, paid('20'));
    charge(reference, 'c', '5');
    expect(await classes()).toEqual(['duplicate_payment']);
    expect(await items()).toEqual([{ class: 'duplicate_payment', amount: 500n, currency: 'NGN' }]);
  });

  test('records that nobody can count stay for a person', async () => {
    const { reference } = await desk.put({}, null);
    for (const amount of ['20', '21']) charge(reference, 'a', amount);
    await look(reference, paid('20'));
    expect(await classes()).toEqual(['conflicting_records']);
    await decide();
    expect(await classes()).toEqual(['conflicting_records']);
  });
});
