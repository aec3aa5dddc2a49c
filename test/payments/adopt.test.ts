import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { listFindings } from '../../src/cases/findings.ts';
import { openSuspense, resolveSuspense } from '../../src/cases/suspense.sql.ts';
import { insertOrder } from '../../src/orders/shop-orders.sql.ts';
import { adopt, type Adopted } from '../../src/payments/adopt.ts';
import type { Queryable } from '../../src/platform/database/database.ts';
import { loadPayment } from '../../src/payments/confirm.sql.ts';
import { newOrderId, newReference, type Reference } from '../../src/platform/ids.ts';
import { explain } from '../../src/reporting/explain.ts';
import { openDesk, startReconciling, type Desk, type Reconciling } from '../reconciliation/desk.ts';
import { defaultDialect } from '../support/dialect.ts';
import { eventually } from '../support/program.ts';

// A reference that the service knows and a restored database has lost: a person names its order, evidence
// pays.

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.close());

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  desk.database.query<Row>(text, values);

/** A paid transaction that no row of ours knows. */
function lose(): Reference {
  const reference = newReference();
  desk.service.history.push({ reference, status: 'SUCCESS', amount: '25.00', currency: 'NGN' });
  return reference;
}

/** One that the last run has put into suspense. */
async function loseAndFind(): Promise<Reference> {
  const reference = lose();
  await desk.reconcile({ dryRun: false });
  return reference;
}

const give = (
  reference: Reference,
  order: string,
  to: Pick<Desk, 'gateway' | 'confirm'> = desk,
): Promise<Adopted> =>
  adopt({ ...to, database: desk.database }, { reference, order, by: 'Ngozi', note: 'her mail of Tuesday' });

async function ask(reference: string, { confirm }: Pick<Desk, 'confirm'> = desk) {
  const payment = await loadPayment(desk.database, reference as Reference, 'test');
  if (payment === null) throw new Error(`there is no payment ${reference}`);
  return confirm(payment, 'webhook');
}

const suspenseOf = async (reference: string) =>
  (await openSuspense(desk.database, 'test')).filter((item) => item.reference === reference);
const findingsOf = async (reference: string) =>
  (await listFindings(desk.database, 'test')).filter((finding) => finding.reference === reference);

async function findAndDecide(reference: Reference): Promise<void> {
  await desk.reconcile({ dryRun: false });
  await decide(reference);
}

async function decide(reference: Reference, db: Queryable = desk.database): Promise<void> {
  const [item] = await suspenseOf(reference);
  const refund = { by: 'Ada', note: 'given back', decision: 'refund', refundNote: 'RF-1' } as const;
  expect(await resolveSuspense(db, 'test', item?.id ?? 0n, refund)).toBe(true);
}

async function stateOf(orderId: string) {
  const [row] = await sql<{ status: string; releases: number; payments: number }>(
    `SELECT o.status, (SELECT count(*)::int FROM releases r WHERE r.order_id = o.id) AS releases,
       (SELECT count(*)::int FROM payments p WHERE p.order_id = o.id) AS payments FROM orders o WHERE o.id = $1`,
    orderId,
  );
  return row;
}
const untouched = { status: 'pending', releases: 0, payments: 1 };

/** What happens while the service is asked for the `nth` time. */
function duringVerify(nth: number, work: () => Promise<unknown>): void {
  let calls = 0;
  desk.service.onVerify = () => {
    calls += 1;
    return calls === nth ? work() : Promise.resolve();
  };
}

test('the order is paid by the evidence, its money leaves suspense, and the journal says who adopted it and why', async () => {
  const reference = await loseAndFind();
  const { orderId } = await desk.put({ status: 'failed' }, null);
  await sql(`UPDATE orders SET status = 'failed' WHERE id = $1`, orderId);
  expect(await suspenseOf(reference)).toHaveLength(1);

  expect(await give(reference, orderId)).toEqual({
    isPaid: true,
    told: `Order ${orderId} is paid; its release is rel_${orderId}.`,
  });

  expect(await stateOf(orderId)).toEqual({ status: 'paid', releases: 1, payments: 2 });
  expect(await suspenseOf(reference)).toEqual([]);
  expect(await findingsOf(reference)).toEqual([]);
  expect(
    await sql('SELECT event, cause, detail FROM journal WHERE reference = $1 ORDER BY seq', reference),
  ).toMatchObject([
    {
      event: 'payment-ambiguous',
      cause: 'operator:Ngozi',
      detail: {
        reason: 'adopted',
        note: 'her mail of Tuesday',
        suspense: 'unknown_reference',
        money: '2500 NGN',
      },
    },
    { event: 'order-paid', cause: 'operator' },
  ]);
  expect(await desk.reconcile({ dryRun: false })).toMatchObject({ verdict: 'agreed', findings: {} });
});

