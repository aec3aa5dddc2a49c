import type { AlertCheck, AlertHook } from '../alerts/alert.ts';

/**
 * The line to replace so that an operator hears of alerts, for example
 * `export const onAlert: AlertHook | null = (alert) => pager.send(alert.event, alert);`
 * An alert is a log line in any case, of level error, whose `event` says what it is; `ALERT_URL` and
 * `ALERT_EMAIL` send it without any code.
 */
export const onAlert: AlertHook | null = null;

/** Conditions of your own that raise an alert, with the database at hand. */
export const alertChecks: readonly AlertCheck[] = [];
