import type pg from 'pg';
import type { Mode, PrismaClient } from '../platform/prisma/client.ts';
import type { ReadableRow } from './row.ts';

export const FIGURES = [
  'reported',
  'captured',
  'retained',
  'refunded',
  'written_off',
  'off_provider',
  'recovered',
] as const;
const REMAINDERS = ['beyond_reach', 'history_differs'] as const;
const COUNTS = ['references', 'paid', 'matched', 'lacking'] as const;
/** The balance that the history reports, and what we booked; minor units. */
export type Figures = Record<(typeof FIGURES)[number], bigint>;
/** Why the history reports another balance than expected, although nothing is open; minor units. */
export type Remainders = Record<(typeof REMAINDERS)[number], bigint>;

/** A payment that is not plainly equal. `asks`: verify is asked about it, whatever its rows say. */
export type Difference = { reference: string; asks: boolean };
export type Comparison = {
  /** Payments whose last verification is oldest come first. The sums are of all other payments. */
  differences: Difference[];
  sums: (Figures & Remainders & { currency: string })[];
  /**
   * References in the history, paid payments, the equal ones of them, and those that the history
   * lacks.
   */
  counts: Record<(typeof COUNTS)[number], number>;
};

/** More differences than that mean another account, or an account with older payments. */
export const MOST_DIFFERENCES = 50_000;
const PATIENT = { query_timeout: 3_600_000 };

type Judged = { mode: Mode; startedAt: Date; lagMin: number; reachesBackDays: number | null };
type Row = { reference: string | null; currency: string | null; asks: boolean | null } & Record<
  (typeof FIGURES)[number] | (typeof REMAINDERS)[number],
  string
> &
  Comparison['counts'];

/**
 * The rows of the history beside the payments. `h` has one row for each reference of the history,
 * `p` one for each payment and currency. Two conditions say what differs:
 *
 * 1. `is_open`: by the ledger alone, somebody must look. The figures are those of position.ts:
 *    surplus S, outflow beyond what was booked X, and by them held, missing and not shown money of
 *    each source; or a case is open, or an answer could not be read.
 * 2. `is_new`: the rows are others than the ledger knows, or leave less than expected.
 *
 *   the rows report       the ledger                              what differs
 *   8500                  8500 captured, both sources 8500        nothing
 *   8500 and -8500        the same                                is_new: less is left
 *   nothing               the same, and within reach              is_new: the charge is gone
 *   8500                  both sources 8500, nothing booked       is_open: 8500 is held
 *   8500                  there is no such payment                it is an unmatched payment
 *
 * Raw: Prisma has no full join.
 */
