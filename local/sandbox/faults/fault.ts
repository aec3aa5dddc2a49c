import type { Answer } from '../api/answer.ts';
import type { DecisionOutcome } from '../ledger/ledger.ts';
import type { Transaction } from '../ledger/transaction.ts';
import type { Money } from '../money.ts';
import type { List } from '../profiles/shapes/paging.ts';
import type { Profile } from '../profiles/profile.ts';

/** What pages, the control routes and the rehearsals tell of a fault. */
export type Told = {
  title: string;
  /** What the service does, or what befalls its messages. */
  happens: string;
  /** Where an integrator that keeps its promises must end. */
  ends: string;
};

/** Done once, to one transaction. The ledger knows of it: it is the truth, however odd. */
export type Deed = Told & { play(hand: PlayingHand): DecisionOutcome };

export type PlayingHand = {
  asked: Money;
  pay(money?: Money): DecisionOutcome;
  reverse(): DecisionOutcome;
  /** Does it after a pause, long enough for the shopper to come back first. */
  later(deed: () => DecisionOutcome): void;
  /** Somebody who does not know the secret says that it was paid. */
  forge(): DecisionOutcome;
  /** Nothing was decided yet. */
  asItIs(): DecisionOutcome;
};

/** What becomes of a webhook. */
export type Fate = {
  copies: number;
  /** Milliseconds until its first attempt. */
  delayMs: number;
  /** It goes out behind the next one of its transaction. */
  isOvertaken: boolean;
  isLost: boolean;
  isBadlySigned: boolean;
};

export type WebhookFault = Told & { fate: Partial<Fate> };

/** How the bytes of an answer leave. */
export type Way = 'at once' | 'slowly' | 'byte by byte' | 'cut off';

export type AnswerFault = Told & {
  /** Whether the service does what it was asked before it fails. */
  acts: boolean;
  /** What it answers instead; the real answer where this is absent. */
  answer?(given: { profile: Profile; reference: string | null; now: Date }): Answer;
  way?: Way;
  /** By how many seconds its Date goes before the service's clock. */
  skewSec?: number;
};

/** Spoils what verify answers about a transaction. */
export type RecordFault = Told & {
  spoil(
    answer: Answer,
    given: { profile: Profile; transaction: Transaction; neighbour: Transaction | null },
  ): Answer;
};

/** Bends the list behind the history. */
export type HistoryFault = Told & { bend(list: List): List };
