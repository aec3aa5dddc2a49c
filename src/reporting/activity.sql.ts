import type { Queryable } from '../platform/database/database.ts';
import type { OrderId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

/** Which actions of people are read. A filter that is null does not apply. */
type ActivityWanted = {
  by: string | null;
  /** Included. */
  since: Date | null;
  /** Excluded. */
  until: Date | null;
  /** {@link Action.key} of the row after which the page begins, going back in time. */
  before: string | null;
  limit: number;
};

/** What one person did at one time. */
export type Action = {
  /** Unique, and in the order of the list. */
  key: string;
  at: Date;
  by: string;
  /** The journal's event, or that of an action that belongs to no order. */
  event: string;
  orderId: OrderId | null;
  reference: string | null;
  /** Of the order's shopper. */
  email: string | null;
  class: string | null;
  /** Minor units, as the case has it. */
  amount: bigint | null;
  currency: string | null;
  detail: Readonly<Record<string, unknown>>;
};

type Part = { name: string; at: string; by: string; event: string; of: string; id: string };

/**
 * @param of what follows FROM, with its condition
 * @param rest order id, reference, item's table and id, detail
 */
function part({ name, at, by, event, of, id }: Part, rest: string): string {
  const key = `to_char(${at} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || ' ${name} ' || ${id}`;
  // The comparison of times is for the index; that of keys decides between actions of one instant.
  return `(SELECT ${key} AS key, ${at} AS at, ${by} AS by, ${event} AS event, ${rest} FROM ${of}
    AND ($2::text IS NULL OR ${by} = $2) AND ${at} >= coalesce($3, '-infinity'::timestamptz)
    AND ${at} < coalesce($4, 'infinity'::timestamptz)
    AND ${at} <= coalesce(split_part($5, ' ', 1)::timestamptz, 'infinity')
      AND ($5::text IS NULL OR ${key} < $5)
    ORDER BY ${at} DESC, key DESC LIMIT $6)`;
}

const PERSON = "substr(j.cause, length('operator:') + 1)";
const JOURNAL = part(
  {
    name: 'journal',
    at: 'j.at',
    by: PERSON,
    event: 'j.event',
    id: "j.order_id || ' ' || j.seq",
    of: `journal j JOIN orders o ON o.id = j.order_id AND o.mode = $1 WHERE j.cause LIKE 'operator:%'
      -- That a decision ended its order is part of the decision.
      AND NOT (j.event = 'order-cancelled' AND j.detail ? 'item')`,
  },
  `j.order_id, j.reference, (j.detail ->> 'item')::bigint AS item,
    (j.detail ->> 'finding')::bigint AS finding,
   j.detail`,
);

/** Notes are in no journal, and what belongs to no order has none. */
const ofList = (table: 'findings' | 'suspense_items', notes: string, noteOf: string): string[] => {
  const [list, item] = table === 'findings' ? ['finding', 'finding'] : ['suspense', 'item'];
  const ids = item === 'item' ? 'i.id, NULL::bigint' : 'NULL::bigint, i.id';
  const detail = (fields: string): string => `jsonb_strip_nulls(jsonb_build_object(${fields}))`;
  return [
    part(
      {
        name: `${list}-note`,
        at: 'n.written_at',
        by: 'n.written_by',
        event: `'${list}-noted'`,
        id: 'n.id',
        of: `${notes} n JOIN ${table} i ON i.id = n.${noteOf} WHERE i.mode = $1`,
      },
      `i.order_id, i.reference, ${ids}, ${detail(`'note', n.note`)}`,
    ),
    part(
      {
        name: `${list}-assigned`,
        at: 'i.assigned_at',
        by: 'i.assigned_by',
        event: `'${list}-assigned'`,
        id: 'i.id',
        of: `${table} i WHERE i.mode = $1 AND i.order_id IS NULL AND i.assigned_at IS NOT NULL`,
      },
      `i.order_id, i.reference, ${ids}, ${detail(`'owner', i.owner`)}`,
    ),
    part(
      {
        name: `${list}-closed`,
        at: 'i.closed_at',
        by: 'i.closed_by',
        event: `'${list}-resolved'`,
        id: 'i.id',
        of: `${table} i WHERE i.mode = $1 AND i.order_id IS NULL
          AND i.closed_by NOT IN ('reconciliation', 'confirmation')`,
      },
      `i.order_id, i.reference, ${ids},
       ${detail(`'note', i.note${item === 'item' ? `, 'decision', i.decision, 'refund', i.refund_note` : ''}`)}`,
    ),
  ];
};

const NOTHING = 'NULL::text, NULL::text, NULL::bigint, NULL::bigint';
const ofStop = (name: 'stopped' | 'resumed', note: string): string =>
  part(
    {
      name,
      at: `c.${name}_at`,
      by: `c.${name}_by`,
      event: `'checkouts-${name}'`,
      id: 'c.id',
      of: `checkout_stops c WHERE c.mode = $1 AND c.${name}_by <> 'shop'`,
    },
    `${NOTHING}, jsonb_build_object('currency', c.currency, 'note', c.${note})`,
  );
const BEGIN = part(
  {
    name: 'begin',
    at: 'b.begun_at',
    by: 'b.begun_by',
    event: `'reconciliation-begun'`,
    id: "'1'",
    of: 'reconciliation_begins b WHERE b.mode = $1',
  },
  `${NOTHING}, jsonb_build_object('note', b.note)`,
);
const DISCLOSURE = part(
  {
    name: 'disclosure',
    at: 'd.disclosed_at',
    by: 'd.disclosed_to',
    event: `'addresses-disclosed'`,
    id: 'd.id',
    of: 'disclosures d WHERE d.mode = $1',
  },
  `${NOTHING}, jsonb_build_object('note', d.note)`,
);
// That of an order is in its journal.
const REDELIVERY = part(
  {
    name: 'event-redelivery',
    at: 'e.asked_again_at',
    by: 'e.asked_again_by',
    event: `'event-redelivery'`,
    id: 'e.id',
    of: 'events e WHERE e.mode = $1 AND e.order_id IS NULL AND e.asked_again_by IS NOT NULL',
  },
  `NULL::text, e.reference, NULL::bigint, NULL::bigint, jsonb_build_object('event', e.id)`,
);

const ACTIONS = [
  JOURNAL,
  ...ofList('findings', 'finding_notes', 'finding_id'),
  ...ofList('suspense_items', 'suspense_notes', 'item_id'),
  ofStop('stopped', 'reason'),
  ofStop('resumed', 'note'),
  BEGIN,
  DISCLOSURE,
  REDELIVERY,
].join(' UNION ALL ');

// Each part reads no more than a page, the journal by the index `journal_by_people`.
export const ACTIVITY = `
  WITH page AS (SELECT * FROM (${ACTIONS}) actions ORDER BY key DESC LIMIT $6)
  SELECT page.key, page.at, page.by, page.event, page.order_id AS "orderId", page.reference, o.email,
    coalesce(s.class, f.class, page.detail ->> 'class') AS class,
      coalesce(s.amount, f.actual, f.expected) AS amount,
    coalesce(s.currency, f.currency, o.currency) AS currency, page.detail
  FROM page LEFT JOIN orders o ON o.id = page.order_id LEFT JOIN suspense_items s ON s.id = page.item
    LEFT JOIN findings f ON f.id = page.finding
  ORDER BY page.key DESC`;

/** What people did, newest first: a page costs the same however many orders there are. */
export function readActivity(db: Queryable, mode: Mode, wanted: ActivityWanted): Promise<Action[]> {
  const { by, since, until, before, limit } = wanted;
  return db.query<Action>(ACTIVITY, [mode, by, since, until, before, limit]);
}
