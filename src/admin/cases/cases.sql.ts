import { FINDINGS, notesOf, SUSPENSE, versionOf, type Note } from '../../cases/work-lists.sql.ts';
import type { Age } from '../../cases/findings.ts';
import { age } from '../../reporting/shop-state.sql.ts';
import type { OrderStatus } from '../../orders/order.ts';
import type { Queryable } from '../../platform/database/database.ts';
import type { OrderId, Reference } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';

/** Names a case in addresses and forms: by its money in suspense, else by its oldest finding. */
export type CaseKey = { kind: 'money' | 'finding'; id: bigint };

/** An open problem: the money in suspense and the open findings of one reference. Amounts in minor units. */
export type CaseRow = CaseKey & {
  reference: Reference;
  /** Null: the reference is not ours. */
  orderId: OrderId | null;
  class: string;
  /** When its money was held or a finding about it first seen, whichever came first. */
  since: Date;
  /** Its place in the list, for the page after it. */
  place: string;
  owner: string | null;
  /** Whole, or `erased`; pages mask it. */
  email: string | null;
  orderStatus: OrderStatus | null;
  /** What is in suspense; null: a finding without money. */
  held: bigint | null;
  heldCurrency: string | null;
  /** The number of a refund of the surplus, for which the service is awaited. */
  surplusRefund: string | null;
  expected: bigint | null;
  expectedCurrency: string | null;
  /** What the service says; of money in suspense null. */
  actual: bigint | null;
  actualCurrency: string | null;
  paymentStatus: string | null;
  /** Whether the latest answer of verify says that it was paid exactly. */
  isConfirmed: boolean;
  /** Whether a person has decided about money of its payment. */
  isDecided: boolean;
  /** Of the money, for the functions that decide about it. */
  moneyVersion: string | null;
  /** All open ones of the reference. */
  findings: { id: string; class: string; version: string }[];
  notes: Note[];
  /** Changes when anything changes that an operator sees and decides upon. */
  version: string;
};

/** Which cases are read; what is null or left out does not apply. */
export type Wanted = {
  references?: readonly string[] | null;
  class?: string | null;
  ageFromSec?: number | null;
  ageBelowSec?: number | null;
  /** {@link UNASSIGNED}: cases without one. */
  owner?: string | null;
  /** A part of the reference, of the order's id or of the customer's address. */
  words?: string | null;
};

export const UNASSIGNED = '-';

const isOpenFinding = (f: string): string =>
  `${f}.mode = $1 AND ${f}.closed_at IS NULL AND ${f}.raised_at IS NOT NULL`;

// One row for each reference: its money in suspense, else its oldest finding.
const CASES = `
  cases AS (
    SELECT 'money' AS kind, id, reference, order_id, class, least(opened_at, (SELECT min(f.first_seen_at)
        FROM findings f WHERE f.reference = s.reference AND ${isOpenFinding('f')})) AS since,
      amount, currency, surplus_refund, owner
    FROM suspense_items s WHERE mode = $1 AND closed_at IS NULL
      AND ($2::text[] IS NULL OR reference = ANY($2))
    UNION ALL
    SELECT 'finding', id, reference, order_id, class, first_seen_at, NULL, NULL, NULL, owner
    FROM findings f WHERE ${isOpenFinding('f')} AND ($2::text[] IS NULL OR reference = ANY($2))
      AND NOT EXISTS (SELECT FROM suspense_items s
        WHERE s.mode = $1 AND s.reference = f.reference AND s.closed_at IS NULL)
      AND NOT EXISTS (SELECT FROM findings older
        WHERE older.reference = f.reference AND older.id < f.id AND ${isOpenFinding('older')})
  )`;

// Who works on it may have been said of the money or of a finding about it.
const OWNER = `coalesce(c.owner, (SELECT max(f.owner) FROM findings f
  WHERE c.kind = 'money' AND f.reference = c.reference AND ${isOpenFinding('f')}))`;

// For the parameters of `valuesOf`.
const IS_WANTED = `
  ($3::text IS NULL OR class = $3 OR EXISTS (SELECT FROM findings f
    WHERE f.reference = c.reference AND f.class = $3 AND ${isOpenFinding('f')}))
  AND ($4::float8 IS NULL OR since <= now() - make_interval(secs => $4))
  AND ($5::float8 IS NULL OR since > now() - make_interval(secs => $5))
  AND ($6::text IS NULL OR coalesce(${OWNER}, '${UNASSIGNED}') = $6)
  AND ($7::text IS NULL OR reference ILIKE $7 OR order_id ILIKE $7
    OR EXISTS (SELECT FROM orders o WHERE o.id = order_id AND o.email ILIKE $7))`;

