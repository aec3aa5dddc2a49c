import type { Database } from '../platform/database/database.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import type { Alarm } from '../alerts/alert.ts';
import { checkIntegrity, type Integrity } from './integrity.ts';
import { closeCheck, isCheckDue, lockCheck, openCheck, type Contradiction } from './integrity.sql.ts';

/** The rest is printed by `npm run explain -- --all`. */
const MAX_NAMED = 20;

type IntegrityJobParts = {
  database: Database;
  mode: Mode;
  alarm: Alarm;
  logger: Logger;
  signal: AbortSignal;
};

/**
 * Checks every order's hash chain if no check has ended for a week and no other process is running one.
 * The result goes to a log line, to metrics, and to an alert when a row was changed by other means.
 * @returns null when there was nothing to do
 */
export async function checkIntegrityWeekly(parts: IntegrityJobParts): Promise<Integrity | null> {
  const client = await parts.database.sessions.connect();
  client.on('error', () => undefined);
  try {
    if (!(await lockCheck(client)) || !(await isCheckDue(parts.database))) return null;
    return await check(parts);
  } finally {
    // Ends the session, and with it the lock.
    client.release(true);
  }
}

async function check({ database, mode, alarm, logger, signal }: IntegrityJobParts): Promise<Integrity> {
  const id = await openCheck(database);
  const first: Contradiction[] = [];
  const onFound = (one: Contradiction): void => {
    if (first.length < MAX_NAMED) first.push(one);
  };
  const seen = await checkIntegrity(database, { onFound, signal });
  logger.info(seen, 'integrity of all orders checked');
  const event = 'journal-broken';
  if (seen.contradictions === 0) await alarm({ event, mode, over: true });
  else {
    const reason = `${seen.contradictions} rows were changed by other means, first of all: ${first
      .slice(0, 3)
      .map(({ orderId, what }) => `${orderId}: ${what}`)
      .join('; ')}. All of them: npm run explain -- --all`;
    await alarm({ event, mode, reason });
  }
  // Last: what was not reported is checked again.
  await closeCheck(database, id, seen, first);
  return seen;
}
