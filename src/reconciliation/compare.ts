import type pg from 'pg';
import type { Mode, PrismaClient } from '../platform/prisma/client.ts';

/** What the list shows of a reference in a currency; minor units. `isPart`: rows of what went are more than `came`. */
export type Listed = { currency: string; word: string | null } & Amounts & Record<Marks, boolean>;
type Marks = 'isPart' | 'isDoubted' | 'isFailed';
type Amounts = Record<'shows' | 'gone' | 'came', bigint>;
export type Lists = ReadonlyMap<string, Listed[]>;

export const FIGURES = ['listed', 'earned', 'kept', 'refunded', 'lost', 'elsewhere', 'beyond_reach'] as const;
const COUNTS = ['references', 'released', 'matched', 'lacking'] as const;
/** What the list shows, and what became of it here; minor units. */
export type Figures = Record<(typeof FIGURES)[number], bigint>;
export type Comparison = {
  /** References that are not plainly equal, the longest unasked first. The sums are of all others. */
  differences: string[];
  sums: (Figures & { currency: string })[];
  /** References in the list; paid payments, the equal ones of them, and those that the list should have and lacks. */
  counts: Record<(typeof COUNTS)[number], number>;
};

/** More than that is no day's work: it is another account, or one with a past. */
export const MOST_DIFFERENCES = 50_000;
const PATIENT = { query_timeout: 3_600_000 };

type Judged = { mode: Mode; startedAt: Date; lagMin: number; reachesBackDays: number | null };
type Row = { reference: string | null; currency: string | null } & Record<(typeof FIGURES)[number], string> &
  Comparison['counts'];

// Prisma has no full join. Grouped by the reference where it differs, and by the currency alone elsewhere. A stranger's
// payment without money was set aside; one with money in two currencies counts as a difference in both.
const COMPARE = `
  WITH l AS (
    SELECT reference, CASE WHEN min(nullif(currency, '')) = max(currency) THEN max(currency) END AS currency,
      least(greatest(sum(shows), 0), 9e18)::bigint AS shows, sum(gone) AS gone, bool_or(status = 'unknown') AS is_odd,
      bool_or(status = 'unproven') AS is_doubted FROM listed WHERE mode = $1 GROUP BY reference),
  o AS (
    SELECT p.reference, p.currency AS own, p.order_id IS NULL AND m.reference IS NULL AS is_aside,
      m.currency, list_shows, list_heard_at, came - went AS shows, went, earned, kept, refunded, lost,
      m.refunded_elsewhere + m.send_back_elsewhere AS elsewhere, m.came - m.earned - m.kept - m.send_back AS held,
      m.refunded - m.refunded_elsewhere + m.send_back - m.send_back_elsewhere + m.lost - m.went AS to_go,
      p.reference IN (
        SELECT c.reference FROM cases c JOIN payments q ON q.reference = c.reference
        WHERE c.closed_at IS NULL OR c.currency <> q.currency) AS has_case, list_gone + list_beyond - list_rolled gone,
      (p.next_check_at IS NOT NULL OR list_doubted) AND earned > 0 AS is_unclear, p.answered_at,
      coalesce(p.opened_at, p.created_at) > $2::timestamptz - make_interval(hours => $4 * 24 - 6) AS is_in_reach
    FROM payments p LEFT JOIN money m ON m.reference = p.reference WHERE p.mode = $1),
  compared AS (
    SELECT coalesce(o.reference, l.reference) AS reference, coalesce(o.currency, l.currency, o.own) AS currency,
      CASE
        WHEN o.reference IS NULL THEN l.shows > 0
        WHEN is_aside THEN false
        WHEN o.currency IS NULL THEN has_case OR coalesce(l.shows > 0 OR l.gone > 0 OR is_odd OR is_doubted, false)
        -- A case, a debt, a refund that does not show, a word for people, another currency, other figures.
        ELSE has_case OR is_unclear OR held <> 0 OR to_go <> 0
          OR coalesce(is_doubted OR (is_odd AND earned = 0), false)
          OR coalesce(l.shows > 0 AND l.currency IS DISTINCT FROM o.currency, false)
          OR coalesce(l.gone, 0) <> o.gone
          OR CASE WHEN is_in_reach THEN coalesce(l.shows, 0) <> o.shows ELSE coalesce(l.shows, 0) > o.shows END
      END AS differs,
      CASE WHEN is_aside THEN 0 ELSE l.shows END AS listed, earned, kept, refunded, lost, elsewhere,
      coalesce(l.shows, 0) - o.shows AS beyond_reach, answered_at, l.reference IS NOT NULL AS is_listed,
      is_in_reach AND l.reference IS NULL AND o.shows > 0 AND earned > 0
        AND (list_shows IS DISTINCT FROM 0 OR list_heard_at IS NULL) AS is_lacking
    FROM l FULL JOIN o ON o.reference = l.reference)
  SELECT CASE WHEN differs THEN reference END AS reference, currency,
    coalesce(sum(listed), 0)::text AS listed, coalesce(sum(earned), 0)::text AS earned,
    coalesce(sum(kept), 0)::text AS kept, coalesce(sum(refunded), 0)::text AS refunded,
    coalesce(sum(lost), 0)::text AS lost, coalesce(sum(elsewhere), 0)::text AS elsewhere,
    coalesce(sum(beyond_reach), 0)::text AS beyond_reach,
    (count(*) FILTER (WHERE is_listed))::int AS references, (count(*) FILTER (WHERE earned > 0))::int AS released,
    (count(*) FILTER (WHERE earned > 0 AND NOT differs))::int AS matched,
    (count(*) FILTER (WHERE is_lacking AND $2::timestamptz - make_interval(mins => $3)
      > (SELECT max(at) FROM verifications v WHERE v.reference = compared.reference)))::int AS lacking
  FROM compared GROUP BY 1, 2 ORDER BY bool_or(differs), min(answered_at) NULLS FIRST LIMIT $5`;

