import { ALERT_KINDS } from '../../alerts/alert-kinds.ts';
import { unsentReleases } from '../../fulfilment/releases.sql.ts';
import { tellOfUnsent } from '../../fulfilment/redeliver.sql.ts';
import { lastHeartbeat, MISSING_SEC } from '../../platform/heartbeat.sql.ts';
import { span } from '../../platform/locale.ts';
import {
  dueRows,
  undeliveredCounts,
  webhookSilence,
  isWebhookSilenceSuspicious,
} from '../../reporting/shop-state.sql.ts';
import { refusedLately } from '../../webhooks/refused-webhooks.sql.ts';
import { counted, look, ok, wrong, type Answer, type Topic, type Subject } from './answers.ts';
import { openAlerts } from './doctor.sql.ts';

export const WORK: Topic = {
  about: 'work',
  questions: [webhooks, worker, due, releases, seenByProcesses],
  readsTables: true,
};

async function webhooks({ database, mode, services, gateway }: Subject): Promise<Answer> {
  const isChecked = services.webhookSecrets.length > 0 && gateway.dialect.webhook.signature !== null;
  const how = isChecked ? 'Webhooks must be signed' : 'Webhooks need no signature, so each may be forged';
  const silence = await webhookSilence(database, mode);
  const last =
    silence.silentSec === null ? 'none was taken yet' : `the last came ${span(silence.silentSec)} ago`;
  if (await areAllRefused({ database, mode }))
    return look(`${how}; ${last}, and what came in the last hour was refused.`, TO_BE_TAKEN);
  if (!isWebhookSilenceSuspicious(silence)) return ok(`${how}; ${last}.`);
  const says = `${how}; ${last}, and ${counted(silence.paidMeanwhile, 'order')} got paid since.`;
  return look(says, 'register PUBLIC_URL/webhooks/payments at the service; npm run go-live tries it');
}

export const TO_BE_TAKEN =
  'correct WEBHOOK_SECRETS, or webhook.signature in the dialect; docs/runbook.md#webhooks-are-refused';
const HOUR_SEC = 3_600;

/**
 * Whether webhooks came in the last hour and none was taken. One that was shows that the settings are right.
 */
export async function areAllRefused(subject: Pick<Subject, 'database' | 'mode'>): Promise<boolean> {
  const { database, mode } = subject;
  const { silentSec } = await webhookSilence(database, mode);
  if (silentSec !== null && silentSec < HOUR_SEC) return false;
  return (await refusedLately(database, mode, HOUR_SEC)).some(({ reason }) => reason !== 'too-many');
}

async function worker({ database, mode, config }: Subject): Promise<Answer> {
  const last = await lastHeartbeat(database, mode);
  const who = last?.by ?? 'of an older version';
  if (last !== null && last.sec <= MISSING_SEC)
    return ok(`A worker (${who}) reported ${span(last.sec)} ago.`);
  const says =
    last === null ? 'No worker has ever reported' : `The last worker (${who}) reported ${span(last.sec)} ago`;
  const todo = config.production
    ? 'npm run worker; where systemd runs it, systemctl restart integrator-worker@1'
    : config.WORKER === 'off'
      ? 'npm run worker'
      : 'npm start, which works as well, or npm run worker';
  return wrong(`${says}: nothing is checked, delivered or reconciled.`, todo);
}

/** A worker looks every few seconds; what is due for longer is late. */
const LATE_SEC = 60;

async function due({ database, mode }: Subject): Promise<Answer[]> {
  const rows = await dueRows(database, mode);
  return rows.map(({ queue, rows: count, lagSec }) =>
    lagSec > LATE_SEC
      ? look(`${count} ${queue} are due, the first for ${span(lagSec)}.`, 'read the log of the worker')
      : ok(count === 0 ? `No ${queue} are due.` : `${count} ${queue} are due, none of them late.`),
  );
}

/** After this the receiver has refused several times. */
const UNDELIVERED_SEC = 15 * 60;

async function releases({ database, mode, config, extensions }: Subject): Promise<Answer[]> {
  const counts = await undeliveredCounts(database, mode);
  const undelivered = counts.filter(({ delivery }) => delivery !== 'withheld');
  const hasReceiver = config.FULFILMENT_URL !== undefined || extensions.receiver !== null;
  const unsent = tellOfUnsent(await unsentReleases(database, mode), hasReceiver);
  const answers = undelivered.map(({ delivery, count, oldestSec }): Answer => {
    const how = delivery === 'dead' ? 'given up' : 'waiting';
    const says = `${counted(count, 'release')} ${how}, the oldest for ${span(oldestSec)}.`;
    if (delivery === 'dead') return wrong(says, 'npm run releases -- list');
    return oldestSec > UNDELIVERED_SEC ? look(says, 'npm run releases -- list') : ok(says);
  });
  if (unsent !== null && (hasReceiver || config.production))
    answers.push(look(unsent, 'npm run releases -- list'));
  return answers.length === 0 ? [ok('No release waits.')] : answers;
}

/** Alerts about what a running process or a check of the shop's own sees, and no question above asks. */
const SEEN_BY_PROCESSES = ['key-refused', 'checkout-address-refused', 'own-check'] as const;

async function seenByProcesses({ database, mode }: Subject): Promise<Answer[]> {
  const alerts = await openAlerts(database, mode, SEEN_BY_PROCESSES);
  return alerts.map(({ event, reason, agoSec }) => {
    const { words, todo } = ALERT_KINDS[event];
    const why = reason === null ? '' : `: ${reason}`;
    return look(`The alert ${event} holds, last seen ${span(agoSec)} ago: ${words}${why}.`, todo);
  });
}
