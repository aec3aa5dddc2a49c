import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { prune } from '../../src/retention.ts';
import { readArguments } from '../../src/commands/arguments.ts';
import { retention } from '../../src/commands/person.ts';
import { explain } from '../../src/reporting/explain.ts';
import { startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram({ env: { RETAIN_BODIES_DAYS: '90' } });
});
afterAll(() => shop.close());

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);
const run = (...argv: string[]) => retention(shop.program, readArguments(argv));

async function order(amount?: string): Promise<CheckoutAnswer> {
  const placed = await shop.checkout();
  await shop.hand(`transactions/${placed.reference}/pay`, { notify: false, ...(amount && { amount }) });
  await fetch(`${shop.origin}/checkout/return/${placed.reference}`, { redirect: 'manual' });
  await sql(
    `INSERT INTO webhooks (body_sha256, body, mode, authenticity, outcome, reference)
     VALUES (sha256(convert_to($1, 'UTF8')), convert_to($1, 'UTF8'), 'test', 'signed', 'hinted', $1)`,
    placed.reference,
  );
  return placed;
}

/** What is kept of a payment: the answers that have a body, webhooks, and messages. */
async function kept({ reference }: CheckoutAnswer) {
  const [row] = await sql<object>(
    `SELECT (SELECT count(*)::int FROM verifications WHERE reference = $1 AND body IS NOT NULL) AS answers,
       (SELECT count(*)::int FROM webhooks WHERE reference = $1) AS webhooks,
       (SELECT count(*)::int FROM releases WHERE reference = $1 AND message IS NOT NULL) AS messages`,
    reference,
  );
  return row;
}

/** As if the rows had been written so many days ago. Evidence is frozen: a superuser's hand is needed. */
async function grow(reference: string, days: number): Promise<void> {
  await shop.program.database.transaction(async (tx) => {
    await tx.query('SET LOCAL session_replication_role = replica');
    const back = [reference, days];
    const ago = 'now() - make_interval(days => $2)';
    await tx.query(`UPDATE verifications SET answered_at = ${ago} WHERE reference = $1`, back);
    await tx.query(
      `UPDATE webhooks SET received_at = ${ago}, last_received_at = ${ago} WHERE reference = $1`,
      back,
    );
    await tx.query(
      `UPDATE releases SET released_at = ${ago}, delivered_at = ${ago}, delivery = 'delivered', message = '{}'
       WHERE reference = $1`,
      back,
    );
    await tx.query(
      `UPDATE events SET happened_at = ${ago}, delivered_at = ${ago}, delivery = 'delivered', message = '{}'
       WHERE reference = $1`,
      back,
    );
  });
}

test('what is older than the setting goes, and nothing that is younger or that an open case needs', async () => {
  const [old, young, held, found] = [await order(), await order(), await order('3'), await order()];
  for (const { reference } of [old, held, found]) await grow(reference, 91);
  await grow(young.reference, 89);
  await sql(
    `WITH run AS (INSERT INTO reconciliation_runs (id, mode) VALUES ('run_' || repeat('a', 24), 'test') RETURNING id)
     INSERT INTO findings (mode, class, reference, order_id, first_run_id, last_run_id)
     SELECT 'test', 'reversed', $1, $2, id, id FROM run`,
    found.reference,
    found.orderId,
  );
  const before = await Promise.all([young, held, found].map(kept));
  expect(before).toMatchObject([{ answers: 1, webhooks: 1, messages: 1 }, { answers: 1 }, { answers: 1 }]);

  const wanted =
    // Two of releases, and two of events of the one that is held.
    'Older than 90 days: 1 answers and 4 messages would be emptied, 1 webhooks would be deleted.';
  expect((await run('--dry-run')).text).toBe(wanted);
  expect(await kept(old)).toEqual({ answers: 1, webhooks: 1, messages: 1 });
  expect((await run()).text).toBe(wanted.replaceAll('would be ', ''));
  expect(await kept(old)).toEqual({ answers: 0, webhooks: 0, messages: 0 });
  expect(await Promise.all([young, held].map(kept))).toEqual(before.slice(0, 2));
  expect(await kept(found)).toMatchObject({ answers: 1, webhooks: 1 });
  expect((await run('--dry-run')).text).toContain('0 answers and 0 messages');
  expect(await sql('SELECT FROM events WHERE message IS NOT NULL')).toEqual([]);
  // The digest and what was read stay: the books are as whole as before.
  const contradictions =
    (await explain(shop.program.database, old.orderId))?.orderDetail.contradictions ?? [];
  expect(contradictions.filter((what) => what.includes('body'))).toEqual([]);
});

test('every batch goes on where the one before it ended', async () => {
  await sql(
    `INSERT INTO webhooks (body_sha256, body, mode, authenticity, outcome, received_at, last_received_at)
     SELECT sha256(n::text::bytea), 'x', 'test', 'signed', 'ignored', t, t
     FROM generate_series(1, 2500) n, (SELECT now() - interval '1 year' AS t) long_ago`,
  );
  expect(await prune(shop.program.database, 90)).toMatchObject({ webhooks: 2_500 });
});

test('a batch has more patience than a request: deleted rows that no vacuum has removed lie before it', async () => {
  await sql(`CREATE FUNCTION patient() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    ASSERT current_setting('statement_timeout') = '1min', 'a second pruning of a large shop never ends';
    RETURN OLD; END $$`);
  await sql('CREATE TRIGGER patient BEFORE DELETE ON webhooks FOR EACH ROW EXECUTE FUNCTION patient()');
  await sql(
    `INSERT INTO webhooks (body_sha256, body, mode, authenticity, outcome, received_at, last_received_at)
     SELECT sha256('one'), 'x', 'test', 'signed', 'ignored', t, t
     FROM (SELECT now() - interval '1 year' AS t) long_ago`,
  );
  expect(await prune(shop.program.database, 90)).toMatchObject({ webhooks: 1 });
  await sql('DROP FUNCTION patient CASCADE');
});
