import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { loadPayment } from '../../src/payments/confirm.sql.ts';
import { openSuspense, resolveSuspense } from '../../src/cases/suspense.sql.ts';
import { assignItem, SUSPENSE } from '../../src/cases/work-lists.sql.ts';
import { openDesk, type Desk } from '../reconciliation/desk.ts';
import type { FakeTransaction } from '../reconciliation/fake-service.ts';
import { asReference } from '../support/ids.ts';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

const run = (dryRun = false): Promise<ReconciliationReport> => desk.reconcile({ dryRun });
const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  desk.database.query<Row>(text, values);
const items = () => openSuspense(desk.database, 'test');
const briefly = async () =>
  (await items()).map((item) => ({
    class: item.class,
    amount: item.amount,
    currency: item.currency,
    reference: item.reference,
  }));
const journalOf = (orderId: string) =>
  sql('SELECT event, cause, detail FROM journal WHERE order_id = $1 ORDER BY seq', orderId);

/** The service answers verify with this, and the one room looks at it. */
async function look(reference: string, record: Partial<FakeTransaction>): Promise<void> {
  desk.service.verify.set(reference, { reference, ...record });
  const payment = await loadPayment(desk.database, asReference(reference), 'test');
  if (payment === null) throw new Error(`there is no payment ${reference}`);
  await desk.confirm(payment, 'webhook');
}

const paid = (amount: string, currency = 'NGN') => ({ status: 'SUCCESS', amount, currency });

describe('money that is not earned becomes an item as soon as it is seen', () => {
  test.each([
    ['too little', paid('20'), { class: 'underpaid', amount: 2_000n, currency: 'NGN' }],
    ['too much', paid('30'), { class: 'overpaid', amount: 3_000n, currency: 'NGN' }],
    ['a hundredfold', paid('2500'), { class: 'unit_error', amount: 250_000n, currency: 'NGN' }],
    [
      'in another currency',
      paid('25', 'KWD'),
      { class: 'currency_mismatch', amount: 25_000n, currency: 'KWD' },
    ],
  ])('%s', async (_name, record, held) => {
    const { reference } = await desk.put({}, null);
    await look(reference, record);
    expect(await briefly()).toEqual([{ ...held, reference }]);
  });

  test('on top of what paid the order: the surplus alone', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, null);
    await look(reference, paid('26'));
    expect(await briefly()).toEqual([{ class: 'charged_again', amount: 100n, currency: 'NGN', reference }]);
  });

  test.each(['open', 'failed', 'expired'] as const)(
    'for an order that another payment has paid, though it was %s before',
    async (status) => {
      const first = await desk.put({ isConfirmed: true }, null);
      const { reference } = await desk.put({ orderId: first.orderId, status }, null);
      await look(reference, paid('25'));
      expect(await briefly()).toEqual([
        { class: 'duplicate_payment', amount: 2_500n, currency: 'NGN', reference },
      ]);
    },
  );

  test.each(['failed', 'expired'] as const)('late money that pays its %s order is earned', async (status) => {
    const { reference, orderId } = await desk.put({ status }, null);
    await look(reference, paid('25'));
    expect(await items()).toEqual([]);
    expect(await sql('SELECT status FROM orders WHERE id = $1', orderId)).toEqual([{ status: 'paid' }]);
  });
});

