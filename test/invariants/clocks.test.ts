import { afterEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../src/platform/clock.ts';
import { someOf } from '../support/extent.ts';
import { checkInvariants } from '../support/invariants.ts';
import { eventually, startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';

// A clock that jumps by a day pays nothing, closes nothing and releases nothing by itself. Two clocks can be moved:
// this process's wall clock (all of the program reads it in one place), and the one PostgreSQL answers `now()` with, by
// a function of that name which is found first. What a column takes by default, and durations, stay on the true clock.

const DAY_MS = 86_400_000;
const { now } = systemClock;
let shop: TestProgram;
afterEach(async () => {
  systemClock.now = now;
  await shop.close();
});

const CLOCKS: Record<string, (ms: number) => Promise<unknown>> = {
  "the program's": (ms) => {
    systemClock.now = () => new Date(now().getTime() + ms);
    return Promise.resolve();
  },
  "the database's": async (ms) => {
    const { database } = shop.program;
    await database.query('CREATE SCHEMA moved');
    await database.query(
      `CREATE FUNCTION moved.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT pg_catalog.now() + interval '${ms} ms' $$`,
    );
    await database.query(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = moved, pg_catalog, public', current_database()); END $$`,
    );
    // Connections that are there already still tell the old time.
    await database
      .query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      )
      .catch(() => undefined);
    // The pool learns of each ended connection in its own time: until then a query may be given a dead one.
    await eventually(async () => {
      const asked = await Promise.allSettled(Array.from({ length: 10 }, () => database.query('SELECT')));
      return asked.every(({ status }) => status === 'fulfilled');
    });
    await database.query('SET search_path = moved, pg_catalog, public');
    const [row] = await database.query<{ moved: boolean }>(
      'SELECT abs(extract(epoch FROM now() - pg_catalog.now())) > 80000 AS moved',
    );
    expect(row).toEqual({ moved: true });
  },
};

type Standing = { payments: object[]; releases: number };

async function standing(): Promise<Standing> {
  const { database } = shop.program;
  const payments = await database.query<{ status: string }>(
    'SELECT p.reference, p.status, o.status AS "order" FROM payments p JOIN orders o ON o.id = p.order_id ORDER BY 1',
  );
  const releases = await database.query('SELECT FROM releases');
  return { payments, releases: releases.length };
}

async function aMorning(): Promise<Record<'open' | 'failed' | 'paid', CheckoutAnswer>> {
  const [open, failed, paid] = [await shop.checkout(), await shop.checkout(), await shop.checkout()];
  await shop.hand(`transactions/${failed.reference}/fail`, { notify: false });
  await shop.hand(`transactions/${paid.reference}/pay`, { notify: false });
  for (const { reference } of [failed, paid])
    await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
  return { open, failed, paid };
}

const WAYS: [name: string, ms: number][] = [
  ['a day ahead', DAY_MS],
  ['a day back', -DAY_MS],
];

describe.each(Object.keys(CLOCKS))('%s clock', (clock) => {
  test.each(someOf(WAYS, 1))(
    '%s: nobody is paid, closed or released, and who pays then is paid once',
    async (_way, ms) => {
      shop = await startProgram();
      const { open } = await aMorning();
      const before = await standing();
      await CLOCKS[clock]?.(ms);
      for (let round = 0; round < 3; round += 1) {
        await shop.program.duePayments.runOnce();
        await shop.program.dueReleases.runOnce();
      }
      expect(await standing()).toEqual(before);
      await shop.hand(`transactions/${open.reference}/pay`, { notify: false });
      await fetch(`${shop.origin}/checkout/return/${open.reference}`, { redirect: 'manual' });
      const after = await standing();
      expect(after.releases).toBe(before.releases + 1);
      const { database } = shop.program;
      const lines = await checkInvariants({
        database,
        sandboxUrl: shop.sandbox.url,
        traffic: shop.traffic(),
      });
      // Evidence takes its time from a column's default, the order's from `now()`: between the two clocks neither the
      // order of the two (I1) nor a payment's age (I16) means anything.
      const isOfTwoClocks = clock === "the database's" && ms < 0;
      expect(lines.filter((line) => !(isOfTwoClocks && /^I(?:1|16):/.test(line)))).toEqual([]);
    },
  );
});
