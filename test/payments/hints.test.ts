import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  endLease,
  hintAndLease,
  isBeingChecked,
  leaseForCheck,
  leaseHinted,
  leaseScheduled,
  postponeCheck,
} from '../../src/payments/checks.sql.ts';
import { loadPayment } from '../../src/payments/confirm.sql.ts';
import { CHECK_AGES_SEC, nextCheckSec, pauseAfterFailureSec } from '../../src/payments/check-schedule.ts';
import { asReference } from '../support/ids.ts';
import { GatewayNotAsked, GatewayUnavailable } from '../../src/gateway/errors.ts';
import { postponeAfterFailure } from '../../src/payments/due-payments.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { startProgram, type TestProgram } from '../support/program.ts';

let shop: TestProgram;
let reference = asReference('');
beforeAll(async () => {
  shop = await startProgram();
});
afterAll(() => shop.close());
beforeEach(async () => {
  await query('UPDATE payments SET next_check_at = NULL');
  ({ reference } = await shop.checkout());
});

const query = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);
const confirm = async (cause: 'return' | 'schedule' = 'return') => {
  const payment = await loadPayment(shop.program.database, reference, 'test');
  if (payment === null) throw new Error('gone');
  return shop.program.confirm(payment, cause);
};
/** A hint comes, and where it is followed the service is asked. */
const hint = async (): Promise<boolean> => {
  const hinted = await hintAndLease(shop.program.database, reference, 'test');
  if (hinted?.isLeased) await shop.program.confirm(hinted, 'return');
  return hinted?.isLeased ?? false;
};
const pass = (seconds: number): Promise<object[]> =>
  query(
    `UPDATE payments SET next_check_at = next_check_at - i, leased_until = leased_until - i,
       silent_until = silent_until - i, last_hinted_at = last_hinted_at - i
     FROM make_interval(secs => $2) AS i WHERE reference = $1`,
    reference,
    seconds,
  );
const evidence = async (): Promise<string[]> =>
  (
    await query<{ outcome: string }>(
      'SELECT outcome FROM verifications WHERE reference = $1 ORDER BY id',
      reference,
    )
  ).map(({ outcome }) => outcome);
const dueInSec = async (): Promise<number> =>
  (
    await query<{ sec: number }>(
      'SELECT extract(epoch FROM next_check_at - now())::float8 AS sec FROM payments WHERE reference = $1',
      reference,
    )
  )[0]?.sec ?? NaN;

