import type { Queryable, Database } from '../platform/database/database.ts';
import type { OrderId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

export type EntryKind = 'payment' | 'refund' | 'held' | 'decided' | 'payout' | 'payout_returned';

/** One thing that happened to money. */
export type Entry = {
  kind: EntryKind;
  at: Date;
  /** Null: the money came under a reference that is not ours, or it is a payout. */
  orderId: OrderId | null;
  externalId: string | null;
  reference: string;
  /** Null without an order, `erased` once it was erased. */
  email: string | null;
  /** The order's first line, and how many it has. */
  item: string | null;
  lines: number;
  /** Minor units. */
  amount: bigint;
  currency: string;
  /**
   * Null for a payment: `refunded` says it. Of money that is held its class, of decided money the decision.
   */
  state: string | null;
  /** What went back of a payment's order before the period's end, in minor units; null in other rows. */
  refunded: bigint | null;
  refundNumber: string | null;
  decidedBy: string | null;
  /** The answer of verify that a payment was confirmed by, where it is asked for and kept. */
  answer: Buffer | null;
  /** What a payout cost on top, in minor units, where it is named. */
  fee: bigint | null;
};

type EntriesWanted = { mode: Mode; period: Period; withAnswers: boolean };

type Source = { kind: EntryKind; table: string; time: string; id: 'text' | 'bigint'; facts: string };

// As the view `confirmed_money` has them, without its join: a page is read by the index, and not sorted out
// of all.
const RELEASED = `(SELECT id, mode, order_id, reference, currency, released_at, verification_id,
  CASE WHEN acceptance_id IS NULL THEN amount
    ELSE least(amount, (SELECT a.amount FROM acceptances a WHERE a.id = acceptance_id)) END AS amount
  FROM releases) released`;
const RESTS = '(SELECT * FROM confirmed_money WHERE NOT is_release) rests';

const stateOnly = (state: string): string => `
  SELECT e.reference, ${state} AS state, NULL::text AS number, NULL::text AS by, NULL::bigint AS evidence,
    NULL::bigint AS refunded`;

/** What each kind is read from. `facts`: what stands in the columns that the kinds do not share. */
const SOURCES: readonly Source[] = [
  {
    kind: 'payment',
    table: RELEASED,
    time: 'released_at',
    id: 'text',
    facts: `SELECT e.reference, NULL::text AS state, NULL::text AS number, NULL::text AS by,
      e.verification_id AS evidence, (SELECT coalesce(sum(amount), 0)::bigint FROM refunds
        WHERE order_id = e.order_id AND refunded_at < $3::timestamptz) AS refunded`,
  },
  {
    kind: 'refund',
    table: 'refunds',
    time: 'refunded_at',
    id: 'text',
    facts: `SELECT reference, 'refunded' AS state, coalesce(e.external_id, e.id) AS number,
      e.refunded_by AS by, NULL::bigint AS evidence, NULL::bigint AS refunded
      FROM releases WHERE order_id = e.order_id`,
  },
  {
    kind: 'held',
    table: 'held_money',
    time: 'at',
    id: 'bigint',
    facts: stateOnly('e.class'),
  },
  {
    kind: 'decided',
    table: 'ended_money',
    time: 'at',
    id: 'bigint',
    facts: `SELECT e.reference, e.decision AS state, e.number, e.closed_by AS by,
      NULL::bigint AS evidence, NULL::bigint AS refunded`,
  },
  {
    kind: 'payment',
    table: RESTS,
    time: 'at',
    id: 'text',
    facts: stateOnly("'rest'"),
  },
  {
    kind: 'payout',
    table: 'payouts',
    time: 'at',
    id: 'bigint',
    facts: stateOnly('e.status'),
  },
  {
    kind: 'payout_returned',
    table: 'returned_payouts',
    time: 'at',
    id: 'bigint',
    facts: stateOnly('e.status'),
  },
];

const PAGE = 1_000;

/** One page of $1 from $2 to before $3, behind the row ($4, $5); $6: whether answers are read. */
const pageOf = ({ kind, table, time, id, facts }: Source): string => `
  SELECT '${kind}' AS kind, e.${time} AS at, e.${time}::text AS "exactAt", e.id::text AS id,
    e.order_id AS "orderId", o.external_id AS "externalId", o.email, e.amount, e.currency,
    (SELECT description FROM order_lines WHERE order_id = o.id ORDER BY position LIMIT 1) AS item,
    (SELECT count(*)::int FROM order_lines WHERE order_id = o.id) AS lines,
    facts.reference, facts.state, facts.number AS "refundNumber", facts.by AS "decidedBy",
    facts.refunded, ${kind === 'payout' ? 'e.fee' : 'NULL::bigint'} AS fee,
    (SELECT body FROM verifications WHERE id = facts.evidence AND $6) AS answer
  FROM (SELECT * FROM ${table} WHERE mode = $1 AND ${time} >= $2::timestamptz AND ${time} < $3::timestamptz
      AND (${time}, id) > ($4::timestamptz, $5::${id}) ORDER BY ${time}, id LIMIT ${PAGE}) e
    LEFT JOIN orders o ON o.id = e.order_id
    LEFT JOIN LATERAL (${facts}) facts ON true
  ORDER BY e.${time}, e.id`;

/** Each kind in the order of time, read in pages: whatever the period, memory holds one page of each. */
export function entriesByKind(db: Queryable, wanted: EntriesWanted): AsyncGenerator<Entry, undefined>[] {
  return SOURCES.map((source) => entriesOf(db, source, wanted));
}

async function* entriesOf(
  db: Queryable,
  source: Source,
  { mode, period, withAnswers }: EntriesWanted,
): AsyncGenerator<Entry, undefined> {
  const text = pageOf(source);
  let behind: [exactAt: string, id: string] | undefined = ['-infinity', '0'];
  while (behind !== undefined) {
    const page: (Entry & { exactAt: string; id: string })[] = await db.query(text, [
      mode,
      ...boundsOf(period),
      ...behind,
      withAnswers,
    ]);
    yield* page;
    const last = page.length === PAGE ? page.at(-1) : undefined;
    behind = last && [last.exactAt, last.id];
  }
}

/** Who takes whole addresses of shoppers out of this program, of which period, and why. */
type Disclosure = { mode: Mode; to: string; note: string; period: Period };

/** Notes it before anything is handed out: what was only begun has been seen. */
export async function noteDisclosure(
  database: Database,
  { mode, to, note, period }: Disclosure,
): Promise<void> {
  const prisma = await database.prisma();
  await prisma.disclosure.create({ data: { mode, disclosedTo: to, note, ...period } });
}

/** From `since` to before `until`; null: without that end. Days and months begin at midnight UTC. */
export type Period = { since: Date | null; until: Date | null };

export const EVERYTHING: Period = { since: null, until: null };

/** The period of a month like `2026-11`; null for what is no month. */
export function monthOf(text: string): Period | null {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (year === undefined || month === undefined) return null;
  const first = (after: number): Date => new Date(Date.UTC(Number(year), Number(month) - 1 + after, 1));
  return { since: first(0), until: first(1) };
}

/** The month before the one of a moment, like `2026-10`. */
export function monthBefore(now: Date): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)).toISOString().slice(0, 7);
}

/** Both ends as PostgreSQL reads them: it writes years before 1 and after 9999 in another way than we do. */
export function boundsOf({ since, until }: Period): [since: string, until: string] {
  return [since === null ? '-infinity' : textOf(since), until === null ? 'infinity' : textOf(until)];
}

function textOf(at: Date): string {
  const year = at.getUTCFullYear();
  if (year < 1) return '-infinity';
  return year > 9_999 ? 'infinity' : at.toISOString();
}
