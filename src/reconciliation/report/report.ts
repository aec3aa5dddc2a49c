import type { RunId } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';
import { formatMajor } from '../../platform/money.ts';
import type { CashSums } from './balances.sql.ts';
import type { TransferChange, TransferMatch } from './transfers.sql.ts';
import { SET_ASIDE_CLASSES, type ReconciliationClass, type Verdict } from '../../cases/classes.ts';
import type { Taken } from '../begin.sql.ts';
import { ageOf, type Age, type ItemFacts } from '../../cases/findings.ts';
import type { FindingCount } from '../raise.sql.ts';
import {
  identityOf,
  paymentsOf,
  referencesOf,
  remainder,
  type ControlTotals,
  type IdentityLine,
} from './control-totals.ts';

/**
 * What a run tells: `Outcome` is all that it found, in minor units and counts as the database gave them;
 * `composeReport` makes the report of it, in major units, and decides the verdict. It asks nothing and knows
 * no clock, so a stored outcome gives the same report again, to the byte (`replay.ts`). The report's keys are
 * an outward contract: shops parse them.
 */

/** One open disagreement. Amounts are decimal texts in major units; times ISO 8601. */
export type ReportItem = ItemFacts & { age: Age };

/** What `npm run reconcile -- --json` prints. The format is fixed: shops parse it. */
export type ReconciliationReport = {
  runId: RunId;
  mode: Mode;
  startedAt: string;
  finishedAt: string;
  complete: boolean;
  verdict: Verdict;
  /** Only of a run over a window: the times between which the payments that it compared were written. */
  window?: Window;
  history: {
    records: number;
    references: number;
    pages: number;
    unreadable: number;
    /**
     * Only where the list does not reach back to our first payment: the days that it covers, and the
     * confirmed payments before.
     */
    reachesBackDays?: number;
    olderPayments?: number;
  };
  /** Payments of ours that were compared. */
  payments: number;
  matched: number;
  /** Rows that the match lost: a bug of ours, and the verdict is not `agreed`. */
  unclassified: number;
  /** Paid by this run: found in the history, confirmed by verify. */
  repaired: number;
  /** Payments that this run asked the service about one by one. */
  verified: number;
  identity: IdentityLine[];
  /** How many open findings each class has; of `history_truncated`, how many verdicts were withheld. */
  findings: Partial<Record<ReconciliationClass, number>>;
  /** Items in suspense that wait for a decision, with findings or without; only where there are any. */
  held?: number;
  /** Contradictions younger than an hour. They become findings if they last. */
  graced: Partial<Record<ReconciliationClass, number>>;
  /** How many rows are none of our business, by class; only where there are any. */
  setAside?: Partial<Record<ReconciliationClass, number>>;
  /** What a begin took as before, or would take; only of a run that began reconciliation. */
  begun?: BegunReport;
  /** The open findings, oldest first, at most {@link MAX_ITEMS}. */
  items: ReportItem[];
  /**
   * Collected − fees − transferred out = balance. Null: the dialect does not name both lists, or the run
   * did not cover everything.
   */
  balances: BalanceLine[] | null;
  /**
   * How the list of transfers compares with the transfers that earlier runs saw, in major units; only
   * where the dialect names it. A change is reported and not believed: the books keep the amount first seen.
   */
  transfers?: TransferMatch;
  /** Why the run is not complete; null when it is. */
  incompleteReason: string | null;
  /** Digests of what was read. Two runs with the same three have read the same. */
  inputs: Inputs;
};

/** ISO 8601; it includes `since` and excludes `until`; null: open. */
type Window = { since: string | null; until: string | null };

/** As {@link Taken}, with amounts in major units. `isDry`: nothing was taken. */
export type BegunReport = Omit<Taken, 'money'> & {
  isDry: boolean;
  money: { currency: string; amount: string }[];
};

/**
 * The money of one currency at the service: `collected` = `transferred` + `fees` + `available` +
 * `pending` + `difference`.
 */
type BalanceLine = Record<
  'currency' | 'collected' | 'transferred' | 'available' | 'pending' | 'balance' | 'difference',
  string
> & { fees?: string };

/**
 * SHA-256 in hex of our side's counts and sums and of the dialect; of the history a digest that its
 * order does not change.
 */
export type Inputs = { history: string; ours: string; dialect: string };

/** People read a report and a row stores it: the counts are exact, the list of findings is limited. */
export const MAX_ITEMS = 10_000;

/** What a run found, before it is formatted. The report can be rendered again from it alone. */
export type Outcome = {
  runId: RunId;
  mode: Mode;
  /** ISO 8601, as all times in here. */
  startedAt: string;
  finishedAt: string;
  /** The time, by the database's clock, for which ages are computed. */
  asOf: string;
  /** Only of a run over a window. */
  window?: Window;
  history: { records: number; pages: number; unreadable: number; reachesBackDays?: number };
  /** Why the run is not complete. */
  problem: string | null;
  /** Only of a run that began reconciliation. */
  begun?: Taken & { isDry: boolean };
  verified: number;
  books: ControlTotals;
  balances: readonly CashSums[] | null;
  /** Only of a run that read the list of transfers. */
  transfers?: TransferMatch;
  findings: readonly FindingCount[];
  /** Items in suspense; runs of before 0.8.0 did not count them. */
  held?: number;
  inputs: Inputs;
  /** Of the findings, the oldest {@link MAX_ITEMS}. */
  items: readonly ItemFacts[];
};

