import type { AlertHook } from '../alerts/alert.ts';

/**
 * The line to replace so that an operator hears of alerts, for example
 * `export const onAlert: AlertHook | null = (alert) => pager.send(alert.event, alert);`
 * While it is null an alert is a log line of level error whose `event` says what it is.
 */
export const onAlert: AlertHook | null = null;
