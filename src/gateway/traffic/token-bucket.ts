import type { Clock } from '../../platform/clock.ts';

/** A token bucket in which each kind of call has a share. */
export type Tokens<Kind extends string> = {
  /**
   * Takes a token for one of the kinds that wait, most urgent first.
   * @returns the kind that may call now, or the milliseconds until it is worth asking again
   */
  take(waiting: readonly Kind[]): Kind | number;
  /** Halves the pace, once a second at most; it comes back by a hundredth of the whole each second. */
  slowDown(): void;
};

const SLOWER_EVERY_MS = 1_000;
const SLOWEST = 1 / 16;
const FASTER_PER_SEC = 1 / 100;

/**
 * The bucket holds a second's worth and fills evenly. Beside it, each kind's credit fills with its share of that. A kind
 * with credit takes the next token, also when the others have waited for longer. Without credit a kind takes only what
 * the others' shares do not need, so that their next call finds its token there and does not wait at all.
 * @param perSecond 0: no limit
 * @param unbounded a kind that may use up everything that was saved: its bursts are people. The shares of the others
 *   then wait for tokens that are yet to come, and go first when they do
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

  /** Calls a second of a kind's share. At least one whole call can be saved, however slowly. */
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
   * Tokens that must be there before one of those that wait without credit takes one. The same for each of them: were the
   * others' credit counted, whoever has the least would come before the most urgent.
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
      if (first === undefined) throw new RangeError('Bug: nobody waits');
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
