import { once } from 'node:events';
import { from as copyFrom } from 'pg-copy-streams';
import type { Queryable } from '../../platform/database/database.ts';
import type { Reference } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';
import type { Session } from '../session.sql.ts';
import { createTable, createTableAs } from '../working-tables.ts';
import { BYTES, COLUMNS } from './copy-writer.ts';

/**
 * Statuses of a reference whose amount is money that the service has. The last two
 * result from several rows.
 */
export const MONEY = `'paid', 'paid_and_reversed', 'conflicting'`;
/** The largest bigint. Sums can be larger, but a column cannot hold them. */
const MAX_AMOUNT = '9223372036854775807';

/**
 * The table with the rows of a run; on its connection, the view `history_rows` shows them whichever
 * table it is. `hasFees`: whether their fees are staged, too.
 */
export type Staging = { table: string; hasFees: boolean };

/** Working tables that begin empty. */
const FILLED_LATER = ['webhook_words', 'contested', 'verified_payments'] as const;

/**
 * Opens the staging of a run: the mode's own table, which survives a killed process, or a temporary one
 * for a run that must change nothing. `history_rows` shows one row per reference once
 * {@link foldHistory} has run.
 */
export async function openStaging(
  session: Session,
  mode: Mode,
  { isDry, hasFees }: { isDry: boolean; hasFees: boolean },
): Promise<Staging> {
  const kept = `history_rows_${mode}`;
  const table = isDry ? 'history_rows_dry' : kept;
  if (isDry) await session.query(`CREATE TEMPORARY TABLE ${table} (LIKE ${kept} INCLUDING DEFAULTS)`);
  const view = `CREATE TEMPORARY VIEW history_rows AS SELECT * FROM ${table} WHERE is_current`;
  // One statement: each of its own would be a transaction, and a small run has little else to do.
  await session.query([view, ...FILLED_LATER.map(createTable)].join(';'));
  return { table, hasFees };
}

/** Deletes everything except the first `records` records, and restores those to how they were read. */
export async function dropRows(db: Queryable, { table }: Staging, records: number): Promise<void> {
  if (records === 0) {
    await db.query(`TRUNCATE ${table}`);
    return;
  }
  await db.query(`DELETE FROM ${table} WHERE seq < 0 OR seq >= $1`, [records]);
  await db.query(`UPDATE ${table} SET is_current = true WHERE NOT is_current`);
}

/** The header of a binary COPY (signature, no flags, no extension) and its trailer. */
const [HEADER, TRAILER] = [
  Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1'),
  Buffer.from([0xff, 0xff]),
];

/** Stages tuples of {@link COLUMNS} by one COPY. */
export async function stageTuples(
  session: Session,
  { table, hasFees }: Staging,
  tuples: Buffer,
): Promise<void> {
  const columns = hasFees ? `${COLUMNS}, fee` : COLUMNS;
  const copy = session.client.query(copyFrom(`COPY ${table} (${columns}) FROM STDIN (FORMAT binary)`));
  const finished = once(copy, 'finish');
  copy.write(HEADER);
  copy.write(tuples);
  copy.end(TRAILER);
  await finished;
}

// A row that was read twice (rows move between pages during the reading) counts once: same id, same content.
// Refunds of the same money under one id, or none, may be two, or one of which a field has changed from one
// reading to the next: they are not told apart.
const READINGS = `
  SELECT *, status <> 'reversed' OR count(*) OVER (
    PARTITION BY reference, status, amount, currency, split_part(id, '${BYTES}', 1)) = 1 AS is_told_apart
  FROM (
    SELECT DISTINCT reference, coalesce(service_id, '') AS id, status, amount, currency, is_named,
      is_money_assumed
    FROM history_rows JOIN repeated USING (reference)) one`;

// Money in two currencies cannot be added, one id has one amount, and nothing is no charge.
const DOUBTS = `
  count(DISTINCT currency) FILTER (WHERE status IN ('paid', 'reversed')) > 1
    OR count(*) FILTER (WHERE status = 'paid')
      > count(DISTINCT id) FILTER (WHERE status = 'paid') AS is_unclear,
  bool_or(status IN ('paid', 'reversed')) AND bool_or(status IN ('unknown', 'unreadable'))
    OR count(*) FILTER (WHERE status = 'paid') > 1 AND bool_or(status = 'paid' AND amount = 0) AS is_mixed`;

const FOREMOST_FIRST = `ARRAY['paid', 'reversed', 'unreadable', 'unknown', 'pending', 'expired', 'failed']`;

/** The service's id of a row; empty: it has none. @param identity SQL of what tells the row from others */
export const idIn = (identity: string): string => `split_part(coalesce(${identity}, ''), '${BYTES}', 1)`;

