import { max, min, report, sum, type Source, type Transaction } from './sources.ts';

/**
 * A row of the history about this payment and currency. An outflow of its own has `received` 0;
 * both 0: no money.
 */
export type HistoryRow = {
  id: string | null;
  received: bigint;
  outflow: bigint;
  /** The service calls the charge reversed, and nothing of it is left. */
  isReversed: boolean;
  /** The service calls the charge failed. */
  isFailed?: boolean;
  isDoubted: boolean;
};

/**
 * Applies a whole reading of the history. Within reach, the history reports everything, so a charge
 * that it no longer reports is gone. Beyond reach, transactions stay as they were last reported, by
 * id. Those without an id of their own are set aside when they vanish, so that the next equal one
 * counts as new. With a charge c1 of 8500 and a refund of 2500 without an id:
 *
 *   reading                     received   outflow
 *   in reach: c1, -2500             8500      2500
 *   beyond reach: -2500             8500      2500   c1 stays, by its id
 *   beyond reach: nothing           8500      2500   the refund is set aside
 *   beyond reach: -2500             8500      5000   so this one is new
 *
 * @param verify names the charges that verify reported
 */
export function applyHistory(history: Source, verify: Source, rows: readonly HistoryRow[], isInReach: boolean): Source {
  const charges = new Map<string, bigint>();
  for (const { id, received } of [...history.transactions, ...verify.transactions, ...rows.filter(isPaid)])
    if (id !== null && received > 0n) charges.set(id, max(received, charges.get(id) ?? 0n));
  const figured = rows.map((row) => withFigure(row, charges));
  const isChargeKnown = charges.size > 0 || [...history.transactions, ...verify.transactions].some(isCharge);
  const reversals = reversalsIn(figured, charges, history.transactions, isInReach, isChargeKnown);
  const read = readRows(figured, charges, reversals, isInReach ? history.transactions : []);
  const failedIds = rows.filter((row) => row.isFailed === true).map(({ id }) => id);
  const transactions = isInReach ? read : keepRolledOff(cameAndWent(history.transactions, failedIds), read);
  const isUncertain = rows.some((row) => row.isDoubted && isCharge(row));
  return report(history, transactions, isUncertain);
}

/** A reversed row without an amount is about all of its charge. */
function withFigure(row: HistoryRow, charges: ReadonlyMap<string, bigint>): HistoryRow {
  const charged = row.id === null ? undefined : charges.get(row.id);
  const hasFigure = row.received > 0n || row.outflow > 0n;
  if (!row.isReversed || hasFigure || charged === undefined) return row;
  return { ...row, received: charged, outflow: charged };
}

const isCharge = ({ received }: { received: bigint }): boolean => received > 0n;
const isPaid = (row: HistoryRow): boolean => isCharge(row) && !row.isReversed;

/**
 * The wholly reversed rows that are outflows of their own. Some services write a chargeback so,
 * beside its charge. All others are states of charges, which came and went. The numbers are those
 * of the worked examples in docs/order-life.md.
 *
 *   the row                                          counts as
 *   its id was reported as a charge of no more       state of that charge (6)
 *   its id was reported as a larger charge           outflow (49)
 *   another row is paid, or is a known charge        outflow (29, 44)
 *   the same, without ids, fewer paid than before    state (60)
 *   beyond reach, a charge is known                  outflow (43)
 *   it stands alone                                  state (37), but an id that was an outflow stays one (39)
 *
 * @param charges all charges that a source reported before, or that are paid in this reading: what
 * came in, by id
 */
function reversalsIn(
  rows: readonly HistoryRow[],
  charges: ReadonlyMap<string, bigint>,
  before: readonly Transaction[],
  isInReach: boolean,
  isChargeKnown: boolean,
): HistoryRow[] {
  const isKnown = ({ id, received }: HistoryRow): boolean => {
    const charged = id === null ? undefined : charges.get(id);
    return charged !== undefined && received >= charged;
  };
  const unknown = rows.filter((row) => isCharge(row) && row.isReversed && !isKnown(row));
  const isBesideCharge = rows.some((row) => isPaid(row) || isKnown(row));
  if (isBesideCharge) return isInReach ? withoutStates(unknown, rows, before) : unknown;
  const cameAndWent = before.filter((one) => one.id === null && isCharge(one) && one.outflow === one.received);
  if (!isInReach && isChargeKnown) return unknown.filter((row) => !takeEqual(row, cameAndWent));
  const wasOutflow = ({ id }: HistoryRow): boolean => before.some((one) => one.id === id && !isCharge(one));
  // Without ids, each charge of the last reading has one row now, and a lone row is a charge.
  const chargesWithoutId = Math.max(1, before.filter((one) => one.id === null && isCharge(one)).length);
  const withoutId = unknown.filter(({ id }) => id === null);
  return [...unknown.filter((row) => row.id !== null && wasOutflow(row)), ...withoutId.slice(chargesWithoutId)];
}

/**
 * Without ids, a charge of the last reading that is no longer paid is reversed now. So as many
 * reversed rows are states of charges as there are fewer paid rows than charges before.
 */
