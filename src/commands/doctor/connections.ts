import { systemClock } from '../../platform/clock.ts';
import { openReads, UNSEEN_SEC } from '../../platform/database/reads.ts';
import { span } from '../../platform/locale.ts';
import { transportOf } from '../../platform/database/address.ts';
import {
  counted,
  look,
  ok,
  wrong,
  type Answer,
  type Topic,
  isSchemaComplete,
  type Schema,
  type Subject,
} from './answers.ts';
import { checkService } from '../../gateway/verify.ts';

export const DATABASE: Topic = { about: 'database', questions: [database, standby] };

/** The oldest PostgreSQL that has what the statements use. */
const OLDEST = 140_000;
/** More than this apart, and times in lists and signatures mislead. */
const MAX_CLOCK_SEC = 60;
/** An empty database lacks all of them. */
const MAX_NAMED = 3;

function database({ schema, services }: Subject): Answer[] {
  if (schema.outcome === 'away') {
    const why = schema.why.replace(/^./, (first) => first.toUpperCase());
    const says = `${why}. What it holds was not asked.`;
    return [wrong(says, 'start it, or correct DATABASE_URL')];
  }
  const { version, number, tls, now } = schema.server;
  const isHere = transportOf(services.databaseUrl.reveal()) === 'local';
  const way = tls ?? (isHere ? 'on this machine' : 'without TLS');
  return [
    number < OLDEST
      ? wrong(`PostgreSQL ${version} is too old.`, 'update it to 14 or newer')
      : ok(`PostgreSQL ${version} answers, ${way}.`),
    ...clock('PostgreSQL', (now.getTime() - systemClock.now().getTime()) / 1_000),
    migrations(schema),
  ];
}

/** Whether pages are read from the standby, and how far it is behind. */
async function standby({ schema, config, database, logger }: Subject): Promise<Answer | Answer[]> {
  if (config.DATABASE_READ_URL === undefined || !isSchemaComplete(schema)) return [];
  const reads = openReads(database, config.DATABASE_READ_URL, { clock: systemClock, logger });
  const seen = await reads.look?.();
  await reads.close();
  if (seen === undefined) return [];
  if (seen.unfit !== null) {
    const says = `Pages are read from the primary, not from the standby: ${seen.unfit}.`;
    return look(says, 'start the standby, or correct DATABASE_READ_URL');
  }
  if (seen.behindSec <= UNSEEN_SEC) return ok('Pages are read from the standby, which keeps up.');
  return look(
    `The standby is ${span(seen.behindSec)} behind.`,
    'look into the log of the standby’s PostgreSQL',
  );
}

function migrations({ history }: Schema & { outcome: 'read' }): Answer {
  const { pending, unknown, unfinished, edited } = history;
  if (edited.length > 0)
    return wrong(
      `Edited after they were applied: ${edited.join(', ')}.`,
      'npm run db:migrate tells what to do',
    );
  if (unfinished.length > 0) {
    const names = unfinished.map((row) => row.migration_name).join(', ');
    return wrong(`Begun and not ended, or at work now: ${names}.`, 'npm run db:migrate');
  }
  if (pending.length > 0) {
    const first = pending.length > MAX_NAMED ? [...pending.slice(0, MAX_NAMED), '…'] : pending;
    const says = `${counted(pending.length, 'migration')} to come: ${first.join(', ')}.`;
    return look(`${says} What the tables hold was not asked.`, 'npm start, or npm run db:migrate');
  }
  if (unknown.length > 0)
    return look(
      `It is newer than this program: ${unknown.join(', ')}.`,
      'deploy the version that migrated it',
    );
  return ok('It has the schema of this version.');
}

/** @param aheadSec its clock less ours. @returns nothing when they agree */
function clock(whose: string, aheadSec: number): Answer[] {
  if (Math.abs(aheadSec) <= MAX_CLOCK_SEC) return [];
  const where = `${counted(Math.round(Math.abs(aheadSec)), 'second')} ${aheadSec > 0 ? 'before' : 'behind'} ours`;
  return [look(`The clock of ${whose} is ${where}.`, 'set the clocks by NTP')];
}

export const SERVICE: Topic = { about: 'payment service', questions: [service, dialect] };

async function service({ gateway, services }: Subject): Promise<Answer | Answer[]> {
  const who = services.sandboxUrl === null ? 'The service' : 'The sandbox';
  const check = await checkService(gateway.client, gateway.dialect);
  switch (check.outcome) {
    case 'accepted':
      return [
        ok(`${who} answers and does not refuse the key.`),
        ...clock('the service', check.aheadSec ?? 0),
      ];
    case 'refused':
      return wrong(`${who} refuses the key.`, 'set GATEWAY_SECRET_KEY to the one of its dashboard');
    case 'odd':
      return wrong(`What answers is no payment service: ${check.why}.`, 'correct GATEWAY_URL');
    case 'away':
      return wrong(`${who} cannot be asked: ${check.why}.`, 'look at its status page, then at GATEWAY_URL');
  }
}

function dialect({ config, services }: Subject): Answer {
  if (config.dialectFile !== null) return ok(`Its answers are read by ${config.dialectFile.path}.`);
  if (services.sandboxUrl !== null) return ok('Its answers are read by the default dialect.');
  const says = 'Its answers are read by the default dialect, which nobody has compared with them.';
  return look(says, 'npm run probe in a checkout, then set GATEWAY_DIALECT');
}