test.each<[string, (reference: Reference) => Promise<unknown> | undefined, RegExp]>([
  [
    'an order that there is not',
    () => undefined,
    /no order nowhere.*under its own external id.*would ship again/,
  ],
  ['another amount', (r) => say(r, { amount: '24.99' }), /does not say.*NGN 25.00.*underpaid/],
  ['a hundredfold', (r) => say(r, { amount: '2500' }), /unit_error/],
  ['another currency', (r) => say(r, { currency: 'KWD' }), /currency_mismatch/],
  ['a payment that is not made', (r) => say(r, { status: 'PENDING' }), /pending/],
  ["a neighbour's record", (r) => say(r, { reference: 'x'.repeat(24) }), /reference_mismatch/],
  ['a reference that the service does not know', (r) => say(r, null), /does not know/],
  ['money about which a person has decided', (r) => findAndDecide(r), /has decided.*refund.*pays nothing/],
])('%s is refused, and nothing is written', async (what, prepare, why) => {
  const reference = lose();
  const { orderId } = await desk.put({}, null);
  await prepare(reference);
  const { isPaid, told } = await give(reference, what.startsWith('an order') ? 'nowhere' : orderId);
  expect(isPaid).toBe(false);
  expect(told).toMatch(why);
  expect(told).toMatch(/Nothing was written\.$/);
  expect(await stateOf(orderId)).toEqual(untouched);
});

function say(reference: Reference, record: object | null): Promise<void> {
  const said = { reference, status: 'SUCCESS', amount: '25.00', currency: 'NGN' };
  desk.service.verify.set(reference, record === null ? null : { ...said, ...record });
  return Promise.resolve();
}

test('orders that are paid, of the other mode, or have it already are refused; a paid one leaves it in suspense', async () => {
  const reference = await loseAndFind();
  const paid = await desk.put({ isConfirmed: true }, {});
  const live = await desk.put({ mode: 'live' }, null);
  const open = await desk.put({}, {});
  expect((await give(reference, paid.orderId)).told).toMatch(/is paid: this is a second payment/);
  expect((await give(reference, live.orderId)).told).toMatch(/is of live mode/);
  expect((await give(open.reference as Reference, open.orderId)).told).toMatch(
    /is a payment of order .* already/,
  );
  expect(await suspenseOf(reference)).toHaveLength(1);
});

test('of two people at once one wins, and one order is paid', async () => {
  const reference = lose();
  const orders = [await desk.put({}, null), await desk.put({}, null)].map(({ orderId }) => orderId);
  const both = await Promise.all(orders.map((orderId) => give(reference, orderId)));
  expect(both.map(({ isPaid }) => isPaid).sort()).toEqual([false, true]);
  expect((await Promise.all(orders.map(stateOf))).map((state) => state?.releases).sort()).toEqual([0, 1]);
});

test('a person who decides about the money at the same time binds it, before the row is there and after', async () => {
  const early = await loseAndFind();
  const first = await desk.put({}, null);
  duringVerify(1, () => decide(early));
  expect((await give(early, first.orderId)).told).toMatch(/A person has decided/);
  expect(await stateOf(first.orderId)).toEqual(untouched);

  const late = await loseAndFind();
  const second = await desk.put({}, null);
  duringVerify(2, () => decide(late));
  expect((await give(late, second.orderId)).told).toMatch(/is adopted and does not pay: paid, held/);
  // Its other payment is open.
  expect(await stateOf(second.orderId)).toEqual({ status: 'pending', releases: 0, payments: 2 });
  desk.service.onVerify = null;
});

test('a decision that is on its way is waited for: money that was given back pays nothing', async () => {
  const reference = await loseAndFind();
  const { orderId } = await desk.put({}, null);
  let adopting: Promise<Adopted> | undefined;
  await desk.database.transaction(async (tx) => {
    await decide(reference, tx);
    adopting = give(reference, orderId);
    await eventually(async () => {
      const waiting = await sql(`SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`);
      return waiting.length === 1;
    });
  });
  expect((await adopting)?.told).toMatch(/A person has decided/);
  expect(await stateOf(orderId)).toEqual(untouched);
});

test('an answer that changes after the row is there is decided as any other: the money waits for a person', async () => {
  const reference = await loseAndFind();
  const { orderId } = await desk.put({}, null);
  duringVerify(1, () => say(reference, { amount: '24.00' }));
  expect((await give(reference, orderId)).told).toMatch(/does not pay: underpaid, held/);
  expect(await stateOf(orderId)).toEqual({ status: 'review', releases: 0, payments: 2 });
  expect(await suspenseOf(reference)).toMatchObject([{ class: 'underpaid', amount: 2_400n }]);
  desk.service.onVerify = null;
});