/** Renders a report: the same outcome gives the same report, to the byte. */
export function composeReport(outcome: Outcome): ReconciliationReport {
  const { runId, mode, startedAt, finishedAt, problem, verified, books, items, inputs } = outcome;
  const { records, pages, unreadable, reachesBackDays } = outcome.history;
  const { lines: identity, closes } = identityOf(books);
  const { matched, unclassified } = remainder(books.sides);
  const rowsOf = (name: ReconciliationClass): number =>
    books.classes.filter((one) => one.class === name).reduce((sum, { rows }) => sum + Number(rows), 0);
  const findings = countsOf(outcome.findings.filter(({ isRaised }) => isRaised));
  const withheld = rowsOf('history_truncated');
  if (withheld > 0) findings.history_truncated = withheld;
  const setAside = SET_ASIDE_CLASSES.map((name) => [name, rowsOf(name)] as const).filter(
    ([, rows]) => rows > 0,
  );
  const { held = 0 } = outcome;
  // List and books may agree about a payment whose money still waits for a person.
  const hasFindings = items.length > 0 || held > 0 || !closes || unclassified > 0;
  return {
    runId,
    mode,
    startedAt,
    finishedAt,
    complete: problem === null,
    verdict: problem !== null ? 'incomplete' : hasFindings ? 'findings' : 'agreed',
    ...(outcome.window !== undefined && { window: windowOf(outcome.window) }),
    history: {
      records,
      references: referencesOf(books.sides),
      pages,
      unreadable,
      ...(reachesBackDays !== undefined && { reachesBackDays, olderPayments: rowsOf('older_than_list') }),
    },
    payments: paymentsOf(books.sides),
    matched: matched + rowsOf('matched') + rowsOf('matched_late'),
    unclassified,
    repaired: rowsOf('repaired'),
    verified,
    identity,
    findings,
    ...(held > 0 && { held }),
    graced: countsOf(outcome.findings.filter(({ isRaised }) => !isRaised)),
    ...(setAside.length > 0 && { setAside: Object.fromEntries(setAside) }),
    ...(outcome.begun !== undefined && { begun: begunOf(outcome.begun) }),
    items: items.map((item) => ({ ...item, age: ageAt(item, outcome.asOf) })),
    balances: outcome.balances?.map(balanceLineOf) ?? null,
    ...(outcome.transfers !== undefined && { transfers: transfersOf(outcome.transfers) }),
    incompleteReason: problem,
    inputs: { history: inputs.history, ours: inputs.ours, dialect: inputs.dialect },
  };
}

// PostgreSQL does not keep the order of an object's keys.
function windowOf({ since, until }: Window): Window {
  return { since, until };
}

function begunOf({ isDry, transactions, formOfOurs, money, payments, shown }: Taken & { isDry: boolean }) {
  return {
    isDry,
    transactions,
    formOfOurs,
    money: money.map(({ currency, sum }) => ({
      currency,
      amount: formatMajor({ amount: BigInt(sum), currency }),
    })),
    payments,
    // PostgreSQL does not keep the order of an object's keys.
    shown: shown.map(({ reference, orderId, status, isReleased }) => ({
      reference,
      orderId,
      status,
      isReleased,
    })),
  };
}

function balanceLineOf({ currency, ...sums }: CashSums): BalanceLine {
  const text = (amount: bigint): string => formatMajor({ amount, currency });
  const [collected, transferred] = [BigInt(sums.collected), BigInt(sums.transferred)];
  const [available, pending] = [BigInt(sums.available), BigInt(sums.pending)];
  return {
    currency,
    collected: text(collected),
    transferred: text(transferred),
    ...(sums.fees !== undefined && { fees: text(BigInt(sums.fees)) }),
    available: text(available),
    pending: text(pending),
    balance: text(available + pending),
    difference: text(BigInt(sums.difference)),
  };
}

// PostgreSQL does not keep the order of an object's keys.
function transfersOf({ listed, unnamed, changed, changes }: TransferMatch): TransferMatch {
  return { listed, unnamed, changed, changes: changes.map(changeOf) };
}

function changeOf({ reference, currency, amount, listed, status }: TransferChange): TransferChange {
  const text = (minor: string): string => formatMajor({ amount: BigInt(minor), currency });
  return { reference, currency, amount: text(amount), listed: listed && text(listed), status };
}

function countsOf(counts: readonly FindingCount[]): ReconciliationReport['findings'] {
  return Object.fromEntries(counts.map(({ class: name, count }) => [name, Number(count)]));
}

function ageAt({ firstSeenAt }: ItemFacts, asOf: string): Age {
  return ageOf((Date.parse(asOf) - Date.parse(firstSeenAt)) / 1_000);
}

/** The exit code of the command: 0 agreed, 1 open findings, 2 not completed. */
export function exitCodeOf({ verdict }: Pick<ReconciliationReport, 'verdict'>): 0 | 1 | 2 {
  return verdict === 'agreed' ? 0 : verdict === 'findings' ? 1 : 2;
}
