import type { Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference, RunId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { SeenFinding } from '../cases/findings.sql.ts';
import { FINDING_CLASSES, GRACED_CLASSES, type ReconciliationClass } from '../cases/classes.ts';
import { IS_OPEN, SAME_MONEY } from './open-findings.sql.ts';

/**
 * A contradiction may resolve itself within this time: replicas lag, and a list is written
 * later than a payment.
 */
const GRACE = '1 hour';

const CLOSED_BEFORE = `
  SELECT id, first_seen_at FROM findings f
  WHERE f.mode = $1 AND f.class = c.class AND f.reference = c.reference AND f.closed_at IS NOT NULL
  ORDER BY id DESC LIMIT 1`;

const SEEN_AGAIN = `
  last_run_id = excluded.last_run_id, last_seen_at = now(), order_id = excluded.order_id,
  currency = excluded.currency, expected = excluded.expected, actual = excluded.actual,
  evidence = excluded.evidence, raised_at = coalesce(findings.raised_at,
    CASE WHEN findings.first_seen_at <= now() - interval '${GRACE}' THEN now() END)`;

/**
 * What the end of a run has to do: findings of this run, open ones of any, and ones resolved but seen since.
 */
export type ToRaise = { now: Date; isAnySeen: boolean; isAnyToClose: boolean };

// Several charges may become fewer, and later one.
const MAY_GO = `(gone_at IS NULL OR class = 'duplicate_payment' AND nothing_left_at IS NULL)`;

/** Most runs have found nothing, and nothing is open. Call it in the transaction that raises the findings. */
export async function whatToRaise(db: Queryable, mode: Mode): Promise<ToRaise> {
  const [row] = await db.query<ToRaise>(
    `SELECT now(), EXISTS (SELECT FROM classified WHERE class = ANY($2)) AS "isAnySeen",
       EXISTS (SELECT FROM findings WHERE mode = $1 AND (closed_at IS NULL
         OR closed_by <> 'reconciliation' AND ${MAY_GO})) AS "isAnyToClose"`,
    [mode, FINDING_CLASSES],
  );
  if (row === undefined) throw new Error('Bug: the database does not know the time');
  return row;
}

/**
 * Locks what the end of a run writes, in the order of everybody who decides about a case: findings, then
 * orders. An order of which a reversal is raised has no refund half written down then, and none begins before
 * the run has ended: its events are numbered as they happened. Call it first, in the transaction that raises
 * the findings.
 */
export async function lockFindingsAndOrders(db: Queryable, mode: Mode): Promise<void> {
  await db.query(
    `SELECT count(*) FROM (SELECT FROM findings WHERE mode = $1 AND closed_at IS NULL
       ORDER BY id FOR NO KEY UPDATE) locked`,
    [mode],
  );
  // Those of which money is held, too: all orders at once, or two transactions may wait for each other.
  await db.query(
    `SELECT count(*) FROM (SELECT FROM orders WHERE id IN (SELECT order_id FROM classified
         WHERE class IN ('reversed', 'duplicate_payment')) ORDER BY id FOR NO KEY UPDATE) locked`,
  );
}

// Rows. With so many new ones the planner's figures of the table are wrong, and it compares each with each:
// 5,000 took five seconds.
const MANY = 500;

/**
 * Raises what this run sees. An open finding is marked as seen again. A closed one stays as it was, and
 * a new row points at it. A finding that came back gets no second grace period.
 */
export async function raiseFindings(db: Queryable, mode: Mode, runId: RunId): Promise<void> {
  const [raised] = await db.query<{ count: number }>(
    `WITH raised AS (
       INSERT INTO findings (mode, class, reference, order_id, currency, expected, actual, evidence,
         first_run_id, last_run_id, reopens, raised_at)
       SELECT DISTINCT ON (c.class, c.reference)
         $1, c.class, c.reference, c.order_id,
         coalesce(c.actual_currency, c.expected_currency), c.expected, c.actual, c.evidence,
         $2, $2, before.id,
         CASE WHEN c.class <> ALL($4) OR before.first_seen_at <= now() - interval '${GRACE}' THEN now() END
       FROM classified c LEFT JOIN LATERAL (${CLOSED_BEFORE}) before ON true
       WHERE c.class = ANY($3) AND ${IS_OPEN}
       ON CONFLICT (mode, class, reference) WHERE closed_at IS NULL DO UPDATE SET ${SEEN_AGAIN}
       RETURNING id
     ) SELECT count(*)::int AS count FROM raised`,
    [mode, runId, FINDING_CLASSES, GRACED_CLASSES],
  );
  if (raised !== undefined && raised.count > MANY) await db.query('ANALYZE findings');
}

/**
 * What a complete run covered: everything, or payments of a window, and whether also the service's balances.
 */
export type Sight = { isAll: boolean; since: Date | null; until: Date | null; sawCash: boolean };

// Of a payment from before the window, or of none, the list may hold more than was read of it.
const IS_IN_SIGHT = `CASE WHEN f.class = 'cash_difference' THEN $4 ELSE $3 OR EXISTS (
    SELECT FROM payments p WHERE p.mode = $1 AND p.reference = f.reference
      AND p.created_at >= coalesce($5::timestamptz, '-infinity')
      AND p.created_at < coalesce($6::timestamptz, 'infinity')) AND
  -- What is plainly matched is in no class of its own.
  (EXISTS (SELECT FROM classified c WHERE c.reference = f.reference)
    OR EXISTS (SELECT FROM history_rows h WHERE h.reference = f.reference)) END`;

// As long as verify contradicts what paid the order, that is the class of a payment of which the rest was
// decided about: the same money is there.
const SEEN_NOW = `classified c WHERE c.reference = f.reference
  AND (c.class = f.class OR c.class = 'paid_contradicted' AND ${SAME_MONEY})`;

// Or several charges. Not correlated: PostgreSQL would read all rows for each finding.
const WITH_SEVERAL = `SELECT reference FROM classified
  WHERE class = 'duplicate_payment' OR class = 'paid_contradicted' AND evidence ? 'charges'`;

// More charges do not mean that those which were decided about have gone.
const IS_THERE = `(${SAME_MONEY} OR f.class = 'duplicate_payment' AND c.actual > f.actual)`;

/**
 * Closes findings that a complete run no longer sees, and records when those that an operator resolved
 * have disappeared. A run over a window closes only findings about payments of the window.
 */
export async function closeUnseen(
  db: Queryable,
  mode: Mode,
  runId: RunId,
  { isAll, since, until, sawCash }: Sight,
): Promise<void> {
  const given = [mode, runId, isAll, sawCash, since, until];
  await db.query(
    `UPDATE findings f SET closed_at = now(), closed_by = 'reconciliation'
     WHERE mode = $1 AND closed_at IS NULL AND last_run_id <> $2 AND ${IS_IN_SIGHT}`,
    given,
  );
  await db.query(
    `UPDATE findings f SET gone_at = coalesce(gone_at, now()),
       nothing_left_at = CASE WHEN f.class = 'duplicate_payment'
         AND f.reference NOT IN (${WITH_SEVERAL}) THEN now() END
     WHERE mode = $1 AND last_run_id <> $2 AND closed_by <> 'reconciliation'
       AND ${MAY_GO} AND ${IS_IN_SIGHT}
       AND NOT EXISTS (SELECT FROM ${SEEN_NOW} AND (gone_at IS NOT NULL OR ${IS_THERE}))`,
    given,
  );
}

const SEEN = `classified c LEFT JOIN findings f
  ON f.mode = $1 AND f.class = c.class AND f.reference = c.reference AND f.closed_at IS NULL`;
// A dry run stores nothing: what it sees for the first time counts as raised, or is in its grace period.
const IS_RAISED = `CASE WHEN f.id IS NULL THEN c.class <> ALL($3) ELSE f.raised_at IS NOT NULL END`;

/** Findings that this run sees and that no operator has resolved, oldest first. */
export async function findingsOfRun(db: Queryable, mode: Mode, limit: number): Promise<SeenFinding[]> {
  return db.query(
    `SELECT f.id, c.class, c.reference, c.order_id AS "orderId",
       c.expected, c.expected_currency AS "expectedCurrency",
       c.actual, c.actual_currency AS "actualCurrency", f.first_seen_at AS "firstSeenAt"
     FROM ${SEEN} WHERE c.class = ANY($2) AND ${IS_RAISED} AND ${IS_OPEN}
     ORDER BY f.first_seen_at NULLS LAST, c.class, c.reference LIMIT $4`,
    [mode, FINDING_CLASSES, GRACED_CLASSES, limit],
  );
}

/** How many findings of each class this run sees, and whether they are raised or in their grace period. */
export type FindingCount = { class: ReconciliationClass; isRaised: boolean; count: bigint };

export async function countFindings(db: Queryable, mode: Mode): Promise<FindingCount[]> {
  return db.query(
    `SELECT c.class, ${IS_RAISED} AS "isRaised", count(*) AS count
     FROM ${SEEN} WHERE c.class = ANY($2) AND ${IS_OPEN}
     GROUP BY 1, 2 ORDER BY 1, 2`,
    [mode, FINDING_CLASSES, GRACED_CLASSES],
  );
}

/**
 * How many items in suspense wait for a decision: all, or of a run over a window those about its payments.
 */
export async function countHeld(
  db: Queryable,
  mode: Mode,
  { since, until }: Pick<Sight, 'since' | 'until'>,
): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    `SELECT count(*)::int FROM suspense_items s WHERE s.mode = $1 AND s.closed_at IS NULL
       AND (coalesce($2::timestamptz, $3) IS NULL OR EXISTS (SELECT FROM payments p
         WHERE p.mode = $1 AND p.reference = s.reference
           AND p.created_at >= coalesce($2, '-infinity') AND p.created_at < coalesce($3, 'infinity')))`,
    [mode, since, until],
  );
  return row?.count ?? 0;
}

