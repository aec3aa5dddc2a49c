import type pg from 'pg';
import { sleep } from '../clock.ts';

/**
 * While a script waits for a table's lock, every later query on that table waits behind it. The limit is
 * half of those queries' own lock time-out, so that none of them fails; then the script steps back, lets
 * them pass, and tries again.
 */
export const TABLE_LOCK_TIMEOUT_MS = 1_000;
const TRIES = 40;
const STEP_BACK_MS = 500;

const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Runs the whole script of a migration and then `record`, a statement that says so: both as one implicit
 * transaction, unless the script ends its transaction itself.
 * @throws {pg.DatabaseError} the database's error; about a lock only after a minute of trying
 */
export async function runScript(session: pg.Client, script: string, record: string): Promise<void> {
  const index = indexAlone(script);
  if (index !== null) {
    await buildIndex(session, script, index);
    await session.query(record);
    return;
  }
  for (let attempt = 1; ; attempt++) {
    try {
      // Sent as one text, with a line break in case the script ends with a comment.
      if (!endsItsTransaction(script)) await session.query(`${script}\n;${record}`);
      else {
        await session.query(script);
        await session.query(record);
      }
      return;
    } catch (error) {
      // A script with its own BEGIN leaves the connection in a failed transaction, which takes no statements.
      await session.query('ROLLBACK').catch(() => undefined);
      const isLocked = (error as { code?: unknown }).code === LOCK_NOT_AVAILABLE;
      if (!isLocked || attempt === TRIES || endsItsTransaction(script)) throw error;
      await sleep(STEP_BACK_MS);
    }
  }
}

/**
 * Whether a failed script may leave work behind, so that it is not repeated by itself. A false alarm
 * ("ON COMMIT DROP") costs the retry, and a person who looks when such a script fails.
 */
function endsItsTransaction(sql: string): boolean {
  const outsideOfFunctions = sql.replace(/\$(\w*)\$.*?\$\1\$/gs, "''");
  return (
    /\b(commit|concurrently|vacuum)\b/i.test(sql) ||
    /(?:^|;)\s*(?:end|rollback|abort|prepare\s+transaction)\b/i.test(outsideOfFunctions)
  );
}

/** The index of a script that only makes one CONCURRENTLY: such a script can always be run again. */
export function indexAlone(sql: string): string | null {
  const bare = sql.replace(/--.*$/gm, '').replace(/\/\*.*?\*\//gs, '');
  const match =
    /^\s*CREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+IF\s+NOT\s+EXISTS\s+"?(\w+)"?\s+ON\b[^;]*;?\s*$/i.exec(
      bare,
    );
  return match?.[1] ?? null;
}

/** Whether a script that did not end may have left half of its work, which only an operator can assess. */
export function mayLeaveHalf(sql: string): boolean {
  return endsItsTransaction(sql) && indexAlone(sql) === null;
}

/** Drops what a failed or killed build has left; a valid index stays. */
async function dropHalfBuilt(session: pg.Client, index: string): Promise<void> {
  const { rows } = await session.query(
    'SELECT FROM pg_index WHERE indexrelid = to_regclass(quote_ident($1)) AND NOT indisvalid',
    [index],
  );
  if (rows.length > 0) await session.query(`DROP INDEX CONCURRENTLY IF EXISTS "${index}"`);
}

// The build blocks neither reads nor writes, so it may wait without limit for transactions to end.
async function buildIndex(session: pg.Client, script: string, index: string): Promise<void> {
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
