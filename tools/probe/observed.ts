import type { Hook } from './listener.ts';
import type { Said } from './line.ts';
import type { HistorySeen } from './history.ts';

/** A payment of the probe: we know its reference and its amount, so we can find them in the answers. */
export type Sent = {
  reference: string;
  /** Minor units. */
  amount: bigint;
  redirectUrl: string;
  opened: Said;
  /** Verify before anybody paid. */
  before: Said;
};

/** Everything the service showed. Conclusions are drawn from this and nothing else. */
export type Observed = {
  currency: string;
  /** How the amounts were written that the service took. */
  unitSent: 'major' | 'minor';
  /** What the service said to an amount with decimals; null: it took it. */
  decimalsRefused: Said | null;
  /** Three of them; only the first is paid. */
  sent: readonly Sent[];
  /** Verify of the first after it was to be paid; null: that was skipped. */
  after: Said | null;
  /** Whether a person said that they paid it. */
  isSaidPaid: boolean;
  unknown: Said;
  repeated: Said;
  wrongKey: Said;
  history: HistorySeen;
  /** Null: nobody listened. */
  hooks: readonly Hook[] | null;
  /** Seconds by which the service's clock is ahead of ours; null: it does not say. */
  skewSec: number | null;
  /** Answers that were "too many calls". */
  tooMany: readonly Said[];
};
