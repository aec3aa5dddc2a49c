import { DEFAULT_LOCALE } from '../../platform/locale.ts';
import type { Sheet } from '../../platform/csv.ts';
import type { Queryable } from '../../platform/database/database.ts';
import type { Mode } from '../../platform/mode.ts';
import { formatMajor, minorDigits } from '../../platform/money.ts';
import { customerOf } from './case-parts.tsx';
import { readCases, type CaseRow } from './cases.sql.ts';
import { heldMoney, textOf } from './decisions.ts';
import type { Wanted } from './filter.ts';

const COLUMNS = [
  ...(['kind', 'customer', 'what', 'held', 'currency', 'since', 'owner', 'order_id', 'reference'] as const),
];
type Row = Record<(typeof COLUMNS)[number], string | null>;
const PAGE = 1_000;

/** The list as a table for a spreadsheet: amounts in major units, customers masked. */
export function caseSheet(db: Queryable, mode: Mode, wanted: Wanted): Sheet<keyof Row> {
  async function* rows(): AsyncGenerator<Row> {
    for (let after: string | null = null, page: CaseRow[] | null = null; page?.length !== 0;) {
      page = await readCases(db, mode, wanted, { after, limit: PAGE });
      for (const row of page) yield rowOf(row);
      after = page.at(-1)?.place ?? after;
    }
  }
  return { columns: COLUMNS, rows: rows() };
}

function rowOf(row: CaseRow): Row {
  const { title, sentence } = textOf(row, DEFAULT_LOCALE);
  const held = heldMoney(row);
  const isKnown = held !== null && minorDigits(held.currency) !== null;
  return {
    kind: title,
    customer: customerOf(row),
    what: sentence,
    held: isKnown ? formatMajor(held) : null,
    currency: held?.currency ?? null,
    since: row.since.toISOString(),
    owner: row.owner,
    order_id: row.orderId,
    reference: row.reference,
  };
}
