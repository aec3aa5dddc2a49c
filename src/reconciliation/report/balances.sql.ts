import type { Queryable } from '../../platform/database/database.ts';
import { CashUnreadable, readCash, type Cash, type Transfer } from '../../gateway/balances.ts';
import { GatewayKeyRefused, GatewayUnavailable } from '../../gateway/errors.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { SideTotal } from '../compare/matching.sql.ts';
import type { FeeTotal } from '../import/staging.sql.ts';

/** A sum too large for the column is stored in the evidence only. */
const withinBigint = (sum: string): string => `CASE WHEN abs(${sum}) < 9223372036854775807 THEN ${sum} END`;

/**
 * Adds each currency whose balance does not add up to the rows that differ, so that it is raised with
 * them. Call it after all sums of rows were taken: a currency is not a row.
 */
export async function noteDifferences(db: Queryable, lines: readonly CashSums[]): Promise<void> {
  const apart = lines.filter(({ difference }) => difference !== '0');
  await db.query(
    `INSERT INTO classified (reference, class, is_ours, expected, expected_currency, actual, actual_currency,
       is_released, is_to_verify, evidence)
     SELECT 'balance of ' || currency, 'cash_difference', false,
       ${withinBigint("collected::numeric - transferred::numeric - coalesce(fees, '0')::numeric")}, currency,
       ${withinBigint('available::numeric + pending::numeric')}, currency, false, false,
       jsonb_strip_nulls(jsonb_build_object('collected', collected, 'transferred', transferred, 'fees', fees,
         'available', available, 'pending', pending, 'difference', difference, 'unit', 'minor'))
     FROM jsonb_to_recordset($1) AS line
       (currency text, collected text, transferred text, fees text,
         available text, pending text, difference text)`,
    [JSON.stringify(apart)],
  );
}

/** Minor units of one currency, as texts: sums outgrow JSON's numbers. */
export type CashSums = {
  currency: string;
  /** What the history says was paid and did not go back. */
  collected: string;
  transferred: string;
  /** Fees that the service deducted; only where the dialect names them and there are any. */
  fees?: string;
  available: string;
  pending: string;
  /** Collected − transferred − fees − available − pending. */
  difference: string;
};

/** Null lines: the dialect does not name both lists, or the run was about a window. */
export type BalanceCheck = Omit<BalanceSnapshot, 'cash'> & { lines: CashSums[] | null };

/**
 * What the service holds and has transferred, and why it could not be asked: before the history is read,
 * and after it. Null: unknown.
 */
export type BalanceSnapshot = {
  cash: Cash | null;
  transfers: readonly Transfer[] | null;
  problem: string | null;
};

/** @param isWanted whether the run is about everything: a window collects only a part */
export async function fetchBalances(
  { client, dialect }: Gateway,
  isWanted: boolean,
): Promise<BalanceSnapshot> {
  const { balances, transfers } = dialect;
  if (!isWanted || transfers === null) return { cash: null, transfers: null, problem: null };
  try {
    return { ...(await readCash(client, dialect, { balances, transfers })), problem: null };
  } catch (error) {
    const isKnown = [CashUnreadable, GatewayUnavailable, GatewayKeyRefused].some(
      (one) => error instanceof one,
    );
    if (!isKnown) throw error;
    // It may quote the service: remove characters that a database or a terminal cannot take.
    const reason = (error as Error).message.replace(/[\p{Cc}\p{Cs}]/gu, '?');
    const what = balances === null ? 'transfers' : 'balances';
    return { cash: null, transfers: null, problem: `the ${what} could not be checked: ${reason}` };
  }
}

/**
 * Proves that what was collected, minus transfers and fees, equals the balance. The service was asked
 * before and after its history was read. When nothing moved in between, all three must agree to the
 * minor unit. When money moved, what was collected must lie between the two answers; the difference is
 * how far it lies outside.
 * @param fees the deductions from collected money that the records of the history name: neither
 * balance contains them
 */
export function reconcileBalances(
  before: BalanceSnapshot,
  after: BalanceSnapshot,
  { sides, fees }: { sides: readonly SideTotal[]; fees: readonly FeeTotal[] },
): BalanceCheck {
  const problem = before.problem ?? after.problem;
  const { transfers } = after;
  if (before.cash === null || after.cash === null) return { lines: null, transfers, problem };
  const collected = new Map<string, bigint>();
  for (const { side, currency, sum } of sides)
    if (side === 'history' && currency !== null && sum !== '0')
      collected.set(currency, (collected.get(currency) ?? 0n) + BigInt(sum));
  const taken = new Map(fees.map(({ currency, sum }) => [currency, BigInt(sum)]));
  const named = [collected, taken, before.cash, after.cash].flatMap((sums) => [...sums.keys()]);
  const currencies = [...new Set(named)].sort();
  const lines = currencies.map((currency) => {
    const held = after.cash?.get(currency) ?? NOTHING;
    const sum = collected.get(currency) ?? 0n;
    const kept = taken.get(currency) ?? 0n;
    const looks = [before.cash?.get(currency) ?? NOTHING, held].map(allOf);
    return {
      currency,
      collected: String(sum),
      transferred: String(held.transferred),
      ...(held.fees + kept !== 0n && { fees: String(held.fees + kept) }),
      available: String(held.available),
      pending: String(held.pending),
      difference: String(beyondRange(sum - kept, looks)),
    };
  });
  return { lines, transfers, problem };
}

const NOTHING = { available: 0n, pending: 0n, transferred: 0n, fees: 0n };
const allOf = ({ available, pending, transferred, fees }: typeof NOTHING): bigint =>
  available + pending + transferred + fees;

/** How far a value lies outside of the range of others; zero inside. */
function beyondRange(value: bigint, others: readonly bigint[]): bigint {
  const least = others.reduce((one, other) => (other < one ? other : one));
  const most = others.reduce((one, other) => (other > one ? other : one));
  if (value < least) return value - least;
  return value > most ? value - most : 0n;
}