/**
 * Compares the whole list with all payments. Plainly equal is what needs nobody: both sources show what came less what
 * went, all of it is earned, kept or gone back, and no case is open.
 * @returns null: more than MOST_DIFFERENCES differ
 */
export async function compare(client: pg.PoolClient, judged: Judged): Promise<Comparison | null> {
  const { mode, startedAt, lagMin, reachesBackDays } = judged;
  const values = [mode, startedAt, lagMin, reachesBackDays ?? 100_000, MOST_DIFFERENCES + 100];
  const { rows } = await client.query<Row>({ text: COMPARE, values, ...PATIENT });
  if (rows.length > MOST_DIFFERENCES) return null;
  const count = (name: (typeof COUNTS)[number]) => [name, rows.reduce((sum, row) => sum + row[name], 0)];
  const figures = (row: Row) => Object.fromEntries(FIGURES.map((name) => [name, BigInt(row[name])])) as Figures;
  const equal = rows.filter(({ reference, currency }) => reference === null && currency !== null);
  return {
    differences: [...new Set(rows.flatMap(({ reference }) => reference ?? []))],
    sums: equal.map((row) => ({ ...figures(row), currency: row.currency ?? '' })),
    counts: Object.fromEntries(COUNTS.map(count)) as Comparison['counts'],
  };
}

/** Of a list that was read in part: what it shows otherwise than we know it. It judges no totals. */
export async function compareWindow(prisma: PrismaClient, mode: Mode): Promise<string[]> {
  // Raw: from group to row, in one statement.
  const rows = await prisma.$queryRaw<{ reference: string }[]>`
    SELECT l.reference FROM (
      SELECT reference, currency, greatest(sum(shows), 0) shows FROM listed WHERE mode = ${mode}::mode GROUP BY 1, 2) l
    LEFT JOIN money m ON m.reference = l.reference AND m.currency = l.currency
    WHERE l.shows <> coalesce(m.came - m.went, 0) AND NOT EXISTS (
      SELECT FROM payments p WHERE p.reference = l.reference AND p.order_id IS NULL AND m.reference IS NULL)`;
  return [...new Set(rows.map(({ reference }) => reference))];
}

