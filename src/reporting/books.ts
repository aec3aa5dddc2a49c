import type { Dialect } from '../gateway/dialect/dialect.ts';
import { feeOfAnswer } from '../gateway/records/evidence.ts';
import type { Sheet } from '../platform/csv.ts';
import type { Queryable } from '../platform/database/database.ts';
import type { Mode } from '../platform/mode.ts';
import { formatMajor } from '../platform/money.ts';
import { entriesByKind, type Entry, type EntryKind, type Period } from './books.sql.ts';

const COLUMNS = [
  ...([
    'day',
    'kind',
    'order_id',
    'external_id',
    'reference',
    'customer',
    'item',
    'amount',
    'currency',
  ] as const),
  ...(['state', 'refunded', 'refund_number', 'decided_by', 'fee'] as const),
];
export type BookColumn = (typeof COLUMNS)[number];

type BooksWanted = {
  mode: Mode;
  period: Period;
  /** Whole addresses of shoppers, and not the first letter before the domain. */
  withCustomers: boolean;
};

/** The sums of one currency in minor units, each of one kind of rows. */
type Sums = Record<(typeof SUM_OF)[EntryKind], bigint> & { fees: bigint | null };
const SUM_OF = {
  ...({ payment: 'confirmed', refund: 'refunded', held: 'held', decided: 'decided' } as const),
  ...({ payout: 'sent', payout_returned: 'returned' } as const),
};
const NOTHING: Sums = {
  confirmed: 0n,
  refunded: 0n,
  held: 0n,
  decided: 0n,
  sent: 0n,
  returned: 0n,
  fees: null,
};

const TOTAL_COLUMNS = [
  ...(['currency', 'confirmed', 'refunded', 'net', 'held', 'decided'] as const),
  ...(['paid_out', 'fees'] as const),
];
export type Total = Record<(typeof TOTAL_COLUMNS)[number], string>;

/** The rows for an accountant, and what they add up to. */
type Books = {
  /**
   * In the order of time. Amounts are decimal texts in major units and positive: the kind gives the
   * direction.
   */
  sheet: Sheet<BookColumn>;
  /** By currency, of the rows that were read so far. */
  totals(): Total[];
  /** The same of all rows, as a table of its own. Reads the rows. */
  totalsSheet: Sheet;
};

/**
 * Every confirmed payment, refund, money held or decided about, and payout in a period, by the day (UTC) on
 * which it happened, or was first seen, here. Rows are read while they are taken: a period of any length
 * needs the same memory.
 */
export function openBooks(db: Queryable, dialect: Dialect, wanted: BooksWanted): Books {
  const sums = new Map<string, Sums>();
  const { mode, period, withCustomers } = wanted;
  async function* rows(): AsyncGenerator<Record<BookColumn, string | null>> {
    const withAnswers = dialect.history.fee !== undefined;
    for await (const entry of inOrderOfTime(entriesByKind(db, { mode, period, withAnswers }))) {
      const of = sums.get(entry.currency) ?? { ...NOTHING };
      const fee = entry.answer === null ? entry.fee : feeOfAnswer(entry.answer, entry.currency, dialect);
      of[SUM_OF[entry.kind]] += entry.amount;
      if (fee !== null) of.fees = (of.fees ?? 0n) + fee;
      sums.set(entry.currency, of);
      yield rowOf({ ...entry, fee }, withCustomers);
    }
  }
  const sheet = { columns: COLUMNS, rows: rows() };
  const totals = (): Total[] => [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(totalOf);
  async function* totalRows(): AsyncGenerator<Total> {
    while ((await sheet.rows.next()).done !== true);
    yield* totals();
  }
  return { sheet, totals, totalsSheet: { columns: TOTAL_COLUMNS, rows: totalRows() } };
}

function rowOf(entry: Entry, withCustomers: boolean): Record<BookColumn, string | null> {
  const { kind, at, amount, currency, refunded, email, fee } = entry;
  const major = (minor: bigint | null): string | null =>
    minor === null ? null : formatMajor({ amount: minor, currency });
  return {
    day: at.toISOString().slice(0, 10),
    kind,
    order_id: entry.orderId,
    external_id: entry.externalId,
    reference: entry.reference,
    customer: withCustomers ? email : masked(email),
    item: entry.item !== null && entry.lines > 1 ? `${entry.item} + ${entry.lines - 1} more` : entry.item,
    amount: major(amount),
    currency,
    state: entry.state ?? stateOf(entry),
    refunded: major(refunded),
    refund_number: entry.refundNumber,
    decided_by: entry.decidedBy,
    fee: major(fee),
  };
}

function stateOf({ amount, refunded }: Entry): string {
  if (refunded === null || refunded === 0n) return 'paid';
  return refunded >= amount ? 'refunded' : 'partly_refunded';
}

/** `ada@example.com` is `a***@example.com`: enough to find a person whom one knows. */
export function masked(email: string | null): string | null {
  return email?.replace(/^(.).*(?=@)/su, '$1***') ?? null;
}

function totalOf([currency, sums]: [string, Sums]): Total {
  const text = (amount: bigint): string => formatMajor({ amount, currency });
  return {
    currency,
    confirmed: text(sums.confirmed),
    refunded: text(sums.refunded),
    net: text(sums.confirmed - sums.refunded),
    held: text(sums.held),
    decided: text(sums.decided),
    paid_out: text(sums.sent - sums.returned),
    fees: sums.fees === null ? '' : text(sums.fees),
  };
}

/** Merges what is in order already. */
async function* inOrderOfTime(sources: readonly AsyncGenerator<Entry, undefined>[]): AsyncGenerator<Entry> {
  const heads: { entry: Entry; source: AsyncGenerator<Entry, undefined> }[] = [];
  const take = async (source: AsyncGenerator<Entry, undefined>): Promise<void> => {
    const { value: entry } = await source.next();
    if (entry !== undefined) heads.push({ entry, source });
  };
  for (const source of sources) await take(source);
  for (;;) {
    heads.sort((a, b) => a.entry.at.getTime() - b.entry.at.getTime());
    const first = heads.shift();
    if (first === undefined) return;
    yield first.entry;
    await take(first.source);
  }
}