function withoutStates(
  unknown: readonly HistoryRow[],
  rows: readonly HistoryRow[],
  before: readonly Transaction[],
): HistoryRow[] {
  const chargesBefore = before.filter((one) => one.id === null && isCharge(one)).length;
  const paidNow = rows.filter((row) => row.id === null && isPaid(row)).length;
  const states = unknown.filter(({ id }) => id === null).slice(0, Math.max(0, chargesBefore - paidNow));
  return unknown.filter((row) => !states.includes(row));
}

/**
 * A row without an id is the same charge as in the last reading, which came and went. Each is found
 * once.
 */
function takeEqual(row: HistoryRow, cameAndWent: Transaction[]): boolean {
  const place = row.id === null ? cameAndWent.findIndex(({ received }) => received === row.received) : -1;
  return place >= 0 && cameAndWent.splice(place, 1).length > 0;
}

/**
 * Rows of one id are states of one charge, and the least balance counts. Every outflow counts, also
 * equal ones, unless equal ones have one id of their own: then the history shows one row twice,
 * because its pages moved.
 */
function readRows(
  rows: readonly HistoryRow[],
  charges: ReadonlyMap<string, bigint>,
  reversals: readonly HistoryRow[],
  before: readonly Transaction[],
): Transaction[] {
  const states = rows.filter((row) => isCharge(row) && !reversals.includes(row));
  const stateIds = new Set(states.flatMap(({ id }) => id ?? []));
  const outflows = rows.filter((row) => !isCharge(row) && row.outflow > 0n);
  // Some outflows carry the id of their charge. If that charge vanished, they still have no id of
  // their own.
  const hadNoId = (amount: bigint): boolean =>
    before.some((one) => one.id === null && !isCharge(one) && one.outflow === amount);
  const isNew = (id: string, amount: bigint): boolean => before.every((one) => one.id !== id || one.outflow !== amount);
  const ownIdOf = ({ id }: HistoryRow, amount: bigint): string | null => {
    const isOfCharge = id === null || charges.has(id) || stateIds.has(id);
    return isOfCharge || (isNew(id, amount) && hadNoId(amount)) ? null : id;
  };
  const gone = [
    ...reversals.map((row) => ({ id: ownIdOf(row, row.received), received: 0n, outflow: row.received })),
    ...outflows.map((row) => ({ id: ownIdOf(row, row.outflow), received: 0n, outflow: row.outflow })),
  ];
  return [
    ...states.filter(({ id }) => id === null).map(({ received, outflow }) => ({ id: null, received, outflow })),
    ...[...stateIds].map((id) => oneCharge(id, states)),
    ...gone.filter((one, place) => one.id === null || place === gone.findIndex(isEqualTo(one))),
  ];
}

const isEqualTo = (one: Transaction) => (other: Transaction) => other.id === one.id && other.outflow === one.outflow;

/** Some histories write a row for each state of a charge, or show a row twice while pages move. */
function oneCharge(id: string, rows: readonly HistoryRow[]): Transaction {
  const states = rows.filter((row) => row.id === id);
  const received = states.map((state) => state.received).reduce(max);
  const balance = states.map((state) => state.received - state.outflow).reduce(min);
  return { id, received, outflow: received - balance };
}

/**
 * Beyond reach, a charge that the history now calls failed came and went. Within reach, it is
 * reported no longer.
 */
function cameAndWent(before: readonly Transaction[], failedIds: readonly (string | null)[]): Transaction[] {
  const hasFailed = (one: Transaction): boolean => isCharge(one) && one.id !== null && failedIds.includes(one.id);
  return before.map((one) => (hasFailed(one) ? { ...one, outflow: one.received } : one));
}

/**
 * All that counts of a payment beyond reach: what was reported before and is no longer, and what is
 * reported now.
 */
function keepRolledOff(before: readonly Transaction[], read: readonly Transaction[]): Transaction[] {
  const readIds = new Set(read.flatMap(({ id }) => id ?? []));
  const kept: Transaction[] = [];
  const unmatched = read.filter(({ id }) => id === null);
  for (const one of before) {
    // A charge may have been refunded since. An outflow of its own stays as it is.
    const isStill = ({ received, outflow }: Transaction): boolean =>
      received === one.received && (isCharge(one) ? outflow >= one.outflow : outflow === one.outflow);
    const place = unmatched.findIndex(isStill);
    if (one.isRolledOff === true) kept.push(one);
    else if (one.isSum === true) kept.push(...restOf(one, read));
    else if (one.id !== null) kept.push(...(readIds.has(one.id) ? [] : [one]));
    else if (place >= 0) unmatched.splice(place, 1);
    else kept.push({ ...one, isRolledOff: true });
  }
  return [...kept, ...read];
}

/** What rows that are read now leave of the sum of rows that version 1.0.0 has read. */
function restOf(known: Transaction, read: readonly Transaction[]): Transaction[] {
  if (read.length === 0) return [known];
  const received = max(0n, known.received - sum(read.map((one) => one.received)));
  const outflow = max(0n, known.outflow - sum(read.map((one) => one.outflow)));
  return received + outflow > 0n ? [{ id: null, received, outflow, isRolledOff: true }] : [];
}
