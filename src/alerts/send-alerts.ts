import { sleep, type Clock } from '../platform/clock.ts';
import type { Queryable } from '../platform/database/database.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import type { Alarm, Alert, AlertHook, AskedState, Over } from './alert.ts';
import { ALERT_KINDS } from './alert-kinds.ts';
import {
  endAlert,
  noteAlert,
  noteSent,
  openStates,
  takeDueAlerts,
  type StateName,
  type ToSend,
} from './states.sql.ts';

export type AlertParts = {
  db: Queryable;
  logger: Logger;
  clock: Clock;
  onAlert: AlertHook | null;
  /** Whether a state holds now. `key`: of a stopped currency its code. */
  holds: Readonly<Record<AskedState, (mode: Mode, key: string) => Promise<boolean>>>;
};

export type Alarms = {
  alarm: Alarm;
  /**
   * Ends the states of the mode that hold no longer, and tells what was noted in a transaction, what the hook
   * has not taken, and states that went on for a day.
   */
  sendDue(mode: Mode): Promise<void>;
};

/** The receiver of an alert must not delay the next run for longer than this. */
const MAX_MS = 10_000;
/** How often one process notes the same of a state that is seen with every call to the service. */
const ASK_EVERY_MS = 60_000;
const AT_ONCE = 20;
/** What begins while it is asked for must not be ended. */
const JUST_SEEN_SEC = 5;

/**
 * Tells of a state when it begins, when its cause changes, once a day while it holds, and when it is over; of
 * an event when it happens. The table shares this with all processes. Each is logged under its event's name
 * (an error, the end of a state for information) and passed to the hook, once noted at least once: what the
 * hook refuses, or takes longer than ten seconds for, a worker tells again. What is not noted in the
 * transaction that brings it about, and is not found by asking either, is lost when the process dies between
 * the two. While the database is away each process tells by what it remembers itself, and tells once more
 * when the database is back.
 */
export function createAlerts({ db, logger, clock, onAlert, holds }: AlertParts): Alarms {
  const noted = new Map<string, { cause: string | null; atMs: number }>();

  async function alarm(alert: Alert | Over, tx?: Queryable): Promise<void> {
    const rule = ALERT_KINDS[alert.event];
    const state: StateName = { mode: alert.mode, event: alert.event, key: keyOf(alert) };
    if (tx !== undefined) {
      await write(tx, state, alert, false);
      return;
    }
    const name = Object.values(state).join(' ');
    const cause = isOver(alert) ? null : causeOf(alert);
    const before = noted.get(name);
    const isSame = rule.isState && before?.cause === cause;
    if (isSame && rule.quietSec !== undefined && clock.elapsedMs() - before.atMs < ASK_EVERY_MS) return;
    if (rule.isState) noted.set(name, { cause, atMs: clock.elapsedMs() });
    const toSend = await write(db, state, alert, true).catch((error: unknown) => {
      logger.warn({ err: error, of: alert.event }, 'noting an alert failed');
      const isUntold = isOver(alert) ? (before?.cause ?? null) !== null : !isSame;
      return isUntold ? unshared(state, alert, clock.now()) : null;
    });
    if (toSend !== null && !(await send(toSend))) noted.delete(name);
  }

  function write(
    on: Queryable,
    state: StateName,
    alert: Alert | Over,
    sendNow: boolean,
  ): Promise<ToSend | null> {
    const { isState, isEachNews = false, quietSec = 0 } = ALERT_KINDS[alert.event];
    if (isOver(alert)) return endAlert(on, state, quietSec, sendNow);
    return noteAlert(on, state, { alert, cause: causeOf(alert), isState, isEachNews, sendNow });
  }

  /** @returns whether the hook took it */
  async function send(toSend: ToSend): Promise<boolean> {
    const { alert, isOver: over, since } = toSend;
    const { words, todo } = ALERT_KINDS[alert.event];
    const at = clock.now().toISOString();
    const told = { ...alert, at, since: since.toISOString(), cause: sentenceOf(alert), todo, over };
    if (over) logger.info(told, `over: ${words}`);
    else logger.error(told, words);
    try {
      if (onAlert !== null) await within(MAX_MS, () => onAlert(told));
    } catch (error) {
      logger.error({ err: error, event: 'alarm-failed', of: alert.event }, 'alert delivery failed');
      return false;
    }
    // If this fails it is sent once more.
    await noteSent(db, toSend).catch(() => undefined);
    return true;
  }

  return {
    alarm,
    sendDue: async (mode) => {
      await endWhatHoldsNoLonger(db, holds, mode);
      for (const toSend of await takeDueAlerts(db, mode, AT_ONCE)) await send(toSend);
    },
  };
}

async function endWhatHoldsNoLonger(db: Queryable, holds: AlertParts['holds'], mode: Mode): Promise<void> {
  for (const state of await openStates(db, mode, Object.keys(holds) as AskedState[]))
    if (!(await holds[state.event as AskedState](mode, state.key)))
      await endAlert(db, state, JUST_SEEN_SEC, false);
}

function isOver(alert: Alert | Over): alert is Over {
  return 'over' in alert;
}

/** Which of several states or events of one name it is. */
function keyOf(alert: Alert | Over): string {
  switch (alert.event) {
    case 'currency-stopped':
    case 'checkouts-stopped':
      return alert.currency;
    case 'reconciliation-incomplete':
    case 'reconciliation-failed':
      return alert.covers;
    case 'unit-error':
      return alert.reference;
    case 'release-given-up':
      return alert.release;
    case 'suspense-opened':
      return alert.items.first[0]?.id ?? '';
    case 'payment-reversed':
      return alert.runId;
    case 'own-check':
      return alert.name;
    case 'checkout-address-refused':
    case 'findings-raised':
    case 'journal-broken':
    case 'key-refused':
    case 'reconciliation-skipped':
    case 'release-failing':
    case 'worker-missing':
      return '';
  }
}

/** What makes a state another thing to tell. */
function causeOf(alert: Alert): string {
  if (alert.event === 'findings-raised') return alert.runId;
  const reason = 'reason' in alert ? alert.reason : '';
  return ALERT_KINDS[alert.event].hasCounts === true ? reason.replace(/\d+/g, '#') : reason;
}

/** For people: why. */
function sentenceOf(alert: Alert): string {
  if ('reason' in alert) return alert.reason;
  const counted = 'findings' in alert ? alert.findings : 'items' in alert ? alert.items : null;
  if (counted === null) return ALERT_KINDS[alert.event].words;
  return Object.entries(counted.counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

/** What is sent while no table can be asked. */
function unshared(state: StateName, alert: Alert | Over, since: Date): ToSend {
  return { ...state, alert: alert as Alert, since, isOver: isOver(alert), changes: 0 };
}

async function within(ms: number, work: () => Promise<void> | void): Promise<void> {
  const over = new AbortController();
  try {
    const late = sleep(ms, over.signal).then(() => {
      if (!over.signal.aborted) throw new Error(`it took longer than ${ms / 1_000} s`);
    });
    await Promise.race([work(), late]);
  } finally {
    over.abort();
  }
}
