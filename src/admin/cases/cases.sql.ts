import { FINDINGS, notesOf, SUSPENSE, versionOf, type Note } from '../../cases/work-lists.sql.ts';
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
  /** Of all its findings and of its money. */
  classes: string[];
  since: Date;
  /** Its place in the list, for {@link Wanted.after}. */
  place: string;
  owner: string | null;
  /** Whole, or the word `erased`; pages mask it. */
  email: string | null;
  orderStatus: OrderStatus | null;
  /** What waits in suspense; null: a finding without money. */
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
  /** Whether a person has decided about money of its payment. */
  isDecided: boolean;
  /** Of the money, for the functions that decide about it. */
  moneyVersion: string | null;
  findings: { id: string; version: string }[];
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
  /** {@link NOBODY}: cases without one. */
  owner?: string | null;
  /** A part of the reference, of the order's id or of the customer's address. */
  words?: string | null;
};

export const NOBODY = '-';

// One row for each reference: what is open, however much was closed before.
const CASES = `
  found AS (
    SELECT reference, min(id) AS finding, min(first_seen_at) AS since, max(owner) AS owner, max(order_id) AS order_id,
      array_agg(class ORDER BY id) AS classes
    FROM findings WHERE mode = $1 AND closed_at IS NULL AND raised_at IS NOT NULL
      AND ($2::text[] IS NULL OR reference = ANY($2)) GROUP BY reference
  ), held AS (
    SELECT reference, id AS item, opened_at, owner, order_id, class, amount, currency, surplus_refund
    FROM suspense_items WHERE mode = $1 AND closed_at IS NULL AND ($2::text[] IS NULL OR reference = ANY($2))
  ), cases AS (
    SELECT reference, item, finding, coalesce(held.order_id, found.order_id) AS order_id,
      coalesce(held.class, classes[1]) AS class, array_remove(array_prepend(held.class, classes), NULL) AS classes,
      least(opened_at, since) AS since, (extract(epoch FROM least(opened_at, since)) * 1000000)::bigint AS at,
      coalesce(held.owner, found.owner) AS owner, amount, currency, surplus_refund
    FROM held FULL JOIN found USING (reference)
  )`;

// For the parameters of `valuesOf`.
const IS_WANTED = `
  ($3::text IS NULL OR $3 = ANY(classes))
  AND ($4::float8 IS NULL OR since <= now() - make_interval(secs => $4))
  AND ($5::float8 IS NULL OR since > now() - make_interval(secs => $5))
  AND ($6::text IS NULL OR coalesce(owner, '${NOBODY}') = $6)
  AND ($7::text IS NULL OR reference ILIKE $7 OR order_id ILIKE $7
    OR EXISTS (SELECT FROM orders o WHERE o.id = order_id AND o.email ILIKE $7))`;

const VERSIONS = `
  SELECT (SELECT ${versionOf(SUSPENSE)} FROM suspense_items i WHERE i.id = c.item) AS money,
    (SELECT jsonb_agg(jsonb_build_object('id', i.id::text, 'version', ${versionOf(FINDINGS)}) ORDER BY i.id)
     FROM findings i WHERE i.reference = c.reference AND i.mode = $1 AND i.closed_at IS NULL
       AND i.raised_at IS NOT NULL) AS findings,
    coalesce((SELECT ${notesOf(SUSPENSE)} FROM suspense_items i WHERE i.id = c.item), '[]') ||
    coalesce((SELECT ${notesOf(FINDINGS)} FROM findings i WHERE i.id = c.finding), '[]') AS notes`;

/** @param after the place of the last case that was read; null: from the oldest on */
export async function readCases(
  db: Queryable,
  mode: Mode,
  wanted: Wanted,
  { after = null, limit }: { after?: string | null; limit: number },
): Promise<CaseRow[]> {
  const [, at = '0', reference = ''] = /^(\d+)\.(.*)$/s.exec(after ?? '') ?? [];
  return db.query(
    `WITH ${CASES}, page AS (
       SELECT * FROM cases WHERE ${IS_WANTED} AND (at, reference) > ($8::bigint, $9) ORDER BY at, reference LIMIT $10
     )
     SELECT CASE WHEN item IS NULL THEN 'finding' ELSE 'money' END AS kind, coalesce(item, finding) AS id,
       c.reference, c.order_id AS "orderId", c.class, classes, since, at || '.' || c.reference AS place, c.owner,
       o.email, o.status AS "orderStatus", c.amount AS held, c.currency AS "heldCurrency",
       surplus_refund AS "surplusRefund", coalesce(p.amount, f.expected) AS expected,
       coalesce(p.currency, f.currency) AS "expectedCurrency",
       CASE WHEN item IS NULL THEN f.actual END AS actual, f.currency AS "actualCurrency",
       p.status AS "paymentStatus", p.decided_at IS NOT NULL AS "isDecided", v.money AS "moneyVersion",
       coalesce(v.findings, '[]') AS findings, v.notes,
       hashtextextended(concat_ws('|', v.money, v.findings::text), 0)::text AS version
     FROM page c LEFT JOIN orders o ON o.id = c.order_id LEFT JOIN payments p ON p.reference = c.reference
     LEFT JOIN findings f ON f.id = c.finding CROSS JOIN LATERAL (${VERSIONS}) v
     ORDER BY at, c.reference`,
    [...valuesOf(mode, wanted), at, reference, limit],
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
     FROM cases GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
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