describe('B1: hints of one payment', () => {
  test('three are followed at once, then the pauses grow while nothing new is learnt', async () => {
    // The first answer is news, whoever asked for it.
    await confirm('schedule');
    expect([await hint(), await hint(), await hint(), await hint()]).toEqual([true, true, true, false]);
    for (const pauseSec of [10, 60, 600, 3_600, 3_600]) {
      await pass(pauseSec - 2);
      expect([pauseSec, await hint()]).toEqual([pauseSec, false]);
      await pass(2);
      expect([pauseSec, await hint()]).toEqual([pauseSec, true]);
    }
  });

  test('an answer that says something new begins it anew', async () => {
    await confirm('schedule');
    for (let time = 0; time < 4; time += 1) await hint();
    await shop.hand(`transactions/${reference}/fail`, { notify: false });
    await confirm('schedule');
    expect([await hint(), await hint(), await hint(), await hint()]).toEqual([true, true, true, false]);
  });

  test('one that has to wait is due when the pause is over, and never later than the schedule', async () => {
    await confirm('schedule');
    await query(
      `UPDATE payments SET hint_checks = 5, last_hinted_at = now(), next_check_at = now() + interval '1 h'
      WHERE reference = $1`,
      reference,
    );
    await hint();
    expect(Math.round((await dueInSec()) / 10)).toBe(60);
    await query(
      `UPDATE payments SET next_check_at = now() + interval '20 s' WHERE reference = $1`,
      reference,
    );
    await hint();
    expect(await dueInSec()).toBeLessThanOrEqual(20);
  });

  test('one that comes during a check is followed by another check at once, or when the pause is over', async () => {
    const inFlight = await hintAndLease(shop.program.database, reference, 'test');
    expect(await hint()).toBe(false);
    if (inFlight !== null) await shop.program.confirm(inFlight, 'return');
    expect(await dueInSec()).toBeLessThanOrEqual(0);
    expect(await leaseHinted(shop.program.database, 'test', 5)).toMatchObject([
      { reference, isHinted: true },
    ]);
    // The schedule finds it in an hour at the latest, and the pause is longer than what is left of it.
    await query(
      `UPDATE payments SET hint_checks = 5, leased_until = NULL, last_hinted_at = NULL WHERE reference = $1`,
      reference,
    );
    const dry = await hintAndLease(shop.program.database, reference, 'test');
    await hint();
    await query(`UPDATE payments SET created_at = now() - interval '40 min' WHERE reference = $1`, reference);
    if (dry !== null) await shop.program.confirm({ ...dry, ageSec: 2_400 }, 'return');
    expect(await dueInSec()).toBeGreaterThan(1_100);
    expect(await dueInSec()).toBeLessThanOrEqual(1_200 * 1.1);
  });

  test('an operator does not wait for what strangers have used up', async () => {
    const { database } = shop.program;
    await query(
      `UPDATE payments SET hint_checks = 9, last_hinted_at = now() - interval '11 s' WHERE reference = $1`,
      reference,
    );
    expect(await hintAndLease(database, reference, 'test')).toMatchObject({ isLeased: false });
    expect(await hintAndLease(database, reference, 'test', { isTrusted: true })).toMatchObject({
      isLeased: true,
    });
  });

  test('an outage uses nothing up beyond the three: then one in ten seconds', async () => {
    const { database } = shop.program;
    for (let time = 0; time < 6; time += 1) {
      expect(await hintAndLease(database, reference, 'test')).toMatchObject({ isLeased: true });
      await postponeCheck(database, reference, 60, null);
      await pass(10);
    }
  });

  test('a check for which no call was made is none: an outage does not make the pauses after it longer', async () => {
    const { database } = shop.program;
    const parts = { database, logger: createLogger('silent') };
    const checks: number[] = [];
    for (const error of [new GatewayNotAsked('service-is-failing'), new GatewayUnavailable('reset')]) {
      await query('UPDATE payments SET next_check_at = now() WHERE reference = $1', reference);
      const [due] = await leaseScheduled(database, 'test', 1);
      if (due === undefined) throw new Error('not due');
      await postponeAfterFailure(parts, due, error, 60);
      checks.push(
        ...(
          await query<{ checks: number }>('SELECT checks FROM payments WHERE reference = $1', reference)
        ).map((row) => row.checks),
      );
    }
    expect(checks).toEqual([0, 1]);
  });

  test('of those that wait, the ones about which least was asked in vain are first', async () => {
    const flood = [await shop.checkout(), await shop.checkout(), await shop.checkout()];
    await query(
      `UPDATE payments SET hints = 9, hint_checks = 2, next_check_at = now() - interval '1 min' WHERE reference = ANY($1)`,
      flood.map((each) => each.reference),
    );
    await query(`UPDATE payments SET hints = 1, next_check_at = now() WHERE reference = $1`, reference);
    const leased = await leaseHinted(shop.program.database, 'test', 2);
    expect(leased.map((each) => each.reference)).toContain(reference);
  });

  test('the schedule does not take what hints have made due, and hints nothing of the schedule’s', async () => {
    const hinted = await shop.checkout();
    await query(`UPDATE payments SET hints = 1 WHERE reference = $1`, hinted.reference);
    await query(`UPDATE payments SET next_check_at = now() WHERE reference = ANY($1)`, [
      reference,
      hinted.reference,
    ]);
    const { database } = shop.program;
    expect(await leaseScheduled(database, 'test', 5)).toMatchObject([{ reference, isHinted: false }]);
    expect(await leaseHinted(database, 'test', 5)).toMatchObject([{ reference: hinted.reference }]);
  });
});