describe('money that only the history shows', () => {
  const stranger = { reference: 'somebody-elses', status: 'SUCCESS', amount: '12.5' };

  test('a paid transaction that is not ours is held with its finding, once', async () => {
    desk.service.history.push(stranger);
    expect(await run()).toMatchObject({ findings: { unknown_reference: 1 } });
    await run();
    expect(await items()).toEqual([
      expect.objectContaining({
        class: 'unknown_reference',
        amount: 1_250n,
        currency: 'NGN',
        reference: 'somebody-elses',
        orderId: null,
        owner: null,
        ageDays: 0,
      }),
    ]);
  });

  test('one that took no money is a finding and no item', async () => {
    desk.service.history.push({ ...stranger, status: 'PENDING' });
    expect(await run()).toMatchObject({ findings: { unknown_reference: 1 } });
    expect(await items()).toEqual([]);
  });

  test('a dry run holds nothing', async () => {
    desk.service.history.push(stranger);
    await run(true);
    expect(await items()).toEqual([]);
  });

  test('what somebody has dealt with is not held again, other money is', async () => {
    desk.service.history.push(stranger);
    await run();
    const [item] = await items();
    const resolution = {
      by: 'Ngozi',
      note: 'ours, from the old shop',
      decision: 'keep',
      refundNote: null,
    } as const;
    await resolveSuspense(desk.database, 'test', item?.id ?? 0n, resolution);
    await run();
    expect(await items()).toEqual([]);
    desk.service.history[0] = { ...stranger, amount: '13' };
    await run();
    expect(await briefly()).toMatchObject([{ amount: 50n }]);
  });

  test('it stays held when the history forgets it: the finding closes, the money is still owed', async () => {
    desk.service.history.push(stranger);
    await run();
    desk.service.history.length = 0;
    expect(await run()).toMatchObject({ findings: {} });
    expect(await items()).toHaveLength(1);
  });

  test('a second charge under the reference that paid an order is held, and its order knows', async () => {
    const { reference, orderId } = await desk.put({ isConfirmed: true }, { id: 'a' });
    desk.service.history.push({ reference, id: 'b' });
    expect(await run()).toMatchObject({ findings: { duplicate_payment: 1 } });
    expect(await briefly()).toEqual([
      { class: 'duplicate_payment', amount: 2_500n, currency: 'NGN', reference },
    ]);
    expect(await journalOf(orderId)).toMatchObject([
      {
        event: 'money-held',
        cause: 'reconciliation',
        detail: { suspense: 'duplicate_payment', money: '2500 NGN' },
      },
      { event: 'finding-raised', detail: { class: 'duplicate_payment' } },
    ]);
  });
});

describe('nothing is lost when the payment moves on', () => {
  test.each([
    ['fails', { status: 'FAILED' }],
    ['expires', { status: 'EXPIRED' }],
    ['is reversed', { status: 'REVERSED' }],
    ['becomes pending', { status: 'PENDING' }],
    ['is described by a word nobody knows', { status: 'MUDDLED' }],
  ])('the item stays open when the payment %s', async (_name, record) => {
    const { reference } = await desk.put({}, null);
    await look(reference, paid('20'));
    await look(reference, record);
    expect(await briefly()).toMatchObject([{ class: 'underpaid', amount: 2_000n }]);
  });

  test('it stays open when another payment pays the order', async () => {
    const first = await desk.put({}, null);
    await look(first.reference, paid('20'));
    const second = await desk.put({ orderId: first.orderId }, null);
    await look(second.reference, paid('25'));
    expect(await briefly()).toMatchObject([{ class: 'underpaid', reference: first.reference }]);
  });

  test('money that paid its order after all ends the item as earned, and the journal says which', async () => {
    const { reference, orderId } = await desk.put({}, null);
    await look(reference, paid('20'));
    const [item] = await items();
    await look(reference, paid('25'));
    expect(await sql('SELECT decision, closed_by FROM suspense_items')).toEqual([
      { decision: 'earned', closed_by: 'confirmation' },
    ]);
    expect(await journalOf(orderId)).toMatchObject([
      { event: 'payment-held', detail: { suspense: 'underpaid', money: '2000 NGN' } },
      { event: 'order-paid', detail: { earned: Number(item?.id) } },
    ]);
  });
});

