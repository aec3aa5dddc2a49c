import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { newId } from '../../src/platform/ids.ts';
import { closeFinding } from '../../src/cases/findings.sql.ts';
import type { Queryable } from '../../src/platform/database/database.ts';
import { defaultDialect } from '../support/dialect.ts';
import { eventually } from '../support/program.ts';
import { openDesk, startReconciling, type Desk, type Planted } from './desk.ts';

// What a run writes after its own transaction, where that has no room for more.
let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

/** Paid, its release waits for the receiver, and the service shows that all of its money went back. */
async function reversed(): Promise<Planted> {
  const planted = await desk.put({ isConfirmed: true }, { id: newId(), status: 'REVERSED' });
  desk.service.verify.set(planted.reference, { reference: planted.reference, status: 'REVERSED' });
  await desk.database.query(
    `UPDATE releases SET delivery = 'waiting', next_check_at = now() WHERE order_id = $1`,
    [planted.orderId],
  );
  return planted;
}

async function deliveryOf({ orderId }: Planted): Promise<string | undefined> {
  const text = 'SELECT delivery FROM releases WHERE order_id = $1';
  return (await desk.database.query<{ delivery: string }>(text, [orderId]))[0]?.delivery;
}

async function isAnyWaiting(): Promise<boolean> {
  const rows = await desk.database.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.length > 0;
}

/** A person closes the finding about a payment while `meanwhile` is under way, and has ended before it does. */
async function closeWhile<T>({ reference }: Planted, meanwhile: () => Promise<T>): Promise<T> {
  let isOver = false;
  const { under } = await desk.database.transaction(async (tx) => {
    const [finding] = await tx.query<{ id: bigint }>('SELECT id FROM findings WHERE reference = $1', [
      reference,
    ]);
    const given = { id: finding?.id ?? 0n, by: 'ada', note: 'We ship it.', seen: null };
    expect(await closeFinding(tx, 'test', given)).toBe(true);
    const going = meanwhile().finally(() => (isOver = true));
    await eventually(async () => isOver || (await isAnyWaiting()));
    return { under: going };
  });
  return under;
}

test('what a person decides about while the rest begins is left alone by it', async () => {
  const [first, second] = [await reversed(), await reversed()];
  let withheld = 0;
  let hasDecided = false;
  // The run's end locks and withholds once, then its rest does: a person comes before the rest's first statement.
  const watch =
    (query: Queryable['query']): Queryable['query'] =>
    (statement, values) => {
      const text = typeof statement === 'string' ? statement : statement.text;
      const isWithholding = text.includes('WITH gone AS');
      if (isWithholding) withheld += 1;
      const isOfTheRest = withheld > (isWithholding ? 1 : 0);
      const isFirst = isWithholding || /FROM findings WHERE .* FOR NO KEY UPDATE/s.test(text);
      if (hasDecided || !isOfTheRest || !isFirst) return query(statement, values);
      hasDecided = true;
      return closeWhile(second, () => query(statement, values));
    };
  const { reconcile, gateway } = startReconciling({
    ...{ database: { ...desk.database, watch }, url: desk.service.url, dialect: defaultDialect },
    ...{ journalsAtOnce: 1, alarm: () => Promise.resolve() },
  });
  expect(await reconcile({ dryRun: false })).toMatchObject({ findings: { reversed: 2 } });
  expect(hasDecided).toBe(true);
  expect([await deliveryOf(first), await deliveryOf(second)]).toEqual(['withheld', 'waiting']);
  await gateway.close();
});
