import { sleep, type Clock } from '../platform/clock.ts';
import type { OrderId, Reference, RunId } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import type { ReconciliationClass } from './classes.ts';

/**
 * What an operator should be woken for. The names of the events are fixed: shops
 * configure alarms on them.
 * - `payment-reversed`: money went back after its order was released.
 * - `findings-raised`: a run has raised new findings; sent once, when they are raised.
 * - `reconciliation-incomplete`: a run ended without a verdict on everything.
 * - `reconciliation-failed`: a run broke off.
 * - `unit-error`: the amount of a payment is the amount asked for times a power of ten; the next such
 *   payment of another order stops the currency.
 * - `journal-broken`: a row was changed by other means than this program, and contradicts
 *   its order's journal.
 * - `currency-stopped`: two payments of a currency came in another unit, and no new checkout of it
 *   begins.
 * - `release-given-up`: the receiver has not accepted a release for three days, or has
 *   rejected it for good.
 * - `key-refused`: the service refuses the secret key; sent when it begins, by each process.
 * - `checkout-address-refused`: the service sends shoppers to a host that CHECKOUT_HOSTS does not allow;
 *   sent once until a checkout opens.
 * - `worker-missing`: WORKER=off and no worker has sent a heartbeat for a minute; sent when it begins.
 * - `reconciliation-skipped`: runs are skipped because another one is active, and
 *   none has ended for long.
 */
export type Alert =
  | { event: 'payment-reversed' | 'findings-raised'; mode: Mode; runId: RunId; findings: RaisedFindings }
  | {
      event: 'reconciliation-incomplete' | 'reconciliation-failed';
      mode: Mode;
      runId: RunId;
      reason: string;
    }
  | { event: 'reconciliation-skipped' | 'journal-broken'; mode: Mode; reason: string }
  | {
      event: 'unit-error' | 'currency-stopped';
      mode: Mode;
      orderId: OrderId;
      reference: Reference;
      currency: string;
    }
  | {
      event: 'release-given-up';
      mode: Mode;
      orderId: OrderId;
      reference: Reference;
      release: string;
      reason: string;
      attempts: number;
    }
  | { event: 'key-refused' | 'worker-missing'; mode: Mode }
  | { event: 'checkout-address-refused'; mode: Mode; reference: Reference; reason: string };

export type RaisedFindings = {
  counts: Partial<Record<ReconciliationClass, number>>;
  /** The first {@link MAX_NAMED}; all of them are in `npm run findings`. */
  first: { id: string; class: ReconciliationClass; reference: Reference; orderId: OrderId | null }[];
};

export type Alarm = (alert: Alert) => Promise<void>;

/**
 * What a shop does with an alert: a page, a message, a ticket. `at` is when it was
 * raised, ISO 8601 in UTC.
 */
export type AlertHook = (alert: Alert & { at: string }) => Promise<void> | void;

export const MAX_NAMED = 20;
/** The receiver of an alert must not delay the next run for longer than this. */
const MAX_MS = 10_000;

/**
 * Logs each alert as an error under its event's name and passes it to the hook. Faults of the hook are
 * logged and have no other effect.
 */
export function createAlarm(logger: Logger, clock: Clock, onAlert: AlertHook | null): Alarm {
  return async (alert) => {
    logger.error(alert, WORDS[alert.event]);
    if (onAlert === null) return;
    const at = clock.now().toISOString();
    const over = new AbortController();
    try {
      const late = sleep(MAX_MS, over.signal).then(() => {
        if (!over.signal.aborted) throw new Error(`it took longer than ${MAX_MS / 1_000} s`);
      });
      await Promise.race([onAlert({ ...alert, at }), late]);
    } catch (error) {
      logger.error({ err: error, event: 'alarm-failed', of: alert.event }, 'alert delivery failed');
    } finally {
      over.abort();
    }
  };
}

const WORDS: Record<Alert['event'], string> = {
  'payment-reversed': 'money went back after its order was released',
  'findings-raised': 'orders and transactions disagree',
  'reconciliation-incomplete': 'reconciliation was not completed',
  'reconciliation-failed': 'reconciliation failed',
  'journal-broken': 'rows were changed behind the program',
  'reconciliation-skipped': 'reconciliation is skipped again and again',
  'currency-stopped': 'new checkouts of a currency are stopped: npm run currencies',
  'release-given-up': 'release given up, redeliver it by hand',
  'key-refused': 'the service refuses the secret key: check GATEWAY_SECRET_KEY',
  'checkout-address-refused': 'checkout address refused',
  'worker-missing':
    'no worker is running and WORKER=off: payments are not checked, releases not delivered; start npm run worker',
  'unit-error': 'a payment came in another unit than was asked for',
};
