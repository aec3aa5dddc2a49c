import { isPowerOfTenApart } from '../platform/money.ts';
import { digestOf } from '../platform/ids.ts';

/** Why a person must look. The words for people stand with the console; these are what programs read. */
export type CaseClass =
  // Held money: it came, and nothing has been done with it.
  | 'unknown_reference'
  | 'currency_mismatch'
  | 'paid_after_decision'
  | 'charged_again'
  | 'duplicate_payment'
  | 'paid_after_end'
  | 'unit_error'
  | 'underpaid'
  | 'overpaid'
  // Missing money: a source no longer shows what was earned.
  | 'reversed'
  | 'absent_from_history'
  // Written down as refunded or lost, and the list still shows it ten days later.
  | 'refund_not_shown'
  // Either: two sources, or one and our books, say different things.
  | 'contradicted'
  // Nothing is proven.
  | 'unproven'
  | 'unknown_status'
  | 'unreadable';

/** The program holds `order.paid` under this name while the money of the order is missing. */
export const MISSING_MONEY = 'missing money';

/** What one source says of a reference, in one currency. */
export type Source = {
  name: 'verify' | 'list';
  /** Its word; of the list null: the reference is absent. */
  word: string | null;
  shows: bigint;
  /** Whether it says that money went back. */
  showsGone: boolean;
  doubt: string | null;
};

/** All that the rules look at, of one reference in one currency. */
export type Facts = {
  standing: { held: bigint; reversed: bigint; stillToGo: bigint; need: bigint };
  /** By the list, so much more went than ever came. */
  beyond: bigint;
  /** Where the reference's own order stands; null: it has none. */
  order: { amount: bigint; currency: string; isReleased: boolean; isEnded: boolean } | null;
  currency: string;
  /** Whether this payment released its order. */
  isReleased: boolean;
  /** Whether a person has decided about this reference. */
  isDecided: boolean;
  /** The sources that show less than they must; of a released payment alone. */
  short: readonly Source[];
  /** What verify's newest readable answer shows in this currency, and whether that is doubted. */
  verify: { outcome: string; word: string | null; shows: bigint; doubt: string | null } | null;
  /** The list was heard ten days after the newest refund or write-off. */
  isRefundLate: boolean;
  /** For a day, nothing that verify answered could be read. */
  isUnreadable: boolean;
};

/** A reason to open a case. A decision covers what was seen, by this digest: class, words, figures; no ids or times. */
export type Finding = Record<'held' | 'missing', bigint> & { rule: string; class: CaseClass; digest: Digest };
type Digest = Uint8Array<ArrayBuffer>;

/** All findings, the loudest first: a decision that covers one passes over to the next. Pure. */
export function classify(facts: Facts): Finding[] {
  const { standing, short, verify, isReleased } = facts;
  const { held, stillToGo, need } = standing;
  const reversed = standing.reversed + facts.beyond;
  const findings: Finding[] = [];
  const find = (rule: string, name: CaseClass, amounts: { held?: bigint; missing?: bigint }, seen: unknown): void => {
    findings.push({ rule, class: name, held: 0n, missing: 0n, ...amounts, digest: digestOf([rule, name, seen]) });
  };
  if (reversed > 0n || short.length > 0) {
    const seen = [reversed, ...short.map(({ name, word, shows, doubt }) => [name, word, shows, doubt])];
    find('missing', classOfMissing(reversed, short), { missing: missingOf(reversed, need, short) }, seen);
  }
  if (held > 0n) find('held', whyHeld(facts), { held }, [held, verify?.shows ?? null, verify?.doubt ?? null]);
  if (stillToGo > 0n && facts.isRefundLate) find('to go', 'refund_not_shown', { missing: stillToGo }, stillToGo);
  if (!isReleased && held === 0n && facts.order !== null && facts.currency === facts.order.currency) {
    if (facts.isUnreadable) find('word', 'unreadable', {}, 'unreadable');
    else if (verify?.outcome === 'unknown') find('word', 'unknown_status', {}, verify.word);
    else if (verify?.outcome === 'unproven') find('word', 'unproven', {}, [verify.word, verify.doubt]);
  }
  return findings;
}

function classOfMissing(reversed: bigint, short: readonly Source[]): CaseClass {
  if (reversed > 0n || short.some(({ showsGone }) => showsGone)) return 'reversed';
  return short.some(({ word }) => word !== null) ? 'contradicted' : 'absent_from_history';
}

/** How much is missing: by the sources that show it as gone, else by the short ones. */
function missingOf(reversed: bigint, need: bigint, short: readonly Source[]): bigint {
  if (reversed > 0n) return reversed;
  const gone = short.filter(({ showsGone }) => showsGone);
  const least = (gone.length > 0 ? gone : short).map(({ shows }) => shows).reduce((a, b) => (a < b ? a : b));
  return need - least;
}

/** Why held money is not earned: the first reason that fits. */
function whyHeld({ order, currency, isDecided, isReleased, verify, standing }: Facts): CaseClass {
  const shows = verify?.shows ?? 0n;
  if (order === null) return 'unknown_reference';
  if (currency !== order.currency) return 'currency_mismatch';
  if (isDecided) return 'paid_after_decision';
  // What came beyond the price is no second charge where all of it is the price in another unit.
  if (isReleased) return isPowerOfTenApart(standing.held + order.amount, order.amount) ? 'unit_error' : 'charged_again';
  if (order.isReleased) return 'duplicate_payment';
  if (order.isEnded) return 'paid_after_end';
  if (shows === 0n) return 'contradicted';
  if (verify?.doubt) return 'unproven';
  if (isPowerOfTenApart(shows, order.amount)) return 'unit_error';
  if (standing.held >= order.amount && shows < order.amount) return 'contradicted';
  return standing.held < order.amount ? 'underpaid' : 'overpaid';
}

type Said = { word: string | null; outcome: string; doubt: string | null };
type Shown = { verifyShows: bigint | null; listShows: bigint | null; listWord: string | null };

/** What each source says when a case is opened, for people. Amounts are texts: JSON numbers lose digits. */
export function sourcesOf(said: Said | undefined, shown: Shown): Record<string, string | null> {
  return {
    verifyWord: said?.word ?? said?.outcome ?? null,
    verifyShows: shown.verifyShows?.toString() ?? null,
    verifyDoubt: said?.doubt ?? null,
    listWord: shown.listWord,
    listShows: shown.listShows?.toString() ?? null,
  };
}
