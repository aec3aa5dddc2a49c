import type { Ledger } from '../ledger/ledger.ts';
import type { Position, Standing } from '../ledger/position.ts';
import type { Source } from '../ledger/sources.ts';
import { digestOf, isSameDigest } from '../platform/ids.ts';
import { formatMajor, isPowerOfTenApart, parseMajor } from '../platform/money.ts';
import type { Case } from '../platform/prisma/client.ts';

/** The classes of cases, as programs read them. src/custom/words.json has the words for people. */
export type CaseClass =
  // Held money: received, and nobody has decided what it is for.
  | 'unknown_reference'
  | 'currency_mismatch'
  | 'paid_after_decision'
  | 'charged_again'
  | 'duplicate_payment'
  | 'paid_after_end'
  | 'unit_error'
  | 'underpaid'
  | 'overpaid'
  // Missing money: a source no longer shows what should be at the provider.
  | 'reversed'
  | 'absent_from_history'
  // Booked as going out, and no source reports it ten days later, or it came back.
  | 'refund_not_shown'
  // The sources disagree with each other, or with our books.
  | 'contradicted'
  // Nothing is proven.
  | 'unproven'
  | 'unknown_status'
  | 'unreadable';

/** The program holds `order.paid` under this name while the money of the order is missing. */
export const MISSING_MONEY = 'missing money';

/** The facts about one payment in one currency on which the rules depend. */
export type Facts = {
  position: Position;
  /** What each source reported. */
  reported: Record<'verify' | 'history', Pick<Source, 'transactions' | 'isUncertain'>>;
  /** The history has a row about the payment in this currency, even one without money. */
  isInHistory: boolean;
  /** Null: the payment is unmatched. */
  order: {
    /** The price without the part payments that other payments hold. */
    due: bigint;
    amount: bigint;
    currency: string;
    isPaid: boolean;
    isEnded: boolean;
  } | null;
  currency: string;
  /** What the shopper was asked to pay by this payment. */
  asked: bigint;
  /** This payment is in the order's proof of payment. */
  isInProof: boolean;
  /** A person has decided about the money of this payment. */
  isDecided: boolean;
  /** Verify's newest readable answer, with the balance that it shows in this currency. */
  verify: { outcome: string; word: string | null; balance: bigint; doubt: string | null } | null;
  /** The history was read whole ten days after money was last booked as going out. */
  isOutflowLate: boolean;
  /** For a day, no answer of verify could be read. */
  isUnreadable: boolean;
};

/**
 * A reason for a case. `digest` is of what was seen: an `explain` decision acknowledges exactly
 * this. `missing` of a `refund_not_shown` is what was booked as going out and is not shown.
 */
export type Finding = { class: CaseClass; held: bigint; missing: bigint; digest: Uint8Array<ArrayBuffer> };

/** What a decision books about them depends on what is due, so a person must have seen it. */
export const DEPENDS_ON_DUE: readonly CaseClass[] = ['underpaid', 'overpaid'];

/** All findings, the most urgent first. */
export function classify(facts: Facts): Finding[] {
  const { position, order, currency } = facts;
  const { held, missing, notShown, reinstated } = position;
  const findings: Finding[] = [];
  const find = (name: CaseClass, amounts: { held?: bigint; missing?: bigint }, seen: unknown): void => {
    const digest = digestOf([name, position.expected, seen]);
    findings.push({ class: name, held: 0n, missing: 0n, ...amounts, digest });
  };
  if (missing > 0n)
    find(
      classOfMissing(facts),
      { missing },
      seenBy(facts, (standing) => standing.missing > 0n),
    );
  if (held > 0n) {
    const name = classOfHeld(facts);
    const due = DEPENDS_ON_DUE.includes(name) ? order?.due : undefined;
    const seen = seenBy(facts, (standing) => standing.held > 0n);
    find(name, { held }, due === undefined ? seen : [seen, due]);
  }
  // Reinstated money opens a case at once. The rest of notShown opens one when it is late.
  const unexplained = facts.isOutflowLate ? notShown : reinstated;
  if (unexplained > 0n) {
    // The amount grows when the rest of the refund becomes late, which is news.
    const seen = [unexplained, seenBy(facts, () => true)];
    find('refund_not_shown', { missing: unexplained }, seen);
  }
  if (!facts.isInProof && held === 0n && order !== null && currency === order.currency) {
    const { verify } = facts;
    if (facts.isUnreadable) find('unreadable', {}, null);
    else if (verify?.outcome === 'unknown') find('unknown_status', {}, verify.word);
    else if (verify?.outcome === 'unproven') find('unproven', {}, [verify.word, verify.doubt]);
  }
  return findings;
}

/**
 * What the sources report that say so. A change of another source is no news about this finding.
 */