/** The findings that this run raised. Call it in the transaction that raised them. */
export async function newlyRaised(
  db: Queryable,
  mode: Mode,
  runId: RunId,
): Promise<{ id: bigint; class: ReconciliationClass; reference: Reference; orderId: OrderId | null }[]> {
  return db.query(
    `SELECT id, class, reference, order_id AS "orderId" FROM findings
     WHERE mode = $1 AND last_run_id = $2 AND raised_at = now() AND closed_at IS NULL ORDER BY id`,
    [mode, runId],
  );
}

/** Whether a finding waits for a person. */
export async function isFindingOpen(db: Queryable, mode: Mode): Promise<boolean> {
  const rows = await db.query(
    'SELECT FROM findings WHERE mode = $1 AND closed_at IS NULL AND raised_at IS NOT NULL LIMIT 1',
    [mode],
  );
  return rows.length > 0;
}

/**
 * Each entry locks its order until the transaction ends, and a transaction has room
 * for some thousand locks.
 */
const ENTRIES_AT_ONCE = 200;

const TELL = `
  WITH seen AS MATERIALIZED (
    SELECT f.id, f.order_id, f.reference, finding_told(f) AS told FROM findings f
    WHERE f.mode = $1 AND f.last_run_id = $2 AND f.closed_at IS NULL AND f.order_id IS NOT NULL AND f.id > $3
    ORDER BY f.id LIMIT ${ENTRIES_AT_ONCE}
  ), entry AS (
    INSERT INTO journal (order_id, event, reference, cause, detail)
    SELECT order_id, 'finding-raised', reference, 'reconciliation', told FROM seen
    WHERE told IS DISTINCT FROM (SELECT j.detail FROM journal j WHERE j.order_id = seen.order_id
      AND j.event = 'finding-raised' AND j.detail ->> 'finding' = seen.id::text ORDER BY j.seq DESC LIMIT 1)
    ORDER BY order_id, reference
  )
  SELECT max(id) AS last FROM seen`;

/**
 * Writes the findings of this run into the journals of their orders, where their content is new. If an
 * amount is changed by other means afterwards, the journal contradicts it. Call it after the transaction
 * that raised them; it may be called again.
 */
export async function journalFindings(db: Queryable, mode: Mode, runId: RunId): Promise<void> {
  for (let after: bigint | null = 0n; after !== null;) {
    const [row]: { last: bigint | null }[] = await db.query<{ last: bigint | null }>(TELL, [
      mode,
      runId,
      after,
    ]);
    after = row?.last ?? null;
  }
}
