import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { hintAndLease } from '../../src/payments/checks.sql.ts';
import { someOf } from '../support/extent.ts';
import { openDesk, type Desk } from './desk.ts';
import { asReference } from '../support/ids.ts';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

const run = (): Promise<ReconciliationReport> => desk.reconcile({ dryRun: false });
const lease = async (): Promise<Date | null | undefined> =>
  (await desk.database.query<{ lease: Date | null }>(`SELECT leased_until AS lease FROM payments`))[0]?.lease;

test('A7: while a run asks about a payment, no other door takes it, and afterwards every door may', async () => {
  const { reference } = await desk.put({}, {});
  const seen: unknown[] = [];
  desk.service.onVerify = async () => {
    seen.push((await hintAndLease(desk.database, asReference(reference), 'test'))?.isLeased);
  };
  expect(await run()).toMatchObject({ repaired: 1 });
  expect(seen).toEqual([false]);
  expect(await lease()).toBeNull();
});

test('A7: a payment that another check holds is asked about when that check has ended', async () => {
  const { reference } = await desk.put({}, {});
  await desk.database.query(
    `UPDATE payments SET next_check_at = now() + interval '1 day', leased_until = now() + interval '2 seconds' WHERE reference = $1`,
    [reference],
  );
  const held = await lease();
  let askedAt: Date | undefined;
  desk.service.onVerify = async () => {
    askedAt = (await desk.database.query<{ now: Date }>('SELECT clock_timestamp() AS now'))[0]?.now;
  };
  expect(await run()).toMatchObject({ verdict: 'agreed', repaired: 1 });
  expect(askedAt?.getTime()).toBeGreaterThanOrEqual(held?.getTime() ?? Infinity);
});

test('A7: a call that got no answer leaves no lease behind', async () => {
  const { reference } = await desk.put({ isConfirmed: true }, { status: 'REVERSED' });
  // A body that is too long to be read is no answer.
  desk.service.verify.set(reference, `"${'x'.repeat(300_000)}"`);
  expect(await run()).toMatchObject({ verdict: 'incomplete' });
  expect(await lease()).toBeNull();
});

const ODD_WORDS: [name: string, status: string][] = [
  ['half of a pair', 'x'.repeat(63) + '\ud83d\ude00'],
  ['NUL', 'a\0b'],
  ['a lone surrogate', '\ud800'],
  ['a very long word', 'é'.repeat(9_000)],
];
test.each(someOf(ODD_WORDS, 2))(
  'C4: a verify answer with %s as its status ends no run',
  async (_name, status) => {
    const { reference } = await desk.put({ isConfirmed: true }, { status: 'PENDING' });
    await desk.put({}, {});
    desk.service.verify.set(reference, { reference, status });
    expect(await run()).toMatchObject({ complete: true, repaired: 1, findings: { paid_unconfirmed: 1 } });
  },
);

test('C4: an answer that cannot be recorded leaves the run incomplete, and the other payments are asked about', async () => {
  const { reference } = await desk.put({}, {});
  await desk.put({}, {});
  await desk.database.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
     CREATE TRIGGER refuse BEFORE INSERT ON verifications FOR EACH ROW WHEN (NEW.reference = '${reference}')
       EXECUTE FUNCTION refuse()`,
  );
  const report = await run();
  expect(report).toMatchObject({ verdict: 'incomplete', repaired: 1 });
  expect(report.incompleteReason).toMatch(/could not be recorded/);
});
