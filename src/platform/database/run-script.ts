import { createHash } from 'node:crypto';
import type pg from 'pg';
import { sleep } from '../clock.ts';

/**
 * While a script waits for a table, every later query on that table waits behind it. Half of what those wait for a lock,
 * so that none of them fails; then the script steps back, lets them pass, and tries again.
 */
export const TABLE_LOCK_TIMEOUT_MS = 1_000;
const TRIES = 40;
const STEP_BACK_MS = 500;

const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Runs the script of a migration, whole: as one implicit transaction, unless it says otherwise.
 * @throws {pg.DatabaseError} what the database said; about a lock only after a minute of trying
 */
export async function runScript(session: pg.Pool, script: string): Promise<void> {
  const index = indexAlone(script);
  if (index !== null) {
    await buildIndex(session, script, index);
    return;
  }
  for (let attempt = 1; ; attempt++) {
    try {
      await session.query(endsItsTransaction(script) ? script : `${script}\n;${markOf(script)}`);
      return;
    } catch (error) {
      // A script with a BEGIN of its own leaves the connection in a transaction that takes no more statements.
      await session.query('ROLLBACK').catch(() => undefined);
      const isLocked = (error as { code?: unknown }).code === LOCK_NOT_AVAILABLE;
      if (!isLocked || attempt === TRIES || endsItsTransaction(script)) throw error;
      await sleep(STEP_BACK_MS);
    }
  }
}

/** Stands in the `logs` of a migration whose script was committed: it is written in the script's own transaction. */
export const COMMITTED = 'committed';

// The engine does not say whose script it hands over, but it has just recorded the digest.
function markOf(script: string): string {
  const checksum = createHash('sha256').update(script).digest('hex');
  return `UPDATE _prisma_migrations SET logs = '${COMMITTED}'
    WHERE checksum = '${checksum}' AND finished_at IS NULL AND rolled_back_at IS NULL`;
}

/** Whether something of a script may stay when it fails. A false alarm ("ON COMMIT DROP") only costs the retry. */
export function endsItsTransaction(sql: string): boolean {
  const outsideOfFunctions = sql.replace(/\$(\w*)\$.*?\$\1\$/gs, "''");
  return (
    /\b(commit|concurrently|vacuum)\b/i.test(sql) ||
    /(?:^|;)\s*(?:end|rollback|abort|prepare\s+transaction)\b/i.test(outsideOfFunctions)
  );
}

/** The index of a script that makes one CONCURRENTLY and does nothing else: such a script can always be run again. */
export function indexAlone(sql: string): string | null {
  const bare = sql.replace(/--.*$/gm, '').replace(/\/\*.*?\*\//gs, '');
  const match =
    /^\s*CREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+IF\s+NOT\s+EXISTS\s+"?(\w+)"?\s+ON\b[^;]*;?\s*$/i.exec(
      bare,
    );
  return match?.[1] ?? null;
}

/** Whether a script that did not end may have left half of its work, and what, only a person can see. */
export function mayLeaveHalf(sql: string): boolean {
  return endsItsTransaction(sql) && indexAlone(sql) === null;
}

/** Takes away what a build that failed or was killed has left; an index that is valid stays. */
export async function dropHalfBuilt(session: pg.Pool, index: string): Promise<void> {
  const { rows } = await session.query(
    'SELECT FROM pg_index WHERE indexrelid = to_regclass(quote_ident($1)) AND NOT indisvalid',
    [index],
  );
  if (rows.length > 0) await session.query(`DROP INDEX CONCURRENTLY IF EXISTS "${index}"`);
}

// It lets everybody read and write meanwhile, so it may wait as long as it likes for transactions to end.
async function buildIndex(session: pg.Pool, script: string, index: string): Promise<void> {
  await session.query('SET lock_timeout = 0');
  try {
    await dropHalfBuilt(session, index);
    await session.query(script);
  } catch (error) {
    await dropHalfBuilt(session, index).catch(() => undefined);
    throw error;
  } finally {
    await session.query('RESET lock_timeout');
  }
}
