import type { Clock } from '../../platform/clock.ts';

/** A token bucket in which each kind of call has a share. */
type Tokens<Kind extends string> = {
  /**
   * Takes a token for one of the waiting kinds, most urgent first.
   * @returns the kind that may call now, or the milliseconds until it is worth asking again
   */
  take(waiting: readonly Kind[]): Kind | number;
  /** Halves the rate, once a second at most; it recovers by a hundredth of the full rate each second. */
  slowDown(): void;
};

const SLOWER_EVERY_MS = 1_000;
const SLOWEST = 1 / 16;
const FASTER_PER_SEC = 1 / 100;

/**
 * The bucket holds a second's worth of tokens and fills evenly. In addition, each kind has a credit that
 * fills with its share. A kind with credit takes the next token, even when others have waited longer.
 * Without credit a kind takes only what the others' shares do not need, so that their next call finds
 * its token there and does not wait at all.
 * @param perSecond 0: no limit
 * @param unbounded a kind that may use up all saved tokens: its bursts are people. The others' shares
 *   then wait for new tokens, and go first when those arrive
 */
export function createTokens<Kind extends string>(
  perSecond: number,
  shares: Readonly<Record<Kind, number>>,
  unbounded: NoInfer<Kind>,
  clock: Clock,
): Tokens<Kind> {
  const kinds = Object.keys(shares) as Kind[];
  const credit = new Map<Kind, number>(kinds.map((kind) => [kind, 1]));
  let count = perSecond;
  let pace = 1;
  let filledAtMs = clock.elapsedMs();
  let slowerAtMs = -Infinity;

  /** Calls per second of a kind's share. At least one whole call can be saved, however low the rate. */
  const rateOf = (kind: Kind): number => shares[kind] * perSecond * pace;
  const creditOf = (kind: Kind): number => credit.get(kind) ?? 0;

  function fill(): void {
    const nowMs = clock.elapsedMs();
    const sec = (nowMs - filledAtMs) / 1_000;
    filledAtMs = nowMs;
    pace = Math.min(1, pace + sec * FASTER_PER_SEC);
    count = Math.min(Math.max(1, perSecond * pace), count + sec * perSecond * pace);
    for (const kind of kinds)
      credit.set(kind, Math.min(Math.max(1, rateOf(kind)), creditOf(kind) + sec * rateOf(kind)));
  }

  /**
   * Tokens that must be there before a waiting kind without credit takes one. It is the same number
   * for each of them: if the others' credit were counted, the kind with the least credit would go
   * before the most urgent.
   */
  function neededBy(kind: Kind, waiting: readonly Kind[]): number {
    if (kind === unbounded) return 1;
    const idle = kinds.filter((each) => !waiting.includes(each));
    const kept = idle.reduce((sum, each) => sum + Math.min(creditOf(each), rateOf(each)), 0);
    return 1 + Math.min(kept, Math.max(0, perSecond * pace - 1));
  }

  const msUntil = (missing: number, rate: number): number => (Math.max(0, missing) / rate) * 1_000;
  function pauseMs(kind: Kind, waiting: readonly Kind[]): number {
    const rate = perSecond * pace;
    const byCredit = Math.max(msUntil(1 - count, rate), msUntil(1 - creditOf(kind), rateOf(kind)));
    return Math.min(byCredit, msUntil(neededBy(kind, waiting) - count, rate));
  }

  return {
    take: (waiting) => {
      const [first] = waiting;
      if (first === undefined) throw new RangeError('Bug: the queue is empty');
      if (perSecond === 0) return first;
      fill();
      const own = count >= 1 ? waiting.find((kind) => creditOf(kind) >= 1) : undefined;
      const kind = own ?? waiting.find((each) => count >= neededBy(each, waiting));
      if (kind === undefined)
        return Math.max(1, Math.ceil(Math.min(...waiting.map((each) => pauseMs(each, waiting)))));
      if (own !== undefined) credit.set(own, creditOf(own) - 1);
      count -= 1;
      return kind;
    },
    slowDown: () => {
      if (clock.elapsedMs() - slowerAtMs < SLOWER_EVERY_MS) return;
      slowerAtMs = clock.elapsedMs();
      fill();
      pace = Math.max(SLOWEST, pace / 2);
    },
  };
}
