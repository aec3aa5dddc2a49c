import { randomBytes } from 'node:crypto';
import type { Queryable } from '../../platform/database/database.ts';
import { HORIZON_SEC } from '../../payments/check-schedule.ts';
import { isWritten, ofScope, paymentsIn, releasesIn, type Scope } from './scope.sql.ts';
import { MONEY } from '../import/staging.sql.ts';
import { createTableAs } from '../working-tables.ts';

/**
 * Rows recorded as plainly paid are put into buckets by reference, and each bucket gets a count, a sum and a
 * fingerprint, with one scan of each table. Where these are equal on all three sides, the sides hold the same
 * rows. Only the other buckets, and rows that are not plainly paid, have to be joined, which takes longer
 * than everything else (docs/decisions.md, "Reconciliation weighs before it joins").
 *
 * Why so many buckets: of a million rows, one difference makes 250 rows of each side join, and the counts by
 * bucket still fit into the cache of a core. Of few rows each bucket costs more than the rows in it.
 */
const [LEAST_BUCKETS, MOST_BUCKETS, ROWS_OF_BUCKET] = [64, 4_096, 128];

/** The bucket of a row, as an SQL expression. A power of two of them, by how many records the list has. */
export function bucketIn({ listed }: Pick<Scope, 'listed'>): string {
  const wanted = 2 ** Math.ceil(Math.log2(Math.max(listed, 1) / ROWS_OF_BUCKET));
  const buckets = Math.min(Math.max(wanted, LEAST_BUCKETS), MOST_BUCKETS);
  return `(hashtextextended(reference, 0) & ${buckets - 1})`;
}

/** A row of the history that is plainly paid: by one charge, with an amount that the list itself names. */
export const CLAIMS_PAID_THERE = `(status = 'paid' AND is_named AND charges = 1 AND NOT is_money_assumed)`;
/** A payment of a scope that is recorded as paid. */
export const CLAIMS_PAID_HERE = `(status = 'paid' AND ${isWritten('payments')})`;

/**
 * The sides that get checksums by bucket, then the rows of each side that are only counted. Side and
 * bucket are encoded as one number, because grouping by one number is the cheapest.
 */
const SCALES = ['history', 'payments', 'releases', 'other history', 'nameless', 'other payments', 'outside'];
const scale = (name: string): number => SCALES.indexOf(name) * MOST_BUCKETS;

// $1 to $4 as in a scope, $5 the number drawn, $6 references to look up.
const FINGERPRINT = 'hashtextextended(reference, amount # $5)';

const listedIn = (scope: Scope): string => `
  SELECT CASE WHEN ${CLAIMS_PAID_THERE} THEN ${scale('history')} + ${bucketIn(scope)}
      WHEN is_named THEN ${scale('other history')} ELSE ${scale('nameless')} END AS scale, currency,
    CASE WHEN status IN (${MONEY}) AND NOT is_money_assumed THEN amount END AS amount,
    ${FINGERPRINT} AS fingerprint,
    NULL::interval AS age, reference = ANY($6::text[]) AS is_sentinel,
    CASE WHEN status = 'paid' THEN hashtextextended(reference, coalesce(amount, -1))
      ELSE hashtextextended(reference || status, coalesce(amount, -1)) END AS digest
  FROM history_rows`;

// One statement: the three tables are read at the same time, on every core.
const rowsOf = (scope: Scope): string => `
  ${listedIn(scope)}
  UNION ALL
  SELECT CASE WHEN ${CLAIMS_PAID_HERE} THEN ${scale('payments')} + ${bucketIn(scope)}
      WHEN ${isWritten('payments')} THEN ${scale('other payments')} ELSE ${scale('outside')} END, currency,
    amount, ${FINGERPRINT}, created_at - $2, NULL, NULL
  FROM ${paymentsIn(scope)} payments
  UNION ALL
  SELECT ${scale('releases')} + ${bucketIn(scope)}, currency,
    amount, ${FINGERPRINT}, released_at - $2, NULL, NULL
  FROM ${releasesIn(scope)} releases`;

/**
 * Creates table `bucket_checksums`: what each side holds, by bucket. Call it inside a snapshot.
 * @param sentinels references to look up in the list, see {@link ListTotals}
 */
export async function checksumBuckets(
  db: Queryable,
  scope: Scope,
  sentinels: readonly string[],
): Promise<void> {
  await db.query(
    createTableAs(
      'bucket_checksums',
      `SELECT ('{${SCALES.join(',')}}'::text[])[1 + scale / ${MOST_BUCKETS}], scale % ${MOST_BUCKETS}, currency,
         rows, sum, fingerprint, age, sentinels, digest
       FROM (
         SELECT scale, currency, count(*) AS rows, sum(amount) AS sum, bit_xor(fingerprint) AS fingerprint,
           sum(age) AS age, count(*) FILTER (WHERE is_sentinel) AS sentinels, bit_xor(digest) AS digest
         FROM (${rowsOf(scope)}) one GROUP BY scale, currency
       ) tallied`,
    ),
    [...ofScope(scope), randomBytes(8).readBigInt64BE(), sentinels],
  );
}

/**
 * Buckets whose rows are not the same on all sides, and those in which a payment may have been confirmed
 * after its horizon. No payment is confirmed before it was written, so if the delays of a bucket add up to
 * less than the horizon, each of them is less. Only a database clock that was set back in between could
 * hide one, and then it counts as matched in time.
 */
export async function bucketsToJoin(db: Queryable): Promise<number[]> {
  const rows = await db.query<{ bucket: number }>(
    `SELECT DISTINCT bucket::integer FROM bucket_checksums WHERE side IN ('history', 'payments', 'releases')
     GROUP BY bucket, currency
     HAVING count(*) < 3 OR min(rows) < max(rows)
       OR min(sum) < max(sum) OR min(fingerprint) < max(fingerprint)
       OR sum(CASE side WHEN 'releases' THEN age WHEN 'payments' THEN -age END)
         > interval '${HORIZON_SEC} s'`,
  );
  return rows.map(({ bucket }) => bucket);
}

/**
 * What was read of the list: its named references, how many sentinels are among them, and a digest.
 * `isAnyOutside`: payments have been written since the run began.
 */
export type ListTotals = { length: bigint; sentinels: bigint; digest: string; isAnyOutside: boolean };

/**
 * The digest covers the rows that were read, in any order. Lists that differ have different digests, but
 * it is no protection against an attacker who constructs a list with a given digest.
 */
export async function tallyOfList(db: Queryable): Promise<ListTotals> {
  const [row] = await db.query<ListTotals>(
    `SELECT coalesce(sum(rows) FILTER (WHERE side <> 'nameless'), 0)::bigint AS length,
       coalesce(sum(sentinels), 0)::bigint AS sentinels,
       coalesce(sum(rows), 0) || ':' || coalesce(sum(sum), 0)
         || ':' || coalesce(to_hex(bit_xor(digest)), '0') AS digest,
       EXISTS (SELECT FROM bucket_checksums WHERE side = 'outside') AS "isAnyOutside"
     FROM bucket_checksums WHERE side IN ('history', 'other history', 'nameless')`,
  );
  return row ?? { length: 0n, sentinels: 0n, digest: '', isAnyOutside: false };
}
