import type { AlertParts, Alarms } from './alerts/send-alerts.ts';
import { doFailedDeliveriesWait } from './fulfilment/delivery.sql.ts';
import { MAX_NAMED, type AlertCheck, type Alarm } from './alerts/alert.ts';
import { takeUntoldItems } from './cases/suspend-found-money.sql.ts';
import { readCheckoutStops, untoldStops, untoldUnitErrors } from './payments/checkout-stops.sql.ts';
import { systemClock } from './platform/clock.ts';
import type { Database, Queryable } from './platform/database/database.ts';
import { lastHeartbeat, MISSING_SEC, nameOf, type WorkerState } from './platform/heartbeat.sql.ts';
import type { Logger } from './platform/logger.ts';
import type { Mode } from './platform/mode.ts';
import { isFindingOpen } from './reconciliation/raise.sql.ts';
import type { Reconcile } from './reconciliation/reconcile.ts';
import type { ConfirmParts } from './payments/confirm.ts';

/**
 * Asks the database whether a state still holds, for the states whose end no code path reports.
 * @param checks the shop's own: the state of one that it has removed is over
 */
export function conditionsOf(db: Queryable, checks: readonly AlertCheck[]): AlertParts['holds'] {
  return {
    'findings-raised': (mode) => isFindingOpen(db, mode),
    'worker-missing': async (mode) => ((await lastHeartbeat(db, mode))?.sec ?? Infinity) > MISSING_SEC,
    'release-failing': (mode) => doFailedDeliveriesWait(db, mode),
    'currency-stopped': async (mode, key) =>
      (await readCheckoutStops(db, mode)).some((stop) => stop.reference !== null && stop.currency === key),
    'checkouts-stopped': async (mode, key) =>
      (await readCheckoutStops(db, mode)).some((stop) => stop.reason !== null && stop.currency === key),
    'own-check': (_mode, key) => Promise.resolve(checks.some(({ name }) => name === key)),
  };
}

type DueAlerts = {
  /** Sends what is due, and plays the shop's own checks whose time has come. Never fails. */
  due(): Promise<void>;
  /** While no worker tells what is due, servers do. The worker that comes says that it is over. */
  ofWorker(state: WorkerState): void;
  /** A run by hand tells of itself: there may be no worker. After a scheduled one its worker tells. */
  afterRun(reconcile: Reconcile): Reconcile;
};

type DueAlertsParts = {
  database: Database;
  alarms: Alarms;
  mode: Mode;
  /** The shop's own. */
  checks: readonly AlertCheck[] | undefined;
  logger: Logger;
};

/** Who sends what alerts are due, beside the worker. */
export function createDueAlerts({ database, alarms, mode, checks = [], logger }: DueAlertsParts): DueAlerts {
  const checkedMs = new Map<AlertCheck, number>();
  const playChecks = async (): Promise<void> => {
    for (const check of checks) {
      const { name, everyMinutes } = check;
      if (systemClock.elapsedMs() - (checkedMs.get(check) ?? -Infinity) < everyMinutes * 60_000) continue;
      checkedMs.set(check, systemClock.elapsedMs());
      try {
        const reason = await check.holds(database);
        const state = { event: 'own-check', mode, name } as const;
        await alarms.alarm(reason === null ? { ...state, over: true } : { ...state, reason });
      } catch (error) {
        logger.warn({ err: error, check: name }, 'an own alert check failed');
      }
    }
  };
  // What a process committed and did not live to tell is found in the tables.
  const noteUntold = (): Promise<void> =>
    database.transaction(async (tx) => {
      const items = await takeUntoldItems(tx, mode, MAX_NAMED);
      if (items !== null) await alarms.alarm({ event: 'suspense-opened', mode, items }, tx);
      await noteUntoldUnitErrors(tx, alarms.alarm, mode);
    });
  const due = (): Promise<void> =>
    noteUntold()
      .then(playChecks)
      .then(() => alarms.sendDue(mode))
      .catch((error: unknown) => {
        logger.warn({ err: error }, 'sending due alerts failed');
      });
  return {
    due,
    ofWorker: ({ isMissing, last }) => {
      if (!isMissing) return;
      const reason = `no worker runs; the last was seen ${nameOf(last) ?? 'never'}`;
      void alarms.alarm({ event: 'worker-missing', mode, reason }).then(due);
    },
    afterRun: (reconcile) => async (options) => {
      const report = await reconcile(options);
      if (!options.dryRun && options.scheduledEveryMs === undefined) await due();
      return report;
    },
  };
}

/** Alerts to a payment that came in another unit, and to its currency if this payment stopped it. */
export function alertOnUnitError(alarm: Alarm): NonNullable<ConfirmParts['onUnitError']> {
  return ({ mode, orderId, reference, currency }, stopsCurrency) => {
    const about = { mode, orderId, reference, currency };
    void alarm({ event: 'unit-error', ...about }).then(() =>
      stopsCurrency ? alarm({ event: 'currency-stopped', ...about }) : undefined,
    );
  };
}

/**
 * Notes what no process lived to tell, in the transaction `tx`: unit errors, and the currencies that they
 * stopped.
 */
async function noteUntoldUnitErrors(tx: Queryable, alarm: Alarm, mode: Mode): Promise<void> {
  for (const error of await untoldUnitErrors(tx, mode))
    await alarm({ event: 'unit-error', mode, ...error }, tx);
  for (const stop of await untoldStops(tx, mode))
    await alarm({ event: 'currency-stopped', mode, ...stop }, tx);
}
