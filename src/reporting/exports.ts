import { streamFindings, type Finding } from '../cases/findings.ts';
import type { Sheet } from '../platform/csv.ts';
import type { Database } from '../platform/database/database.ts';
import type { RunId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import { formatMajor } from '../platform/money.ts';
import { ORDER_STATUSES } from '../orders/order.ts';
import { masked } from './books.ts';
import { ORDER_VIEWS } from './order-search.sql.ts';
import { comparedRun, releasedBefore, rowsOf, type RowsWanted, type Value } from './exports.sql.ts';

const PAYMENT_STATUSES = [
  ...(['created', 'sending', 'open', 'ambiguous', 'refused', 'paid', 'failed', 'expired', 'held'] as const),
];
const OPEN_OR_CLOSED = ['open', 'closed'] as const;
const listed = (columns: string): string[] => columns.split(', ');

/** The columns of findings and their content. */
const CELLS_OF_FINDING: readonly [name: string, cell: (finding: Finding) => string | null][] = [
  ['id', ({ id }) => String(id)],
  ['class', (finding) => finding.class],
  ['reference', ({ reference }) => reference],
  ['order_id', ({ orderId }) => orderId],
  ['expected', ({ expected }) => expected],
  ['actual', ({ actual }) => actual],
  ['currency', ({ currency }) => currency],
  ['first_seen_at', ({ firstSeenAt }) => firstSeenAt],
  ['last_seen_at', ({ lastSeenAt }) => lastSeenAt],
  ['age', ({ age }) => age],
  ['owner', ({ owner }) => owner],
  ['notes', ({ notes }) => notes.map(({ at, by, note }) => `${at} ${by}: ${note}`).join('\n')],
  ['evidence', ({ evidence }) => evidence && JSON.stringify(evidence)],
  ['reopens', ({ reopens }) => reopens],
  ['closed_at', ({ closedAt }) => closedAt],
  ['closed_by', ({ closedBy }) => closedBy],
  ['resolution', ({ resolution }) => resolution],
];

/**
 * What can be exported by period and status: its columns, and the words that `status` may be. Customers are
 * masked.
 */
export const EXPORTS = {
  orders: {
    columns: listed(
      'id, external_id, status, amount, currency, created_at, paid_at, reference, refunded, ' +
        'cancelled_at, cancelled_by, cancel_reason, received, customer, item, refund_numbers, decided_by, note',
    ),
    statuses: [...ORDER_STATUSES, ...ORDER_VIEWS],
  },
  payments: {
    columns: listed(
      'reference, order_id, status, amount, currency, reason, created_at, released_at, ' +
        'last_answer_at, checks, hints',
    ),
    statuses: PAYMENT_STATUSES,
  },
  suspense: {
    columns: listed(
      'id, class, amount, currency, reference, order_id, opened_at, owner, closed_at, ' +
        'closed_by, decision, refund_number, note',
    ),
    statuses: OPEN_OR_CLOSED,
  },
  findings: { columns: CELLS_OF_FINDING.map(([name]) => name), statuses: OPEN_OR_CLOSED },
  runs: {
    columns: listed(
      'id, started_at, finished_at, since, until, verdict, complete, problem, records, ' +
        'payments, matched, findings, identity',
    ),
    statuses: ['agreed', 'findings', 'incomplete'],
  },
} satisfies Record<string, { columns: readonly string[]; statuses: readonly string[] }>;

type ExportName = keyof typeof EXPORTS;

export function isExport(name: string): name is ExportName {
  return Object.hasOwn(EXPORTS, name);
}

/**
 * Every row that is wanted: times in ISO 8601, amounts in major units. Rows are read while they are taken.
 */
export function openExport(database: Database, name: ExportName, wanted: RowsWanted): Sheet {
  const rows = name === 'findings' ? findingRows(database, wanted) : textRows(rowsOf(database, name, wanted));
  return { columns: EXPORTS[name].columns, rows };
}

/** A run's matched rows, and how many it counted. */
type MatchedSheet = { run: RunId; counted: number; sheet: Sheet };

const MATCHED_COLUMNS = listed('run, reference, order_id, amount, currency, created_at, released_at');

/**
 * The rows of a run are not kept, so these are made again: what was released when it began or by itself, and
 * about which it raised nothing. Confirmed too recently to be listed, or older than the list, is among them.
 * @param id null: the last complete run over everything. @returns null: there is no complete run
 */
export async function openMatched(
  database: Database,
  mode: Mode,
  id: RunId | null,
): Promise<MatchedSheet | null> {
  const run = await comparedRun(database, mode, id);
  if (run === null) return null;
  const raised = new Set(run.raised);
  async function* agreed(): AsyncGenerator<Record<string, Value>> {
    for await (const row of releasedBefore(database, mode, run?.id ?? ('' as RunId)))
      if (!raised.has(row.reference)) yield row;
  }
  return { run: run.id, counted: run.matched, sheet: { columns: MATCHED_COLUMNS, rows: textRows(agreed()) } };
}

async function* textRows(
  rows: AsyncIterable<Record<string, Value>>,
): AsyncGenerator<Record<string, string | null>> {
  for await (const { customer, ...rest } of rows) {
    const row = typeof customer === 'string' ? { ...rest, customer: masked(customer) } : rest;
    const cells = Object.entries(row).map(([name, value]) => [name, textOf(value, row.currency)] as const);
    yield Object.fromEntries(cells);
  }
}

function textOf(value: Value, currency: Value | undefined): string | null {
  if (typeof value === 'bigint' && typeof currency === 'string')
    return formatMajor({ amount: value, currency });
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'object') return value === null ? null : JSON.stringify(value);
  return String(value);
}

async function* findingRows(
  database: Database,
  { mode, period: { since, until }, status }: RowsWanted,
): AsyncGenerator<Record<string, string | null>> {
  for await (const finding of streamFindings(database, mode, status === 'open')) {
    const at = new Date(finding.firstSeenAt);
    const isWanted = (since === null || at >= since) && (until === null || at < until);
    if (isWanted && (status !== 'closed' || finding.closedAt !== null)) yield findingRow(finding);
  }
}

function findingRow(finding: Finding): Record<string, string | null> {
  return Object.fromEntries(CELLS_OF_FINDING.map(([name, cell]) => [name, cell(finding)]));
}
