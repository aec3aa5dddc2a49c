import type { OwnAlarm } from '../cases/alert.ts';

/**
 * The line to replace so that somebody is told, for example
 * `export const ownAlarm: OwnAlarm | null = (alert) => pager.send(alert.event, alert);`
 * While it is null an alert is a log line of level error whose `event` says what it is.
 */
export const ownAlarm: OwnAlarm | null = null;