/** What the list shows of these references. A row that names no currency is about the payment's own. */
export async function sumsOf(client: pg.PoolClient, mode: Mode, references: string[]): Promise<Lists> {
  // By the connection that holds the lock: who has lost it hears nothing.
  const text = `
    SELECT l.reference, coalesce(nullif(l.currency, ''), p.currency, '') AS currency, sum(gone)::text AS gone,
      greatest(sum(shows), 0)::text AS shows, sum(CASE WHEN shows < 0 THEN 0 ELSE shows + gone END)::text AS came,
      sum(CASE WHEN shows < 0 OR l.status IN ('paid', 'unproven') THEN shows ELSE shows + gone END) < 0 AS "isPart",
      bool_or(l.status = 'unproven') AS "isDoubted", bool_and(l.status = 'failed') AS "isFailed",
      string_agg(DISTINCT word, ', ') AS word
    FROM listed l LEFT JOIN payments p USING (reference) WHERE l.mode = $1 AND reference = ANY($2) GROUP BY 1, 2`;
  type Sum = Omit<Listed, keyof Amounts> & Record<'reference' | keyof Amounts, string>;
  const { rows } = await client.query<Sum>({ text, values: [mode, references], ...PATIENT });
  const sums = new Map<string, Listed[]>();
  for (const { reference, ...row } of rows) {
    const one = { ...row, shows: BigInt(row.shows), gone: BigInt(row.gone), came: BigInt(row.came) };
    sums.set(reference, [...(sums.get(reference) ?? []), one]);
  }
  return sums;
}

/**
 * Sets aside what the list has and we lack, for the first connection to an account with a past: a stranger's payment
 * without money is nothing, now and later.
 * @returns how many
 */
export function setAside(prisma: PrismaClient, mode: Mode): Promise<number> {
  // Raw: from table to table, perhaps a million rows.
  return prisma.$executeRaw`
    INSERT INTO payments (reference, mode, amount, currency, status, next_check_at)
    SELECT reference, ${mode}::mode, least(greatest(sum(shows), 0), 9e18), max(currency), 'foreign', NULL
    FROM listed WHERE mode = ${mode}::mode GROUP BY reference HAVING sum(shows) > 0
    ON CONFLICT DO NOTHING`;
}

/** Rows that were read after the last checkpoint, or all of them. Raw: millions take longer than Prisma may. */
export async function dropListed(client: pg.PoolClient, mode: Mode, afterId: string): Promise<void> {
  await client.query({ text: 'DELETE FROM listed WHERE mode = $1 AND id > $2', values: [mode, afterId], ...PATIENT });
}

/**
 * Rows of one id are one charge: states of it, or a row that moved to a later page. The one that shows least stays, of
 * equal ones a doubted or the newest. Of rows of money that went, and of states without money, only equal ones are one.
 */
export async function dropRepeated(client: pg.PoolClient, mode: Mode): Promise<void> {
  const text = `
    DELETE FROM listed WHERE id IN (
      SELECT id FROM (
        SELECT id, row_number() OVER (PARTITION BY reference, service_id, currency,
            CASE WHEN shows < 0 OR status NOT IN ('paid', 'reversed', 'unproven') THEN concat(shows, status) END
          ORDER BY shows, status = 'unproven' DESC, id DESC) AS place
        FROM listed WHERE mode = $1 AND (reference, service_id) IN (
          SELECT reference, service_id FROM listed WHERE mode = $1 GROUP BY 1, 2 HAVING count(*) > 1)) AS placed
      WHERE place > 1)`;
  // PostgreSQL has known it empty, and would join it row by row.
  await client.query({ text: 'ANALYZE listed', ...PATIENT });
  await client.query({ text, values: [mode], ...PATIENT });
}