function seenBy({ position, reported, verify }: Facts, saysSo: (standing: Standing) => boolean): unknown {
  const sources = (['verify', 'history'] as const).filter((name) => saysSo(position[name]));
  return sources.map((name) => {
    const { held, missing, notShown } = position[name];
    const transactions = reported[name].transactions.map(({ id, received, outflow }) => [id, received, outflow]);
    const { isUncertain } = reported[name];
    // What verify says when nothing of its balance is certain: failed is worse than pending.
    const word = isUncertain && name === 'verify' ? verify?.outcome : undefined;
    return [name, held, missing, notShown, transactions.map(String).sort(), word ?? isUncertain];
  });
}

function classOfMissing({ position: { verify, history }, isInHistory }: Facts): CaseClass {
  const short = [verify, history].filter(({ missing }) => missing > 0n);
  const reportsOutflow = short.some(({ excessOutflow }) => excessOutflow > 0n);
  // Two sources that agree need no lag.
  const doAgree = verify.missing > 0n && verify.isShort && history.isShort;
  if (reportsOutflow || doAgree) return 'reversed';
  return verify.missing === 0n && !isInHistory ? 'absent_from_history' : 'contradicted';
}

/** The reason why held money pays nothing: the first that fits. */
function classOfHeld({ order, currency, asked, isDecided, isInProof, verify, position: { held } }: Facts): CaseClass {
  const balance = verify?.balance ?? 0n;
  if (order === null) return 'unknown_reference';
  if (currency !== order.currency) return 'currency_mismatch';
  if (isDecided) return 'paid_after_decision';
  // If price and surplus together are the price in another unit, there was no second charge.
  if (isInProof) return isPowerOfTenApart(held + asked, asked) ? 'unit_error' : 'charged_again';
  if (order.isPaid) return 'duplicate_payment';
  if (order.isEnded) return 'paid_after_end';
  if (balance === 0n) return 'contradicted';
  if (verify?.doubt) return 'unproven';
  if (isPowerOfTenApart(balance, asked)) return 'unit_error';
  if (held >= order.due && balance < order.due) return 'contradicted';
  // Verify shows enough to pay the order, but the history reports that some of it left.
  if (held === order.due || held === order.amount) return 'contradicted';
  return held < order.due ? 'underpaid' : 'overpaid';
}

/**
 * Version 1.0.0 explained the case. It computed digests differently, so the first finding that is
 * equal takes its place.
 */
const EXPLAINED_BEFORE = Buffer.from('pending');

/** An `explain` decision about this case has acknowledged the finding. */
export function acknowledges(one: Case, finding: Finding): boolean {
  if (one.acknowledged === null) return false;
  if (isSameDigest(one.acknowledged, finding.digest)) return true;
  return isSameDigest(one.acknowledged, EXPLAINED_BEFORE) && isSameAsBefore(one, finding);
}

/** Version 1.0.0 called some losses reversed that are contradicted now, and the other way round. */
function isSameAsBefore(one: Case, finding: Finding): boolean {
  const areLosses = [one, finding].every((each) => each.missing > 0n && each.class !== 'refund_not_shown');
  const isSameKind = one.class === finding.class || areLosses;
  return isSameKind && one.held === finding.held && one.missing === finding.missing;
}

type Said = { word: string | null; outcome: string; doubt: string | null };

/**
 * What each source said when a case was opened or changed, for people. Amounts are decimal texts of
 * the currency. Null: this source never said it.
 */
export function saidBySources(
  said: Said | undefined,
  { verify, history, historyReadAt }: Ledger,
  historyWord: string | null,
  currency: string,
): Record<string, string | null> {
  const major = (amount: bigint): string => formatMajor({ amount, currency });
  const isVerifyHeard = verify.mostReceived > 0n || verify.outflow > 0n;
  const reported = (source: Source, isKnown: boolean): (string | null)[] =>
    isKnown ? [major(source.received), major(source.outflow)] : [null, null];
  const [verifyReceived = null, verifyOutflow = null] = reported(verify, isVerifyHeard);
  const [historyReceived = null, historyOutflow = null] = reported(history, historyReadAt !== null);
  return {
    currency,
    verifyWord: said?.word ?? said?.outcome ?? null,
    verifyDoubt: said?.doubt ?? null,
    verifyReceived,
    verifyOutflow,
    historyWord,
    historyReceived,
    historyOutflow,
    historyReadAt: historyReadAt?.toISOString() ?? null,
  };
}

/**
 * The amount that this payment had to pay when its case was opened or last changed, in minor units.
 * Null: the case is older than version 1.1.
 */
export function dueSeen(evidence: unknown, currency: string): bigint | null {
  const { due } = Object(evidence) as { due?: unknown };
  return typeof due === 'string' ? parseMajor(due, currency) : null;
}
