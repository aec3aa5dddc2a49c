/**
 * What each of the two sources reports of one payment in one currency, in minor units. Everything
 * here is pure.
 *
 * Verify reports one charge at a time. The history reports rows. Both become provider transactions,
 * which are remembered by their ids and per source.
 */

/**
 * One charge or outflow that a source reports. A charge has `received` above 0; an outflow of its
 * own has 0.
 */
export type Transaction = {
  /**
   * The provider's id. Null: the source names none, or only the id of the charge that the outflow
   * belongs to.
   */
  id: string | null;
  received: bigint;
  outflow: bigint;
  /**
   * The history reaches back no further. The transaction still counts, and no new row is taken for
   * it.
   */
  isRolledOff?: true;
  /**
   * The sum of rows that version 1.0.0 has read and not kept: rows that are read now take its
   * place.
   */
  isSum?: true;
};

/** What one source reported. `received` and `outflow` are the sums over its transactions. */
export type Source = {
  transactions: readonly Transaction[];
  received: bigint;
  outflow: bigint;
  /** Its newest word proves nothing, so nothing of its balance is certain. */
  isUncertain: boolean;
  /** The most that it ever reported as received. */
  mostReceived: bigint;
  /**
   * The largest part of the booked outflow that this source ever reported. The ledger updates it.
   */
  mostOutflow: bigint;
};

export const SILENT: Source = {
  transactions: [],
  received: 0n,
  outflow: 0n,
  isUncertain: false,
  mostReceived: 0n,
  mostOutflow: 0n,
};

export const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
export const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
export const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);

/** An answer of verify, as one currency sees it. */
export type Answer = {
  /**
   * `unproven`: the answer proves nothing about money, such as pending, an unknown word or not
   * found.
   */
  outcome: 'paid' | 'reversed' | 'failed' | 'expired' | 'unproven';
  id: string | null;
  /**
   * It speaks about money of this currency. A reversal that names no currency speaks about every
   * one.
   */
  isHere: boolean;
  /** The amount of the charge. Null: a reversal that names none. */
  received: bigint | null;
  /** The balance of the charge. */
  balance: bigint;
  /** Somebody doubts the answer, and no person has accepted this doubt. */
  isDoubted: boolean;
};

/**
 * Applies an answer of verify to what verify reported before:
 *
 *   reported before    answer            reported now
 *   nothing            c1 paid           c1
 *   c1                 c1 reversed       c1, reversed: an id that was reported before has a new state
 *   c1                 c2 paid           c1 and c2: another id that is paid is one more charge
 *   c1                 c2 reversed       c2, reversed: any other answer replaces all that was reported before
 *   c1                 c1 failed         c1, and nothing of its balance is certain
 *   c1                 c2 failed         c1
 *   c1                 pending           c1, and nothing of its balance is certain
 *
 * @param mayWithdraw the history reports no charge of booked money: if verify calls it failed, too,
 * it is gone
 */
export function applyAnswer(verify: Source, answer: Answer, mayWithdraw: boolean): Source {
  const { id, outcome } = answer;
  if (outcome === 'unproven') return { ...verify, isUncertain: true };
  if (outcome === 'failed' || outcome === 'expired') return applyFailure(verify, id, mayWithdraw);
  // A charge without an id may get its id later, so it does not stay beside one that has an id.
  const known = verify.transactions.filter((one) => one.id !== null);
  const before = known.find((one) => one.id === id);
  const isOneMore = id !== null && outcome === 'paid';
  const others = before !== undefined || isOneMore ? known.filter((one) => one.id !== id) : [];
  const charge = chargeOf(verify, answer);
  // A charge of another currency stays known here, without money.
  const elsewhere = before === undefined ? [] : [{ id, received: 0n, outflow: 0n }];
  if (charge === null) return report(verify, [...others, ...elsewhere], answer.isDoubted);
  return report(verify, [...others, charge], answer.isDoubted);
}

/**
 * A payment that was reported as received is called failed or expired. A partial payment may be
 * called so and be at the provider all the same, so a person must look. If the answer names another
 * charge, a later try has failed, and the known charges stay.
 */
function applyFailure(verify: Source, id: string | null, mayWithdraw: boolean): Source {
  if (isOfOther(verify, id)) return verify;
  return mayWithdraw ? withdraw(verify) : { ...verify, isUncertain: verify.transactions.length > 0 };
}

/** An answer names none of the charges that verify reported before. */
export function isOfOther({ transactions }: Source, id: string | null): boolean {
  return id !== null && transactions.every((one) => one.id !== null && one.id !== id);
}

/** Verify reports nothing any more. */
export function withdraw(verify: Source): Source {
  return report(verify, [], false);
}

/** The charge that an answer reports in this currency. Null: it reports none. */
function chargeOf(verify: Source, { outcome, id, isHere, received, balance }: Answer): Transaction | null {
  if (!isHere || (outcome !== 'paid' && outcome !== 'reversed')) return null;
  // A reversal that names no amount is about all that was received before.
  const before = verify.transactions.find((one) => one.id === id)?.received ?? verify.received;
  const amount = received ?? before;
  return { id, received: amount, outflow: amount - balance };
}

export function report(before: Source, transactions: readonly Transaction[], isUncertain: boolean): Source {
  const received = sum(transactions.map((one) => one.received));
  const outflow = sum(transactions.map((one) => one.outflow));
  return { ...before, transactions, received, outflow, isUncertain, mostReceived: max(before.mostReceived, received) };
}
