import type { Dialect } from '../../src/gateway/dialect/dialect.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { Reference } from '../../src/platform/ids.ts';
import type { Money } from '../../src/platform/money.ts';
import type { Hook, Listener } from './listener.ts';
import type { Person } from './person.ts';
import type { Line, Said } from './line.ts';
import type { HistorySeen } from './history.ts';

/** A payment of the probe: we know its reference and its amount, so we can find them in the answers. */
export type Sent = {
  reference: Reference;
  /** Minor units. */
  amount: bigint;
  redirectUrl: string;
  opened: Said;
  /** Verify before anybody paid. */
  before: Said;
};

export type ObserveParts = {
  line: Line;
  /** Asks with a key that is none. */
  stranger: Line;
  dialect: Dialect;
  person: Person;
  listener: Listener | null;
  clock: Clock;
  email: string;
  /** Of the first payment. */
  money: Money;
  /** How many are opened, three at least. */
  payments: number;
  /** Our own origin: redirect addresses lead there. */
  origin: string;
  /** Milliseconds for the person to pay; null: nobody pays. */
  waitMs: number | null;
  /** Milliseconds for a webhook to come after that. */
  hookMs: number;
  /** At most so many calls find the payments in the history and read them back. */
  maxCalls: number;
  /** Milliseconds by which verify and the list may lag behind. */
  lagMs: number;
};

/** Everything the service showed. Conclusions are drawn from this and nothing else. */
export type Observed = {
  currency: string;
  /** How the amounts were written that the service took. */
  unitSent: 'major' | 'minor';
  /** What the service said to an amount with decimals; null: it took it. */
  decimalsRefused: Said | null;
  /** Three or more; only the first is paid. */
  sent: readonly Sent[];
  /** Verify of the first after it was to be paid; null: that was skipped. */
  after: Said | null;
  /** Whether a person said that they paid it. */
  isSaidPaid: boolean;
  unknown: Said;
  repeated: Said;
  wrongKey: Said;
  history: HistorySeen;
  /** When the history was read. */
  askedAt: Date;
  /** Null: nobody listened. */
  hooks: readonly Hook[] | null;
  /** Seconds by which the service's clock is ahead of ours; null: it does not say. */
  skewSec: number | null;
  /** Answers that were "too many calls". */
  tooMany: readonly Said[];
};
