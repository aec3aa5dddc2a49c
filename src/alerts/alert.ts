import type { Database, Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference, RunId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { ReconciliationClass } from '../cases/classes.ts';
import type { OpenedItems } from '../cases/suspend-found-money.sql.ts';

/* How an alert goes. The code that sees something calls `alarm` (`Alarm` below), again and again while it
 * lasts. `send-alerts.ts` notes it in the table `alert_states` (`states.sql.ts`) and, by the kind of alert
 * (`alert-kinds.ts`: words, what to do, how often), decides whether it is news. News goes to each of the
 * hooks (`hooks.ts`): `src/custom/alerts.ts`, a webhook and mails. `../due-alerts.ts` asks
 * at each look of a worker whether a state still holds, sends what is due, and plays the shop's own
 * checks. */

/**
 * What an operator should be woken for: `alert-kinds.ts` says what each is, and docs/runbook.md what to do.
 * The names of the events are fixed: shops configure alarms on them.
 */
export type Alert =
  | { event: 'payment-reversed' | 'findings-raised'; mode: Mode; runId: RunId; findings: RaisedFindings }
  | {
      event: 'reconciliation-incomplete' | 'reconciliation-failed';
      mode: Mode;
      runId: RunId;
      covers: Covered;
      reason: string;
    }
  | {
      event: 'reconciliation-skipped' | 'journal-broken' | 'release-failing' | 'worker-missing';
      mode: Mode;
      reason: string;
    }
  | {
      event: 'unit-error' | 'currency-stopped';
      mode: Mode;
      orderId: OrderId;
      reference: Reference;
      currency: string;
    }
  /** `currency`: `*` for all. */
  | { event: 'checkouts-stopped'; mode: Mode; currency: string; reason: string; by: string }
  | {
      event: 'release-given-up';
      mode: Mode;
      /** Null: money in suspense that is of no order here. */
      orderId: OrderId | null;
      reference: Reference | null;
      /** The id of the release, or of the event. */
      release: string;
      reason: string;
      attempts: number;
    }
  | { event: 'suspense-opened'; mode: Mode; items: OpenedItems }
  | { event: 'own-check'; mode: Mode; name: string; reason: string }
  | { event: 'key-refused'; mode: Mode }
  | { event: 'checkout-address-refused'; mode: Mode; reference: Reference; reason: string };

/** Whether a run is over everything, or over a window of time. */
export type Covered = 'everything' | 'window';

export type RaisedFindings = {
  counts: Partial<Record<ReconciliationClass, number>>;
  /** The first {@link MAX_NAMED}; all of them are in `npm run findings`. */
  first: { id: string; class: ReconciliationClass; reference: Reference; orderId: OrderId | null }[];
};

/** A state is over. */
export type Over = { mode: Mode; over: true } & (
  | { event: 'reconciliation-incomplete' | 'reconciliation-failed'; covers: Covered }
  | { event: 'own-check'; name: string }
  | {
      event: 'reconciliation-skipped' | 'journal-broken' | 'key-refused' | 'checkout-address-refused';
    }
);

/** States whose end is not reported: a worker asks at each look whether they still hold. */
export type AskedState =
  | 'findings-raised'
  | 'worker-missing'
  | 'release-failing'
  | 'currency-stopped'
  | 'checkouts-stopped'
  | 'own-check';

/**
 * Says what is seen now, as often as it is seen: `createAlerts` decides whether an alert is sent. Never
 * fails, except in a transaction `tx`: there it is only noted, and sent after the commit by the next worker
 * that looks.
 */
export type Alarm = (alert: Alert | Over, tx?: Queryable) => Promise<void>;

/** What every alert has; times are ISO 8601 in UTC. */
export type Told = {
  at: string;
  /** When the state began. */
  since: string;
  /** Why, in a sentence. */
  cause: string;
  /** What to type, and where to read on. */
  todo: string;
  /** The state has ended: the other fields are those with which it was told last. */
  over: boolean;
};

/**
 * What a shop does with an alert: a page, a message, a ticket. While it throws, or takes longer than ten
 * seconds, it gets the alert again: after five minutes, then after pauses that double up to a day.
 */
export type AlertHook = (alert: Alert & Told) => Promise<void> | void;

export const MAX_NAMED = 20;

/** A condition of the shop's own. While it holds, it is a state like the others. */
export type AlertCheck = {
  /** Tells it from others, in the alert and in the table. */
  name: string;
  /** How often each worker asks. */
  everyMinutes: number;
  /**
   * @returns why, in a sentence, or null when it does not hold. When it throws, that is logged, and nothing
   * changes.
   */
  holds(database: Database): Promise<string | null>;
};
