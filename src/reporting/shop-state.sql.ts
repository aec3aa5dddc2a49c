import type { Queryable } from '../platform/database/database.ts';
import type { RunId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { Verdict } from '../cases/classes.ts';

/** Payments that wait for money, in one currency. */
export type OpenMoney = {
  currency: string;
  payments: number;
  /** Minor units. */
  amount: bigint;
};

/** Counting stops here: then the numbers are "at least". */
export const MAX_COUNTED = 20_000;

/**
 * Payments that are still checked by schedule and are not confirmed, by currency. Reads the
 * queue, not the orders.
 * @param isHeldLeftOut only those for which no money has come
 */
export async function openMoney(db: Queryable, mode: Mode, isHeldLeftOut = false): Promise<OpenMoney[]> {
  const rows = await db.query<Omit<OpenMoney, 'amount'> & { amount: string }>(
    `SELECT currency, count(*)::int AS payments, sum(amount)::text AS amount
     FROM (SELECT currency, amount FROM payments WHERE next_check_at IS NOT NULL AND mode = $1
         AND status IN ('created', 'sending', 'open', 'ambiguous', 'held')
         AND (status <> 'held' OR NOT $2) LIMIT ${MAX_COUNTED}) open
     GROUP BY currency ORDER BY currency`,
    [mode, isHeldLeftOut],
  );
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }));
}

/** Open work of one class, of one age. */
export type OpenWork = { class: string; age: string; currency: string | null; count: number; amount: bigint };

/** SQL over a column of time: its age, in the ranges by which the lists filter. */
export const age = (column: string): string =>
  `CASE WHEN ${column} > now() - interval '1 day' THEN '<1d'
     WHEN ${column} > now() - interval '7 days' THEN '1-7d'
    WHEN ${column} > now() - interval '30 days' THEN '7-30d' ELSE '>30d' END`;

/** @param isRaisedOnly leaves out those that may still resolve themselves, as the work list does */
export function openFindingCounts(
  db: Queryable,
  mode: Mode,
  isRaisedOnly = false,
): Promise<Pick<OpenWork, 'class' | 'age' | 'count'>[]> {
  return db.query(
    `SELECT class, ${age('first_seen_at')} AS age, count(*)::int AS count
     FROM findings WHERE mode = $1 AND closed_at IS NULL
       AND (raised_at IS NOT NULL OR NOT $2) GROUP BY 1, 2 ORDER BY 1, 2`,
    [mode, isRaisedOnly],
  );
}

export async function openSuspenseSums(db: Queryable, mode: Mode): Promise<OpenWork[]> {
  const rows = await db.query<Omit<OpenWork, 'amount'> & { amount: string }>(
    `SELECT class, ${age('opened_at')} AS age, currency, count(*)::int AS count, sum(amount)::text AS amount
     FROM suspense_items WHERE mode = $1 AND closed_at IS NULL GROUP BY 1, 2, 3 ORDER BY 3, 1, 2`,
    [mode],
  );
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }));
}

/** How the last finished run ended, and how long ago. */
export type LastRun = {
  id: RunId;
  verdict: Verdict;
  /** Whether it compared only the payments of a window. */
  isPart: boolean;
  finishedAt: Date;
  agoSec: number;
};

export async function lastRun(db: Queryable, mode: Mode): Promise<LastRun | null> {
  const [row] = await db.query<LastRun>(
    `SELECT id, verdict, coalesce(since, until) IS NOT NULL AS "isPart", finished_at AS "finishedAt",
       extract(epoch FROM now() - finished_at)::float8 AS "agoSec"
     FROM reconciliation_runs WHERE mode = $1 AND finished_at IS NOT NULL ORDER BY started_at DESC LIMIT 1`,
    [mode],
  );
  return row ?? null;
}

/** How long the service has sent no webhook, and how many orders were paid meanwhile. */
export type WebhookSilence = {
  /** Null: it has never sent one. */
  lastAt: Date | null;
  silentSec: number | null;
  /** Counted up to a hundred. */
  paidMeanwhile: number;
};

// A repeated webhook updates the time of an older row, but never of a very old one:
// the newest rows suffice.
export async function webhookSilence(db: Queryable, mode: Mode): Promise<WebhookSilence> {
  const [row] = await db.query<WebhookSilence>(
    `WITH last AS (
       SELECT max(last_received_at) AS at
       FROM (SELECT mode, last_received_at FROM webhooks ORDER BY id DESC LIMIT 1000) newest WHERE mode = $1
     )
     SELECT at AS "lastAt", extract(epoch FROM now() - at)::float8 AS "silentSec",
       (SELECT count(*)::int
         FROM (SELECT FROM releases WHERE mode = $1 AND released_at > coalesce(last.at, '-infinity')
         ORDER BY released_at DESC LIMIT 100) paid) AS "paidMeanwhile"
     FROM last`,
    [mode],
  );
  return row ?? { lastAt: null, silentSec: null, paidMeanwhile: 0 };
}

/** What receivers do not have. */
export type Undelivered = { delivery: 'waiting' | 'dead' | 'withheld'; count: number; oldestSec: number };

export function undeliveredCounts(db: Queryable, mode: Mode): Promise<Undelivered[]> {
  return db.query(
    // In two parts, each of which reads an index.
    ["delivery IN ('waiting', 'dead')", "delivery = 'withheld'"]
      .map(
        (condition) => `SELECT delivery, count(*)::int AS count,
          extract(epoch FROM now() - min(released_at))::float8 AS "oldestSec"
        FROM releases WHERE mode = $1 AND ${condition} GROUP BY delivery`,
      )
      .join(' UNION ALL '),
    [mode],
  );
}

/** Counting of due rows stops at this number. */
const MAX_DUE = 10_000;
const due = (table: 'payments' | 'releases'): string =>
  `SELECT '${table}' AS queue, count(*)::int AS rows,
     coalesce(extract(epoch FROM now() - min(next_check_at)), 0)::float8 AS "lagSec"
   FROM (SELECT next_check_at FROM ${table} WHERE mode = $1 AND next_check_at <= now()
     AND (leased_until IS NULL OR leased_until < now()) ORDER BY next_check_at LIMIT ${MAX_DUE}) due`;

/** Rows that are due and not leased by a worker, and how late the first of them is. */
type DueRows = { queue: 'payments' | 'releases'; rows: number; lagSec: number };

export function dueRows(db: Queryable, mode: Mode): Promise<DueRows[]> {
  return db.query(`${due('payments')} UNION ALL ${due('releases')}`, [mode]);
}

/** A quarter of an hour without webhooks is usual when no shopper pays. */
const SILENT_SEC = 900;
/** One or two orders may have been confirmed because the shopper came back before the webhook arrived. */
const PAID_MEANWHILE = 3;

/** Whether webhooks are missing: orders were paid, and none came. */
export function isWebhookSilenceSuspicious({ silentSec, paidMeanwhile }: WebhookSilence): boolean {
  return (silentSec === null || silentSec >= SILENT_SEC) && paidMeanwhile >= PAID_MEANWHILE;
}
