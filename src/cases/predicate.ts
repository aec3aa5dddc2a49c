import type { Source } from './classes.ts';

/** What the predicate looks at, of a payment that released its order, in the currency of the release. */
type Released = {
  /** What it must still show, and what people have booked as going back through the service. */
  standing: Record<'need' | 'expected' | 'lost', bigint>;
  /** Of the released charge itself. */
  refunded: bigint;
  release: { at: Date; serviceId: string | null };
  /** Verify's newest readable answer. */
  verify: {
    outcome: string;
    word: string | null;
    /** What it shows in this currency: 0 where it speaks of none. */
    shows: bigint;
    /** What it says went back; null: it does not say how much. */
    gone: bigint | null;
    serviceId: string | null;
    doubt: string | null;
    /** When it was first given. */
    at: Date;
  } | null;
  /** The list as it was last heard in a whole run. */
  list: { word: string | null; shows: bigint | null; gone: bigint; heardAt: Date | null };
};

const MINUTE_MS = 60_000;
/** How long an answer that may be about other money waits for the list, beyond the list's lag. */
const UNCLEAR_MS = 2 * 24 * 60 * MINUTE_MS;

/**
 * What stands after paid is this one predicate: each source shows what was earned less what was refunded, or it falls
 * short, whatever its word. An answer that names another charge of the service, or a reversal of no more than people
 * have booked, is unclear: it may be no news of this money. The next heard list decides; if none comes, it falls short.
 * @returns the sources that fall short; until when an unclear answer waits, or null
 */
export function shortfall(
  { standing, refunded, release, verify, list }: Released,
  now: Date,
  lagMin: number,
): { short: Source[]; unclearUntil: Date | null } {
  const short: Source[] = [];
  let unclearUntil: Date | null = null;
  const isHeard = list.heardAt !== null && list.heardAt.getTime() >= release.at.getTime() + lagMin * MINUTE_MS;
  const [shows, showsGone] = [list.shows ?? 0n, list.word !== null && list.gone > 0n];
  if (isHeard && shows < standing.need) short.push({ name: 'list', word: list.word, shows, showsGone, doubt: null });
  if (verify !== null && verify.shows < standing.need) {
    const isNamed = release.serviceId !== null && verify.serviceId !== null;
    const isOther = isNamed && verify.serviceId !== release.serviceId;
    // By its id it is the charge that paid: then only refunds of that one explain it.
    const expected = isNamed ? refunded : standing.expected;
    const isExpected = verify.outcome === 'reversed' && verify.gone !== null && verify.gone <= expected;
    const waitsUntil = new Date(verify.at.getTime() + lagMin * MINUTE_MS + UNCLEAR_MS);
    const isListNewer = list.heardAt !== null && list.heardAt > verify.at;
    // Under another id, and the list says, too, that more went than people have booked: a person must look.
    const isSaidTwice = isOther && verify.outcome === 'reversed' && list.gone > standing.expected + standing.lost;
    if (!(isOther || isExpected) || isSaidTwice || (!isListNewer && now >= waitsUntil))
      short.push({
        name: 'verify',
        word: verify.word ?? verify.outcome,
        shows: verify.shows,
        showsGone: verify.outcome === 'reversed',
        doubt: verify.doubt,
      });
    else if (!isListNewer) unclearUntil = waitsUntil;
  }
  return { short, unclearUntil };
}

/** What an answer shows in a currency: 0 where it speaks of none. */
export function showsIn(answer: { currency: string | null; shows: bigint | null }, currency: string): bigint {
  return answer.currency === currency ? (answer.shows ?? 0n) : 0n;
}

/** What an answer says went back; null: it does not say. */
export function goneBy({ amount, shows }: { amount: bigint | null; shows: bigint | null }): bigint | null {
  return amount === null || amount <= 0n || shows === null ? null : amount - shows;
}
