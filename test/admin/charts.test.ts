import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { confirmedDays, sumConfirmedHours } from '../../src/reporting/money-by-day.sql.ts';
import { isWebhookSilenceSuspicious, webhookSilence } from '../../src/reporting/shop-state.sql.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let clone: TestDatabase;
beforeAll(async () => {
  clone = await createTestDatabase();
});
afterAll(() => clone.close());

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  clone.database.query<Row>(text, values);

beforeEach(async () => {
  await clone.database.transaction(async (tx) => {
    await tx.query('SET LOCAL session_replication_role = replica');
    for (const table of [
      'releases',
      'verifications',
      'payments',
      'orders',
      'webhooks',
      'confirmed_hours',
      'confirmed_until',
    ])
      await tx.query(`DELETE FROM ${table}`);
  });
});

let orders = 0;
/** An order confirmed so many seconds ago, by whom, and how long after its first webhook. */
async function confirmed(
  agoSec: number,
  cause = 'webhook',
  webhookBeforeSec: number | null = 2,
): Promise<void> {
  const id = String((orders += 1)).padStart(24, 'o');
  await clone.database.transaction(async (tx) => {
    await tx.query('SET LOCAL session_replication_role = replica');
    await tx.query(
      `INSERT INTO verifications (reference, order_id, mode, outcome, amount, currency, http_status, body_sha256, cause)
       VALUES ($1, $1, 'test', 'paid', 100, 'NGN', 200, '', $2)`,
      [id, cause],
    );
    await tx.query(
      `INSERT INTO releases (id, order_id, reference, mode, amount, currency, verification_id, delivery, released_at)
       SELECT 'rel_' || $1, $1, $1, 'test', 100, 'NGN', max(id), 'unneeded', now() - make_interval(secs => $2) FROM verifications`,
      [id, agoSec],
    );
    if (webhookBeforeSec !== null)
      await tx.query(
        `INSERT INTO webhooks (mode, body, body_sha256, authenticity, reference, outcome, received_at)
         VALUES ('test', '', convert_to($1, 'UTF8'), 'unsigned', $1, 'hinted', now() - make_interval(secs => $2))`,
        [id, agoSec + webhookBeforeSec],
      );
  });
}

const DAY = 86_400;
const total = async (days = 30) =>
  (await confirmedDays(clone.database, 'test', days)).reduce((all, row) => all + row.releases, 0);

describe('what was confirmed per day', () => {
  test('is the same before the hours are summed, after, and after once more', async () => {
    for (const ago of [0, 60, 2 * 3_600, DAY, 3 * DAY, 3 * DAY + 10, 28 * DAY]) await confirmed(ago);
    await confirmed(3 * DAY, 'schedule', null);
    await confirmed(3 * DAY, 'return', 7_200);
    const before = await confirmedDays(clone.database, 'test', 30);
    expect(await total()).toBe(9);
    for (let times = 0; times < 2; times += 1) {
      await sumConfirmedHours(clone.database, 'test');
      expect(await confirmedDays(clone.database, 'test', 30)).toEqual(before);
    }
    expect(await sql('SELECT count(*)::int AS hours FROM confirmed_hours')).not.toEqual([{ hours: 0 }]);
    expect(before.find(({ foundBy }) => foundBy === 'schedule')).toMatchObject({
      waited: -1,
      releases: 1,
      amount: 100n,
    });
    expect(before.find(({ foundBy }) => foundBy === 'return')).toMatchObject({ waited: 6 });
    expect(before.filter(({ foundBy }) => foundBy === 'webhook').every(({ waited }) => waited === 1)).toBe(
      true,
    );
  });

  test('knows what was confirmed after the hours were summed, each once', async () => {
    await confirmed(2 * DAY);
    await sumConfirmedHours(clone.database, 'test');
    await confirmed(30);
    expect(await total()).toBe(2);
    await sumConfirmedHours(clone.database, 'test');
    expect(await total()).toBe(2);
    // Half a minute ago was yesterday when midnight has just passed.
    expect(await total(2)).toBe(1);
  });

  test('is summed by two workers at once as by one', async () => {
    for (let ago = 1; ago < 20; ago += 1) await confirmed(ago * DAY);
    await Promise.all([1, 2, 3].map(() => sumConfirmedHours(clone.database, 'test')));
    expect(await total()).toBe(19);
  });

  test('is summed with more patience than a request has', async () => {
    await confirmed(2 * DAY);
    await sql(`CREATE FUNCTION patient() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      ASSERT current_setting('statement_timeout') = '10min', 'the day of a large shop is never summed';
      RETURN NEW; END $$`);
    await sql(
      'CREATE TRIGGER patient BEFORE INSERT ON confirmed_hours FOR EACH ROW EXECUTE FUNCTION patient()',
    );
    await sumConfirmedHours(clone.database, 'test');
    expect(await sql('SELECT releases FROM confirmed_hours')).toEqual([{ releases: 1 }]);
    await sql('DROP FUNCTION patient CASCADE');
  });

  test('is of one mode', async () => {
    await confirmed(DAY);
    await sumConfirmedHours(clone.database, 'live');
    expect(await confirmedDays(clone.database, 'live', 30)).toEqual([]);
  });
});

describe('silence of webhooks', () => {
  const isRaised = async (): Promise<boolean> =>
    isWebhookSilenceSuspicious(await webhookSilence(clone.database, 'test'));
  const webhook = (agoSec: number) =>
    sql(
      `INSERT INTO webhooks (mode, body, body_sha256, authenticity, outcome, received_at, last_received_at)
       VALUES ('test', '', convert_to($1::float8::text, 'UTF8'), 'unsigned', 'ignored', now() - make_interval(secs => $1::float8), now() - make_interval(secs => $1::float8))`,
      agoSec,
    );

  test('is nothing to be raised while nobody pays', async () => {
    expect(await isRaised()).toBe(false);
    await webhook(5 * DAY);
    expect(await isRaised()).toBe(false);
  });

  test('is raised when orders were paid meanwhile', async () => {
    await webhook(3_600);
    for (const ago of [1_800, 1_200]) await confirmed(ago, 'schedule', null);
    expect(await isRaised()).toBe(false);
    await confirmed(600, 'return', null);
    expect(await isRaised()).toBe(true);
    await webhook(10);
    expect(await isRaised()).toBe(false);
  });

  test('is raised when none has ever come', async () => {
    for (const ago of [1_800, 1_200, 600]) await confirmed(ago, 'schedule', null);
    expect(await isRaised()).toBe(true);
  });
});