describe('B1: an answer that says the same again', () => {
  test('leaves no row, and the payment says that it was asked', async () => {
    for (let time = 0; time < 4; time += 1) await confirm();
    expect(await evidence()).toEqual(['pending']);
    expect(
      await query(
        `SELECT FROM payments WHERE reference = $1 AND last_answer_at > now() - interval '1 min'`,
        reference,
      ),
    ).toHaveLength(1);
  });

  test('every change does, and a change back', async () => {
    await confirm();
    await shop.hand('reset');
    await confirm();
    await confirm();
    expect(await evidence()).toEqual(['pending', 'not_found']);
  });

  test('what pays is kept, and said again by a paid payment it is not', async () => {
    await confirm();
    await shop.hand(`transactions/${reference}/pay`, { notify: false });
    await confirm();
    await confirm();
    expect(await evidence()).toEqual(['pending', 'paid']);
    await shop.hand(`transactions/${reference}/reverse`, { notify: false });
    await confirm();
    await confirm();
    expect(await evidence()).toEqual(['pending', 'paid', 'reversed']);
  });

  test('more money under the same word is news, and held money said again opens nothing twice', async () => {
    await shop.hand(`transactions/${reference}/pay`, { notify: false, amount: '1.00' });
    await confirm();
    await confirm();
    expect(await evidence()).toEqual(['underpaid']);
    await shop.hand(`transactions/${reference}/pay`, { notify: false, amount: '2.00' });
    await confirm();
    expect(await evidence()).toEqual(['underpaid', 'underpaid']);
    await query(
      `UPDATE suspense_items SET closed_at = now(), closed_by = $2, decision = 'other' WHERE reference = $1`,
      reference,
      'Ada',
    );
    await confirm();
    expect(await evidence()).toEqual(['underpaid', 'underpaid']);
  });

  test('what closes a payment is kept, whatever was said before', async () => {
    await confirm();
    await query(`UPDATE payments SET created_at = now() - interval '9 days' WHERE reference = $1`, reference);
    await confirm('schedule');
    expect(await evidence()).toEqual(['pending', 'pending']);
    expect(await query('SELECT status FROM payments WHERE reference = $1', reference)).toEqual([
      { status: 'expired' },
    ]);
  });
});

describe('G11: the clock was set back a day', () => {
  test.each([
    ['hinted just before', `last_hinted_at = now() + interval '1 day', hint_checks = 3`],
    ['hinted in vain for long', `last_hinted_at = now() + interval '1 day', hint_checks = 9`],
    ['being checked', `leased_until = now() + interval '1 day 30 s'`],
    [
      'left alone as the service wished',
      `silent_until = now() + interval '1 day 1 h', next_check_at = now() + interval '1 day 1 h'`,
    ],
    ['to be checked later', `next_check_at = now() + interval '1 day 5 s', hints = 3`],
  ])('a payment that was %s is checked when a hint comes', async (_when, changes) => {
    await query(`UPDATE payments SET ${changes} WHERE reference = $1`, reference);
    expect(await hint()).toBe(true);
  });

  test('what is due is leased whatever lease is left from before', async () => {
    await query(
      `UPDATE payments SET next_check_at = now(), leased_until = now() + interval '1 day 30 s' WHERE reference = $1`,
      reference,
    );
    expect(await leaseScheduled(shop.program.database, 'test', 5)).toMatchObject([{ reference }]);
  });

  test('a payment from the future is looked at soon', () => {
    expect(nextCheckSec(-86_400)).toBeLessThanOrEqual(5);
  });

  test('leases and pauses as they are still hold', async () => {
    const { database } = shop.program;
    expect(await hintAndLease(database, reference, 'test')).toMatchObject({ isLeased: true });
    expect(await hintAndLease(database, reference, 'test')).toMatchObject({
      isLeased: false,
      wasLeased: true,
    });
    await postponeCheck(database, reference, 5, 3_600);
    await pass(20);
    expect(await hintAndLease(database, reference, 'test')).toMatchObject({
      isLeased: false,
      wasLeased: false,
    });
  });

  test('a payment that is not due for long is leased to one check at a time, also in a silence', async () => {
    const { database } = shop.program;
    await postponeCheck(database, reference, 5, 3_600);
    expect(await leaseForCheck(database, reference, 'test')).toMatchObject({ reference });
    expect(await leaseForCheck(database, reference, 'test')).toBeNull();
    expect(await isBeingChecked(database, reference)).toBe(true);
    await endLease(database, reference);
    // The silence goes on: hints cause no check.
    expect(await hintAndLease(database, reference, 'test')).toMatchObject({
      isLeased: false,
      wasLeased: false,
    });
  });
});

describe('F11: not all at one moment', () => {
  test('checks that are further away than twenty minutes are spread, by a tenth or ten minutes at most', () => {
    for (const [at, ageSec] of CHECK_AGES_SEC.entries()) {
      const gap = (CHECK_AGES_SEC[at + 1] ?? NaN) - ageSec;
      if (Number.isNaN(gap)) continue;
      expect(nextCheckSec(ageSec, () => 0)).toBe(gap);
      expect(nextCheckSec(ageSec, () => 1)).toBeCloseTo(gap < 1_200 ? gap : gap + Math.min(gap / 10, 600));
    }
  });

  test('pauses after a failure are up to a tenth longer', () => {
    expect([pauseAfterFailureSec(1, () => 0), pauseAfterFailureSec(1, () => 1)]).toEqual([10, 11]);
    expect(pauseAfterFailureSec(99, () => 1)).toBeCloseTo(990);
  });
});