const EVIDENCE = { reference: '', status: 'SUCCESS', amount: 25, currency: 'NGN' };

describe('where the dialect lets evidence be absent, nobody knows what was asked for with a lost reference', () => {
  let tolerant: Reconciling;
  beforeAll(() => {
    const may = { referenceMayBeAbsent: true, amountMayBeAbsent: true, currencyMayBeAbsent: true };
    const dialect = { ...defaultDialect, verify: { ...defaultDialect.verify, ...may } };
    const { database, service } = desk;
    tolerant = startReconciling({ database, url: service.url, dialect, alarm: () => Promise.resolve() });
  });
  afterAll(() => tolerant.gateway.close());

  const sayWithout = (field: keyof typeof EVIDENCE, reference: Reference): unknown =>
    desk.service.verify.set(reference, JSON.stringify({ ...EVIDENCE, reference, [field]: undefined }));

  test.each(['amount', 'currency', 'reference'] as const)('it is refused without the %s', async (field) => {
    const reference = lose();
    const { orderId } = await desk.put({}, null);
    sayWithout(field, reference);
    expect((await give(reference, orderId, tolerant)).told).toMatch(/unproven.*Nothing was written/);
    expect(await stateOf(orderId)).toEqual(untouched);
  });

  test('no later answer pays without them either; one with all of them does', async () => {
    const reference = lose();
    const { orderId } = await desk.put({}, null);
    duringVerify(1, () => Promise.resolve(sayWithout('amount', reference)));
    expect((await give(reference, orderId, tolerant)).told).toMatch(/does not pay: unproven, held/);
    expect(await ask(reference, tolerant)).toMatchObject({ outcome: 'unproven', released: false });
    expect(await stateOf(orderId)).toEqual({ status: 'review', releases: 0, payments: 2 });
    await say(reference, {});
    expect(await ask(reference, tolerant)).toMatchObject({ outcome: 'paid', released: true });
    desk.service.onVerify = null;
  });
});

test('the order that another payment pays meanwhile knows the money: its journal has it, and who decides about it', async () => {
  const reference = await loseAndFind();
  const open = await desk.put({}, {});
  duringVerify(2, () => ask(open.reference));
  expect((await give(reference, open.orderId)).told).toMatch(/does not pay: paid, held/);
  desk.service.onVerify = null;
  expect(await suspenseOf(reference)).toMatchObject([{ class: 'duplicate_payment', orderId: open.orderId }]);
  await decide(reference);
  const { evidence, orderDetail } = (await explain(desk.database, open.orderId)) ?? {};
  expect(evidence).toMatch(/suspense-resolved.*by operator:Ada/);
  expect(orderDetail?.contradictions.filter((what) => what.startsWith('suspense'))).toEqual([]);
});

test('money that has an order keeps it', async () => {
  const reference = await loseAndFind();
  const [first, second] = [await desk.put({}, null), await desk.put({}, null)];
  const move = (orderId: string) =>
    sql('UPDATE suspense_items SET order_id = $2 WHERE reference = $1', reference, orderId);
  await move(first.orderId);
  await expect(move(second.orderId)).rejects.toThrow('accounted for');
});

test('an external id is that of the key’s mode', async () => {
  const reference = lose();
  const { orderId } = await desk.put({}, null);
  const live = await desk.put({ mode: 'live' }, null);
  await sql(`UPDATE orders SET external_id = 'B-1' WHERE id IN ($1, $2)`, orderId, live.orderId);
  expect(await give(reference, 'B-1')).toMatchObject({ isPaid: true });
});

test('the release of an order that is placed again has the same id here, and another one in another installation', async () => {
  const ids = await desk.database.transaction(async (tx) => {
    const place = async () => {
      const id = newOrderId();
      await tx.query('SAVEPOINT before');
      await insertOrder(tx, {
        ...{ id, externalId: 'C-1', mode: 'test', email: 'ada@example.com', currency: 'NGN', amount: 1n },
        ...{ lines: [], returnUrl: null, details: {}, metadata: {}, payBy: null },
      });
      const [row] = await tx.query<{ is: string }>(
        'SELECT planned_release_id AS is FROM orders WHERE id = $1',
        [id],
      );
      await tx.query('ROLLBACK TO before');
      return row?.is;
    };
    const here = [await place(), await place()];
    await tx.query('UPDATE installation SET release_salt = gen_random_uuid()');
    return [...here, await place()];
  });
  expect(ids[0]).toMatch(/^rel_[A-Za-z0-9]{24}$/);
  expect(ids[1]).toBe(ids[0]);
  expect(ids[2]).not.toBe(ids[0]);
});