const COMPARE = `
  WITH
  h AS (
    SELECT reference, CASE WHEN min(nullif(currency, '')) = max(currency) THEN max(currency) END AS currency,
      sum(received) AS received, sum(outflow) AS outflow,
      bool_or(status = 'unknown') AS is_odd, bool_or(status = 'unproven') AS is_doubted
    FROM history_rows WHERE mode = $1 GROUP BY reference),
  books AS (
    SELECT *, captured + retained + returned AS allocated,
      returned + refunded + written_off - off_provider - recovered AS booked_out,
      history_reached_at IS NOT NULL
        AND history_reached_at >= coalesce(booked_in_at, '-infinity') + make_interval(mins => $3) AS had_time
    FROM ledgers),
  surplus AS (
    SELECT *, allocated - booked_out AS expected, verify_received - allocated AS verify_s,
      history_received - allocated AS history_s,
      CASE WHEN verify_uncertain THEN greatest(verify_received, verify_outflow) ELSE verify_outflow END - booked_out
        AS verify_x,
      CASE WHEN history_uncertain THEN greatest(history_received, history_outflow) ELSE history_outflow END - booked_out
        AS history_x
    FROM books),
  positions AS (
    SELECT *,
      verify_s > greatest(0, verify_outflow - booked_out) OR history_s > greatest(0, history_outflow - booked_out)
        AS is_held,
      verify_x > verify_s + greatest(0, expected - verify_most_received)
        OR history_x > CASE WHEN had_time THEN history_s WHEN history_reached_at IS NULL
          THEN greatest(0, history_s, verify_s) ELSE greatest(0, history_s) END AS is_missing,
      booked_out > verify_outflow AND booked_out > history_outflow
        AND booked_out > history_outflow - CASE WHEN had_time THEN history_s ELSE greatest(0, history_s) END
        OR verify_most_outflow > verify_outflow OR history_most_outflow > history_outflow AS is_not_shown
    FROM surplus),
  p AS (
    SELECT p.reference, p.currency AS own, p.order_id IS NULL AND l.reference IS NULL AS is_aside, p.answered_at,
      p.order_id IS NOT NULL AND coalesce(p.opened_at, p.created_at)
        > $2::timestamptz - make_interval(hours => $4) AS is_in_reach,
      p.unreadable_since IS NOT NULL AND l.captured > 0 AS is_unread,
      p.reference IN (
        SELECT c.reference FROM cases c JOIN payments q ON q.reference = c.reference
        WHERE c.closed_at IS NULL OR c.currency <> q.currency) AS has_case,
      l.currency, captured, retained, refunded, written_off, off_provider, recovered, expected, is_held, is_missing,
      is_not_shown, history_received, history_outflow, history_reached_at
    FROM payments p LEFT JOIN positions l ON l.reference = p.reference WHERE p.mode = $1),
  judged AS (
    SELECT coalesce(p.reference, h.reference) AS reference, coalesce(p.currency, h.currency, own) AS currency,
      p.reference IS NOT NULL AS is_known, p.currency IS NOT NULL AS has_ledger, is_aside, is_in_reach, answered_at,
      h.reference IS NOT NULL AS is_reported, is_odd, is_doubted,
      coalesce(h.received, 0) AS received, coalesce(h.outflow, 0) AS outflow,
      captured, retained, refunded, written_off, off_provider, recovered, expected, history_received,
      history_reached_at,
      has_case OR is_unread OR is_held OR is_missing OR is_not_shown AS is_open,
      p.reference IN (SELECT reference FROM ledgers GROUP BY reference HAVING count(*) > 1)
        OR coalesce(is_doubted OR (is_odd AND captured = 0)
          OR (h.received > 0 AND h.currency IS DISTINCT FROM p.currency), false)
        OR CASE WHEN is_in_reach
          THEN coalesce(h.received, 0) <> history_received OR coalesce(h.outflow, 0) <> history_outflow
            OR coalesce(h.received - h.outflow, 0) < expected
          ELSE coalesce(h.received <> history_received OR h.outflow <> history_outflow, false) END AS is_new
    FROM h FULL JOIN p ON p.reference = h.reference),
  compared AS (
    SELECT *,
      CASE
        WHEN NOT is_known THEN received > outflow
        WHEN is_aside THEN false
        WHEN NOT has_ledger THEN is_open OR coalesce(received > 0 OR outflow > 0 OR is_odd OR is_doubted, false)
        ELSE is_open OR is_new
      END AS differs,
      is_in_reach AND NOT is_reported AND captured > 0 AND expected > 0
        AND (history_received > 0 OR history_reached_at IS NULL) AS is_lacking
    -- OFFSET 0 keeps PostgreSQL from writing out the conditions again wherever differs is named.
    FROM judged OFFSET 0)
  SELECT CASE WHEN differs THEN reference END AS reference, currency, bool_or(is_open OR NOT has_ledger) AS asks,
    coalesce(sum(CASE WHEN is_aside THEN 0 ELSE received - outflow END), 0)::text AS reported,
    ${FIGURES.slice(1)
      .map((name) => `coalesce(sum(${name}), 0)::text AS ${name}`)
      .join(', ')},
    coalesce(sum(received - outflow - coalesce(expected, 0))
      FILTER (WHERE is_in_reach IS NOT TRUE AND is_aside IS NOT TRUE), 0)::text AS beyond_reach,
    coalesce(sum(received - outflow - expected) FILTER (WHERE is_in_reach), 0)::text AS history_differs,
    (count(*) FILTER (WHERE is_reported))::int AS references, (count(*) FILTER (WHERE captured > 0))::int AS paid,
    (count(*) FILTER (WHERE captured > 0 AND NOT differs))::int AS matched,
    (count(*) FILTER (WHERE is_lacking AND $2::timestamptz - make_interval(mins => $3)
      > (SELECT max(at) FROM verifications v WHERE v.reference = compared.reference)))::int AS lacking
  FROM compared GROUP BY 1, 2 ORDER BY bool_or(differs), min(answered_at) NULLS FIRST LIMIT $5`;