describe('every item has an owner and an end', () => {
  async function heldItem(): Promise<{ id: bigint; orderId: string }> {
    const { reference, orderId } = await desk.put({}, null);
    await look(reference, paid('20'));
    const [item] = await items();
    return { id: item?.id ?? 0n, orderId };
  }
  const refund = { by: 'Ngozi', note: 'paid back', decision: 'refund', refundNote: 'RF-1' } as const;

  test('who works on it and how it ended stand in the row and in the journal of its order', async () => {
    const { id, orderId } = await heldItem();
    expect(await assignItem(desk.database, SUSPENSE, 'test', id, 'Tunde', 'Ngozi')).toBe(true);
    expect(await items()).toMatchObject([{ owner: 'Tunde', assignedAt: expect.any(Date) as unknown }]);
    expect(await resolveSuspense(desk.database, 'test', id, refund)).toBe(true);
    expect(await items()).toEqual([]);
    expect(
      await sql('SELECT owner, assigned_by, closed_by, decision, note, refund_note FROM suspense_items'),
    ).toEqual([
      {
        owner: 'Tunde',
        assigned_by: 'Ngozi',
        closed_by: 'Ngozi',
        decision: 'refund',
        note: 'paid back',
        refund_note: 'RF-1',
      },
    ]);
    expect(await journalOf(orderId)).toMatchObject([
      { event: 'payment-held' },
      { event: 'suspense-assigned', cause: 'operator:Ngozi', detail: { item: Number(id), owner: 'Tunde' } },
      {
        event: 'suspense-resolved',
        cause: 'operator:Ngozi',
        detail: { item: Number(id), decision: 'refund', note: 'paid back', refund: 'RF-1' },
      },
      { event: 'order-cancelled', cause: 'operator:Ngozi', detail: { item: Number(id) } },
    ]);
  });

  test('a process of the other mode, and a second hand, change nothing', async () => {
    const { id } = await heldItem();
    expect(await assignItem(desk.database, SUSPENSE, 'live', id, 'Tunde', 'Ngozi')).toBe(false);
    expect(await resolveSuspense(desk.database, 'live', id, refund)).toBe(false);
    expect(await resolveSuspense(desk.database, 'test', id, refund)).toBe(true);
    expect(await resolveSuspense(desk.database, 'test', id, { ...refund, by: 'Tunde' })).toBe(false);
    expect(await assignItem(desk.database, SUSPENSE, 'test', id, 'Tunde', 'Ngozi')).toBe(false);
    expect(await sql('SELECT closed_by FROM suspense_items')).toEqual([{ closed_by: 'Ngozi' }]);
  });

  test.each([
    ['a deletion', 'DELETE FROM suspense_items', 'is refused'],
    ['emptying the table', 'TRUNCATE suspense_items CASCADE', 'is refused'],
    ['another order', `UPDATE suspense_items SET order_id = NULL`, 'is refused'],
    ['another age', `UPDATE suspense_items SET opened_at = now() - interval '1 year'`, 'is refused'],
    [
      'an end without a name',
      `UPDATE suspense_items SET closed_at = now(), decision = 'keep'`,
      'closed_needs_a_name',
    ],
    [
      'a decision about an open item',
      `UPDATE suspense_items SET decision = 'keep'`,
      'closed_needs_a_decision',
    ],
    [
      'a person who calls it earned',
      `UPDATE suspense_items SET closed_at = now(), closed_by = 'eve', decision = 'earned'`,
      'earned_by_confirmation',
    ],
    [
      'a decision nobody knows',
      `UPDATE suspense_items SET closed_at = now(), closed_by = 'eve', decision = 'gone'`,
      'decision_is_known',
    ],
    [
      'a refund note without a refund',
      `UPDATE suspense_items SET closed_at = now(), closed_by = 'eve', decision = 'keep', refund_note = 'RF-1'`,
      'refund_note_of_a_refund',
    ],
    ['an assignment to nobody', `UPDATE suspense_items SET assigned_at = now()`, 'assigned_needs_a_name'],
  ])('PostgreSQL refuses %s', async (_name, statement, why) => {
    await heldItem();
    await expect(sql(statement)).rejects.toThrow(why);
  });

  test('a closed item stays as it was closed', async () => {
    const { id } = await heldItem();
    await sql(
      `UPDATE suspense_items SET closed_at = now(), closed_by = 'ada', decision = 'other' WHERE id = $1`,
      id,
    );
    await expect(sql(`UPDATE suspense_items SET note = 'lost'`)).rejects.toThrow('is refused');
    await expect(sql(`UPDATE suspense_items SET closed_at = NULL, closed_by = NULL`)).rejects.toThrow(
      'is refused',
    );
  });
});