const DETAILS = `
  SELECT (SELECT ${versionOf(SUSPENSE)} FROM suspense_items i WHERE i.id = c.id AND c.kind = 'money')
      AS money,
    (SELECT jsonb_agg(jsonb_build_object('id', i.id::text, 'class', i.class, 'version',
      ${versionOf(FINDINGS)})
       ORDER BY i.id) FROM findings i WHERE i.reference = c.reference AND ${isOpenFinding('i')}) AS findings,
    CASE kind WHEN 'money' THEN (SELECT ${notesOf(SUSPENSE)} FROM suspense_items i WHERE i.id = c.id)
      ELSE (SELECT ${notesOf(FINDINGS)} FROM findings i WHERE i.id = c.id) END AS notes`;

// Of a case `c`, its details `d`, and where there are such its order `o`, payment `p` and finding `f`.
const COLUMNS = `
  c.kind, c.id, c.reference, c.order_id AS "orderId", c.class, since, ${OWNER} AS owner,
  (extract(epoch FROM since) * 1000000)::bigint || '.' || c.kind || '-' || c.id AS place,
  o.email, o.status AS "orderStatus", c.amount AS held, c.currency AS "heldCurrency",
  surplus_refund AS "surplusRefund", coalesce(p.amount, f.expected) AS expected,
  coalesce(p.currency, f.currency) AS "expectedCurrency", f.actual, f.currency AS "actualCurrency",
  p.status AS "paymentStatus", coalesce((SELECT v.outcome = 'paid' FROM verifications v
    WHERE v.reference = c.reference ORDER BY v.id DESC LIMIT 1), false) AS "isConfirmed",
  p.decided_at IS NOT NULL AS "isDecided", d.money AS "moneyVersion",
  coalesce(d.findings, '[]') AS findings, d.notes,
  hashtextextended(concat_ws('|', d.money, d.findings::text), 0)::text AS version`;

const PLACE = /^(\d{1,16})\.(money|finding)-(\d{1,18})$/;

/** @param after the place of the last case that was read; null: from the oldest on */
export async function readCases(
  db: Queryable,
  mode: Mode,
  wanted: Wanted,
  { after = null, limit }: { after?: string | null; limit: number },
): Promise<CaseRow[]> {
  const [, micros = '0', kind = '', id = '0'] = PLACE.exec(after ?? '') ?? [];
  return db.query(
    `WITH ${CASES}, page AS (
       SELECT * FROM cases c WHERE ${IS_WANTED}
         AND (since, kind, id) > (timestamptz 'epoch' + $8::bigint * interval '1 microsecond', $9,
           $10::bigint)
       ORDER BY since, kind, id LIMIT $11
     )
     SELECT ${COLUMNS}
     FROM page c LEFT JOIN orders o ON o.id = c.order_id LEFT JOIN payments p ON p.reference = c.reference
     LEFT JOIN findings f ON f.id = c.id AND c.kind = 'finding' CROSS JOIN LATERAL (${DETAILS}) d
     ORDER BY since, c.kind, c.id`,
    [...valuesOf(mode, wanted), micros, kind, id, limit],
  );
}

/** Open cases of one class, of one age. */
export type OpenCases = { class: string; age: Age; count: number };

export function openCaseCounts(db: Queryable, mode: Mode): Promise<OpenCases[]> {
  return db.query(
    `WITH ${CASES} SELECT class, ${age('since')} AS age, count(*)::int AS count FROM cases GROUP BY 1, 2
      ORDER BY 1, 2`,
    [mode, null],
  );
}

/** Open cases of one kind, owner and currency. */
export type CaseCount = {
  class: string;
  owner: string | null;
  currency: string | null;
  isWanted: boolean;
  count: number;
  /** Minor units in suspense. */
  held: bigint;
};

/** All open cases, counted: those that are wanted, and the others. */
export async function countCases(db: Queryable, mode: Mode, wanted: Wanted): Promise<CaseCount[]> {
  const rows = await db.query<Omit<CaseCount, 'held'> & { held: string }>(
    `WITH ${CASES}
     SELECT class, owner, currency, (${IS_WANTED}) AS "isWanted", count(*)::int AS count,
       coalesce(sum(amount), 0)::text AS held
     FROM cases c GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
    valuesOf(mode, wanted),
  );
  return rows.map((row) => ({ ...row, held: BigInt(row.held) }));
}

function valuesOf(mode: Mode, wanted: Wanted): unknown[] {
  const { references, class: name, ageFromSec, ageBelowSec, owner, words } = wanted;
  // Written as pages show it, a masked address finds its customer, too.
  const pattern = words && `%${words.replace(/[\\%_]/g, '\\$&').replaceAll('•••', '%')}%`;
  const values = [references, name, ageFromSec, ageBelowSec, owner, pattern];
  return [mode, ...values.map((value) => value ?? null)];
}