/**
 * The usual new payment: the history has one row about it, which is exactly what verify reported
 * and what paid the order. Its ledger gets the row without a question, because later a chargeback
 * may be all that the history reports.
 */
const APPLY_FIRST = `
  WITH alone AS (
    SELECT reference, min(currency) AS currency, min(received) AS received, min(word) AS word,
      min(transaction_id) AS transaction_id
    FROM history_rows WHERE mode = $1 AND reference IN (SELECT reference FROM ledgers WHERE history_read_at IS NULL)
    GROUP BY reference HAVING count(*) = 1 AND min(status) = 'paid' AND min(outflow) = 0)
  UPDATE ledgers l SET history_received = a.received,
    history_most_received = greatest(history_most_received, a.received),
    history_transactions = jsonb_build_array(
      jsonb_build_object('id', a.transaction_id, 'received', a.received::text, 'outflow', '0')),
    history_word = a.word, history_read_at = $2, history_reached_at = CASE WHEN coalesce(p.opened_at, p.created_at)
      > $2::timestamptz - make_interval(hours => $3) THEN $2::timestamptz END
  FROM alone a JOIN payments p USING (reference)
  WHERE l.reference = a.reference AND l.currency = a.currency AND history_read_at IS NULL AND p.order_id IS NOT NULL
    AND captured = a.received AND verify_received = a.received AND verify_outflow = 0 AND NOT verify_uncertain
    AND retained + returned + refunded + written_off = 0
    AND NOT EXISTS (SELECT FROM cases c WHERE c.reference = l.reference AND closed_at IS NULL)`;

/** A run may read for hours. Meanwhile, rows near the end of the history's reach disappear. */
const EDGE_HOURS = 6;
/** 274 years: without a limit, the history reaches back to the beginning. */
const ALL_DAYS = 100_000;

/** Hours before the beginning of a run within which the history must report a payment. */
export function reachHours(reachesBackDays: number | null): number {
  return (reachesBackDays ?? ALL_DAYS) * 24 - EDGE_HOURS;
}

/**
 * Compares the whole history with all payments. A payment is plainly equal if nobody needs to look
 * at it: both sources report what we booked, and no case is open.
 * @returns null: more than MOST_DIFFERENCES differ
 */
export async function compare(client: pg.Client, judged: Judged): Promise<Comparison | null> {
  const { mode, startedAt, lagMin, reachesBackDays } = judged;
  const values = [mode, startedAt, lagMin, reachHours(reachesBackDays), MOST_DIFFERENCES + 100];
  const { rows } = await client.query<Row>({ text: COMPARE, values, ...PATIENT });
  const differing = new Map<string, Difference>();
  for (const { reference, asks } of rows) {
    if (reference === null) continue;
    const before = differing.get(reference);
    differing.set(reference, { reference, asks: asks === true || before?.asks === true });
  }
  if (differing.size > MOST_DIFFERENCES) return null;
  const equal = rows.filter(({ reference, currency }) => reference === null && currency !== null);
  return { differences: [...differing.values()], sums: equal.map(sumsOf), counts: countsOf(rows) };
}

function sumsOf(row: Row): Comparison['sums'][number] {
  const names = [...FIGURES, ...REMAINDERS];
  const figures = Object.fromEntries(names.map((name) => [name, BigInt(row[name])])) as Figures & Remainders;
  return { ...figures, currency: row.currency ?? '' };
}

function countsOf(rows: readonly Row[]): Comparison['counts'] {
  const count = (name: (typeof COUNTS)[number]) => [name, rows.reduce((sum, row) => sum + row[name], 0)];
  return Object.fromEntries(COUNTS.map(count)) as Comparison['counts'];
}

