import type { Database, Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference, RunId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { ReconciliationClass } from '../cases/classes.ts';
import type { OpenedItems } from '../cases/untold-suspense.sql.ts';

/* How an alert goes. The code that sees something calls `alarm` (`Alarm` below), again and again while it
 * lasts. `send-alerts.ts` notes it in the table `alert_states` (`states.sql.ts`) and, by the kind of alert
 * (`alert-kinds.ts`: words, what to do, how often), decides whether it is news. News goes to each of the
 * hooks (`all-hooks.ts`): `src/custom/alerts.ts`, `webhook.ts` and `mail.ts`. `../alert-conditions.ts` asks
 * at each look of a worker whether a state still holds, sends what is due, and plays the shop's own checks. */

/**
 * What an operator should be woken for. The names of the events are fixed: shops
 * configure alarms on them. Which of them are states, and what to do, is in `alert-kinds.ts`.
 * - `payment-reversed`: money went back after its order was released.
 * - `findings-raised`: a run has raised new findings; over when none is open.
 * - `reconciliation-incomplete`: a run ended without a verdict on everything. Only a run over everything
 *   ends what a run over everything began.
 * - `reconciliation-failed`: a run broke off; ends likewise.
 * - `suspense-opened`: money came that has not paid its order; what comes within five minutes is told
 *   together. Not of money that `findings-raised` or `unit-error` tells of.
 * - `unit-error`: the amount of a payment is the amount asked for times a power of ten; the next such
 *   payment of another order stops the currency.
 * - `journal-broken`: a row was changed by other means than this program, and contradicts
 *   its order's journal.
 * - `currency-stopped`: two payments of a currency came in another unit, and no new checkout of it
 *   begins.
 * - `checkouts-stopped`: a person or the shop's own system has stopped new checkouts, of one currency or all.
 * - `release-failing`: the receiver fails by a fault of its own or for a minute without a success; over
 *   when every release that failed was delivered or given up.
 * - `release-given-up`: the receiver has not accepted a release, or an event, for three days, or has
 *   rejected it finally.
 * - `key-refused`: the service refuses the secret key.
 * - `checkout-address-refused`: the service sends shoppers to a host that CHECKOUT_HOSTS does not allow.
 * - `worker-missing`: WORKER=off and no worker has sent a heartbeat for a minute.
 * - `reconciliation-skipped`: runs are skipped because another one is active, and
 *   none has ended for long.
 * - `own-check`: a check of the shop's own holds (`AlertCheck`).
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
