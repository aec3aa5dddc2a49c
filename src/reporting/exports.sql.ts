import type { Queryable } from '../platform/database/database.ts';
import type { Reference, RunId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import { boundsOf, type Period } from './books.sql.ts';
import { type OrderMatch, hasPartSql, inViewSql } from './order-search.sql.ts';

// What the export of orders reads: one row an order, with what people did about its money.

const ORDER_COLUMNS = `x.id, external_id, x.status, x.amount, x.currency, created_at, paid_at, e.reference,
      (SELECT coalesce(sum(amount), 0)::bigint FROM refunds WHERE order_id = x.id) AS refunded,
      cancelled_at, cancelled_by, cancel_reason,
      CASE WHEN e.id IS NOT NULL THEN money_that_came(e) END AS received, email AS customer,
      (SELECT min(description) || CASE WHEN count(*) > 1 THEN ' + ' || count(*) - 1 || ' more' ELSE '' END
        FROM (SELECT first_value(description) OVER (ORDER BY position) AS description
          FROM order_lines WHERE order_id = x.id) lines) AS item,
      deeds.*`;

/** What people did with the money of an order: numbers of refunds, who decided, and why. */
const DEEDS = `
  SELECT string_agg(number, ', ' ORDER BY at) AS refund_numbers, string_agg(DISTINCT by, ', ') AS decided_by,
    string_agg(note, '; ' ORDER BY at) AS note
  FROM (
    SELECT coalesce(external_id, id) AS number, refunded_by AS by, reason AS note, refunded_at AS at
    FROM refunds WHERE order_id = x.id
    UNION ALL SELECT coalesce(refund_note, surplus_refund), closed_by, note, closed_at
    FROM suspense_items WHERE order_id = x.id AND closed_at IS NOT NULL AND decision <> 'earned'
    UNION ALL SELECT NULL, accepted_by, note, accepted_at FROM acceptances WHERE order_id = x.id
  ) deeds`;

const ORDER_JOINS = `LEFT JOIN releases e ON e.id = x.release_id LEFT JOIN LATERAL (${DEEDS}) deeds ON true`;

/** $1 is the mode, $4 the view, $5 the currency; $6 to $8 what was searched for. */
const ORDER_FILTERS = `($4::text IS NULL OR ${inViewSql('orders', '$4::text', '$1')})
      AND ($5::text IS NULL OR currency = $5) AND ($6::text IS NULL OR lower(email) = lower($6))
      AND ($7::text[] IS NULL OR id = ANY($7)) AND ($8::text IS NULL OR ${hasPartSql('orders', '$8::text')})`;

/** What a column of a row holds; a bigint is minor units of the row's currency. */
export type Value = string | number | bigint | boolean | Date | object | null;

/** Which rows are wanted; what is null or left out does not apply. */
export type RowsWanted = {
  mode: Mode;
  period: Period;
  status: string | null;
  currency?: string | null;
  /** Of orders: what was searched for. */
  match?: OrderMatch | null;
};

/** A table that is read in pages by its key. $1 is the mode, $2 and $3 the period, $4 the status. */
type Source = {
  columns: string;
  from: string;
  join?: string;
  /** The column of the period. */
  time: string;
  /** What no index finds is checked row by row, so that a page costs the same however few rows it keeps. */
  filter: string;
  key: readonly { name: string; type: string }[];
  /** Further values, from $5 on. */
  values?: (wanted: RowsWanted) => unknown[];
};

const PAGE = 1_000;
const BY_TIME = (name: string) => [
  { name, type: 'timestamptz' },
  { name: 'id', type: 'text' },
];

const SOURCES = {
  orders: {
    columns: ORDER_COLUMNS,
    from: 'orders',
    join: ORDER_JOINS,
    time: 'created_at',
    filter: ORDER_FILTERS,
    key: BY_TIME('created_at'),
    values: ({ currency = null, match }) => {
      const { ids, email, part } = { ids: null, email: null, part: null, ...match };
      return [currency, email, ids, part];
    },
  },
  payments: {
    columns: `x.reference, x.order_id, x.status, x.amount, x.currency, reason, created_at, e.released_at,
      last_answer_at, checks, hints`,
    from: 'payments',
    join: 'LEFT JOIN releases e ON (e.mode, e.reference) = (x.mode, x.reference)',
    time: 'created_at',
    filter: '($4::text IS NULL OR status = $4)',
    key: [{ name: 'reference', type: 'text' }],
  },
  suspense: {
    columns: `id::text AS id, class, amount, currency, reference, order_id, opened_at, owner, closed_at,
      closed_by, decision, refund_note AS refund_number, note`,
    from: 'suspense_items',
    time: 'opened_at',
    filter: `($4::text IS NULL OR (closed_at IS NULL) = ($4 = 'open'))`,
    key: [{ name: 'id', type: 'bigint' }],
  },
  runs: {
    columns: `id, started_at, finished_at, since, until, verdict, complete, problem,
      report #> '{history,records}' AS records, report -> 'payments' AS payments,
      report -> 'matched' AS matched, report -> 'findings' AS findings, report -> 'identity' AS identity`,
    from: 'reconciliation_runs',
    time: 'started_at',
    filter: '($4::text IS NULL OR verdict = $4)',
    key: BY_TIME('started_at'),
  },
} satisfies Record<string, Source>;

/** Rows of one page after the other: memory holds one. */
export async function* rowsOf(
  db: Queryable,
  name: keyof typeof SOURCES,
  wanted: RowsWanted,
): AsyncGenerator<Record<string, Value>> {
  const { columns, from, join = '', time, filter, key, values }: Source = SOURCES[name];
  const period = [wanted.mode, ...boundsOf(wanted.period)];
  const filters = [wanted.status, ...(values?.(wanted) ?? [])];
  const names = key.map((part) => part.name).join(', ');
  const place = (at: number): string =>
    `(${key.map(({ type }, index) => `$${at + index + 1}::${type}`).join(', ')})`;
  const inPeriod = `mode = $1 AND ${time} >= $2::timestamptz AND ${time} < $3::timestamptz`;
  for (let behind: string[] = []; ;) {
    const after = (at: number): string => (behind.length === 0 ? '' : `AND (${names}) > ${place(at)}`);
    // The end first: a row that comes between the two statements is on one page, and not on two or none.
    const [end] = await db.query<{ at: string[] }>(
      `SELECT ARRAY[${key.map((part) => `${part.name}::text`).join(', ')}] AS at FROM ${from}
       WHERE ${inPeriod} ${after(period.length)} ORDER BY ${names} OFFSET ${PAGE - 1} LIMIT 1`,
      [...period, ...behind],
    );
    const given = [...period, ...filters, ...behind];
    const until = end === undefined ? '' : `AND (${names}) <= ${place(given.length)}`;
    yield* await db.query<Record<string, Value>>(
      `SELECT ${columns} FROM (
         SELECT * FROM ${from} WHERE ${inPeriod} ${after(given.length - behind.length)} ${until}
           AND ${filter}) x ${join}
       ORDER BY ${key.map((part) => `x.${part.name}`).join(', ')}`,
      [...given, ...(end?.at ?? [])],
    );
    if (end === undefined) return;
    behind = end.at;
  }
}

/** A run whose matched rows can be listed, and the references that it raised something about. */
type ComparedRun = { id: RunId; matched: number; raised: Reference[] };

/** @param id null: the last complete one over everything. @returns null: there is none that completed */
export async function comparedRun(db: Queryable, mode: Mode, id: RunId | null): Promise<ComparedRun | null> {
  const [run] = await db.query<ComparedRun>(
    `SELECT r.id, coalesce((report ->> 'matched')::int, 0) + coalesce((report ->> 'repaired')::int,
      0) AS matched,
       ARRAY(SELECT jsonb_array_elements(items) ->> 'reference') AS raised
     FROM reconciliation_runs r JOIN reconciliation_items i ON i.sha256 = r.items_sha256
     WHERE r.mode = $1 AND complete AND CASE WHEN $2::text IS NULL THEN since IS NULL AND until IS NULL
       ELSE r.id = $2 END
     ORDER BY started_at DESC LIMIT 1`,
    [mode, id],
  );
  return run ?? null;
}

/** What was released when a run began, or by the run itself, of the payments that it compared. */
export async function* releasedBefore(
  db: Queryable,
  mode: Mode,
  run: RunId,
): AsyncGenerator<Record<string, Value> & { reference: Reference }> {
  for (let behind: [exactAt: string, id: string] | null = ['-infinity', '']; behind !== null;) {
    const page: (Record<string, Value> & { reference: Reference; exactAt: string; releaseId: string })[] =
      await db.query(
        `SELECT e.id AS "releaseId", e.released_at::text AS "exactAt", run.id AS run, e.reference, e.order_id,
           money_that_came(e) AS amount, e.currency, p.created_at, e.released_at
         FROM reconciliation_runs run
         JOIN releases e ON e.mode = run.mode AND e.released_at <= run.finished_at
         JOIN verifications v ON v.id = e.verification_id
         JOIN payments p ON p.reference = e.reference AND p.created_at < run.started_at
           AND (run.since IS NULL OR p.created_at >= run.since)
             AND (run.until IS NULL OR p.created_at < run.until)
         WHERE run.mode = $1 AND run.id = $2 AND (e.released_at, e.id) > ($3::timestamptz, $4)
           AND (e.released_at < run.started_at OR v.cause = 'reconciliation')
         ORDER BY e.released_at, e.id LIMIT ${PAGE}`,
        [mode, run, ...behind],
      );
    yield* page;
    const last = page.length === PAGE ? page.at(-1) : undefined;
    behind = last === undefined ? null : [last.exactAt, last.releaseId];
  }
}