/** Applies the history to the ledgers of usual new payments. */
export async function applyFirst(client: pg.Client, judged: Judged): Promise<void> {
  // Without statistics, PostgreSQL takes the table for empty and joins it row by row.
  await client.query({ text: 'SELECT analyze_history_rows()', ...PATIENT });
  const { mode, startedAt, reachesBackDays } = judged;
  await client.query({ text: APPLY_FIRST, values: [mode, startedAt, reachHours(reachesBackDays)], ...PATIENT });
}

/**
 * The references in a window of the history whose balance differs from the ledger. Totals are not
 * judged.
 */
export async function compareWindow(prisma: PrismaClient, mode: Mode): Promise<Difference[]> {
  // Raw: Prisma cannot join a grouped query.
  const rows = await prisma.$queryRaw<{ reference: string }[]>`
    SELECT DISTINCT h.reference FROM (
      SELECT reference, currency, sum(received) - sum(outflow) AS balance
      FROM history_rows WHERE mode = ${mode}::mode GROUP BY 1, 2) h
    LEFT JOIN ledgers l ON l.reference = h.reference AND l.currency = h.currency
    WHERE CASE WHEN l.reference IS NULL THEN balance > 0 ELSE balance <> verify_received - verify_outflow
        AND (history_read_at IS NULL OR balance <> history_received - history_outflow) END
      AND NOT EXISTS (
        SELECT FROM payments p WHERE p.reference = h.reference AND p.order_id IS NULL AND l.reference IS NULL)`;
  return rows.map(({ reference }) => ({ reference, asks: true }));
}

/** A row of the history about a payment. */
export type ReportedRow = Omit<ReadableRow, 'reference'>;
export type ReportedRows = ReadonlyMap<string, ReportedRow[]>;

/**
 * All rows about these references, and about the part payments of their orders. A row that names no
 * currency is about the payment's own.
 */
export async function rowsAbout(client: pg.Client, mode: Mode, references: string[]): Promise<ReportedRows> {
  // Use the locked connection, so that losing the lock aborts the run.
  const text = `
    SELECT h.reference, coalesce(nullif(h.currency, ''), p.currency, '') AS currency, received, outflow,
      h.status::text AS status, word, transaction_id AS "transactionId"
    FROM history_rows h LEFT JOIN payments p USING (reference)
    WHERE h.mode = $1 AND reference = ANY(ARRAY(
      SELECT unnest($2::text[])
      UNION
      SELECT part.reference FROM payments p JOIN orders o ON o.id = p.order_id AND o.part_paid > 0
        JOIN payments part ON part.order_id = o.id
      WHERE p.reference = ANY($2))) ORDER BY h.id`;
  type Read = Omit<ReportedRow, 'received' | 'outflow'> & Record<'reference' | 'received' | 'outflow', string>;
  const { rows } = await client.query<Read>({ text, values: [mode, references], ...PATIENT });
  const reported = new Map<string, ReportedRow[]>();
  for (const { reference, ...row } of rows) {
    const one = { ...row, received: BigInt(row.received), outflow: BigInt(row.outflow) };
    reported.set(reference, [...(reported.get(reference) ?? []), one]);
  }
  return reported;
}

/**
 * Sets aside all unmatched payments of the history, when an account with older payments is
 * connected for the first time. An unmatched payment without a ledger is never judged.
 * @returns how many
 */
export function setAside(prisma: PrismaClient, mode: Mode): Promise<number> {
  // Raw: it copies up to a million rows between tables.
  return prisma.$executeRaw`
    INSERT INTO payments (reference, mode, amount, currency, status, next_check_at)
    SELECT reference, ${mode}::mode, least(sum(received) - sum(outflow), 9e18), max(currency), 'unmatched', NULL
    FROM history_rows WHERE mode = ${mode}::mode GROUP BY reference HAVING sum(received) > sum(outflow)
    ON CONFLICT DO NOTHING`;
}

/**
 * Deletes the rows after a checkpoint. Raw: deleting millions of rows takes longer than Prisma's
 * time limit.
 */
export async function dropRows(client: pg.Client, mode: Mode, afterId: string): Promise<void> {
  const text = 'DELETE FROM history_rows WHERE mode = $1 AND id > $2';
  await client.query({ text, values: [mode, afterId], ...PATIENT });
}