// Combines the transactions of one reference. Two ids that paid are two charges.
const TOGETHER = `
  SELECT reference, bool_or(is_named) AS is_named, min(id) AS id,
    (array_agg(status ORDER BY array_position(${FOREMOST_FIRST}, status)))[1] AS status,
    count(DISTINCT id) FILTER (WHERE status = 'paid') AS charges,
    array_agg(DISTINCT ${idIn('id')}) FILTER (WHERE status = 'paid') AS charge_ids,
    coalesce(bool_or(is_money_assumed) FILTER (WHERE status = 'paid'), false) AS is_money_assumed,
    min(currency) FILTER (WHERE status = 'paid') AS currency,
    sum(amount) FILTER (WHERE status = 'paid') AS came,
    -- Where no amount says how much went back, all of it did. More can: a refund, and a chargeback beside it.
    coalesce(sum(amount) FILTER (WHERE status = 'reversed'), 0) AS went,
    coalesce(bool_or(amount IS NULL) FILTER (WHERE status = 'reversed'), false) AS is_all_back,
    bool_or(status = 'paid') AND bool_or(status = 'reversed') AS went_back,
    NOT bool_and(is_told_apart) AS is_doubtful,
    ${DOUBTS}
  FROM readings GROUP BY reference`;

// Of one charge that paid an order each refund counts: more than was written down is raised. So it is of
// several of which nothing is left if each counts.
const IS_UNKNOWN_LEFT = `(charges > 1 AND NOT is_all_back AND came > went
  OR NOT EXISTS (SELECT FROM payments p WHERE p.reference = together.reference AND p.status = 'paid'))`;

// Pending, failed or expired attempts do not matter beside one that paid. Every other row beside it
// does: then the amount is what came and did not go back.
const ONE_PER_REFERENCE = `
  SELECT -1, reference, is_named, id, said,
    CASE WHEN said IN (${MONEY}) AND NOT is_unclear
      AND came <= ${MAX_AMOUNT}
      THEN CASE WHEN is_all_back THEN 0 ELSE greatest(came - went, -${MAX_AMOUNT})::bigint END END,
    CASE WHEN said IN (${MONEY}) AND NOT is_unclear
      AND came <= ${MAX_AMOUNT} OR said = 'paid' THEN currency END,
    is_money_assumed AND said = 'paid', greatest(charges, 1), charge_ids
  FROM (
    SELECT *, CASE
      WHEN is_unclear OR is_mixed OR went_back AND is_doubtful AND ${IS_UNKNOWN_LEFT} THEN 'conflicting'
      WHEN came > ${MAX_AMOUNT} THEN 'unreadable'
      WHEN went_back THEN 'paid_and_reversed' ELSE status END AS said
    FROM together
  ) folded`;

const REPEATED = 'SELECT reference FROM history_rows GROUP BY reference HAVING count(*) > 1';

/**
 * Folds rows that share a reference into one. Most histories have none. The original rows are kept,
 * because a later run that continues the reading has to fold them again.
 */
export async function foldHistory(session: Session, { table }: Staging): Promise<void> {
  await session.query(`ANALYZE ${table}`);
  await session.query(createTableAs('repeated', REPEATED));
  const [some] = await session.query('SELECT FROM repeated LIMIT 1');
  if (some === undefined) return;
  await session.query(`
    WITH readings AS (${READINGS}), together AS (${TOGETHER}), folded AS (${ONE_PER_REFERENCE}),
      folded_up AS (UPDATE ${table} h SET is_current = false FROM repeated r WHERE h.reference = r.reference)
    INSERT INTO ${table}
      (seq, reference, is_named, service_id, status, amount, currency, is_money_assumed, charges, charge_ids)
    SELECT * FROM folded`);
}

/**
 * The fees that the service deducted in one currency; `sum` in minor units as text, because
 * sums outgrow a bigint.
 */
export type FeeTotal = { currency: string; sum: string };

/**
 * Fees of the paid transactions, summed from the rows as they were read. A transaction that was read
 * twice counts once, and its fee may have been missing the first time.
 */
export async function totalsOfFees(db: Queryable, { table, hasFees }: Staging): Promise<FeeTotal[]> {
  if (!hasFees) return [];
  return db.query<FeeTotal>(
    `SELECT currency, sum(fee)::text AS sum FROM (
       SELECT currency, max(fee) AS fee FROM ${table} WHERE seq >= 0 AND status = 'paid' AND fee IS NOT NULL
       GROUP BY reference, service_id, currency
     ) transactions GROUP BY currency`,
  );
}

/** Stores the answers that this run got about payments, and whether each released its order. */
export async function noteVerified(
  db: Queryable,
  answers: readonly { reference: Reference; hasReleased: boolean; outcome: string }[],
): Promise<void> {
  await db.query(
    `INSERT INTO verified_payments SELECT *
     FROM unnest($1::text[], $2::boolean[], $3::text[]) ON CONFLICT DO NOTHING`,
    [
      answers.map(({ reference }) => reference),
      answers.map(({ hasReleased }) => hasReleased),
      answers.map(({ outcome }) => outcome),
    ],
  );
}
