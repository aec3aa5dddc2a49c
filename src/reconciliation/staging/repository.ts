import { once } from 'node:events';
import { from as copyFrom } from 'pg-copy-streams';
import type { Queryable } from '../../platform/database.ts';
import type { Mode } from '../../platform/mode.ts';
import type { Session } from '../repository.ts';
import { COLUMNS } from './tuples.ts';

/** Where the rows of a run lie. Behind the name `history_rows` of its connection, whichever table it is. */
export type Staging = { table: string };

/**
 * Gives the run its staging: the mode's own table, which outlives a killed process, or for a run that must change
 * nothing a temporary one. `history_rows` shows one row per reference once {@link foldHistory} has run.
 */
export async function openStaging(session: Session, mode: Mode, isDry: boolean): Promise<Staging> {
  const kept = `history_rows_${mode}`;
  const table = isDry ? 'history_rows_dry' : kept;
  if (isDry) await session.query(`CREATE TEMPORARY TABLE ${table} (LIKE ${kept} INCLUDING DEFAULTS)`);
  await session.query(`CREATE TEMPORARY VIEW history_rows AS SELECT * FROM ${table} WHERE is_current`);
  await session.query(`CREATE TEMPORARY TABLE maybe_repeated (reference text NOT NULL)`);
  await session.query(`
    CREATE TEMPORARY TABLE verified_payments (reference text PRIMARY KEY, has_released boolean NOT NULL)`);
  return { table };
}

/** Leaves the first `records` records as they were read, and nothing else. */
export async function dropRows(db: Queryable, { table }: Staging, records: number): Promise<void> {
  if (records === 0) {
    await db.query(`TRUNCATE ${table}`);
    return;
  }
  await db.query(`DELETE FROM ${table} WHERE seq < 0 OR seq >= $1`, [records]);
  await db.query(`UPDATE ${table} SET is_current = true WHERE NOT is_current`);
}

/** What stands before and behind the tuples of a COPY: signature, no flags, no extension; and the end. */
const [HEADER, TRAILER] = [
  Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1'),
  Buffer.from([0xff, 0xff]),
];

/** Stages tuples of {@link COLUMNS} by one COPY. */
export async function stageTuples(session: Session, { table }: Staging, tuples: Buffer): Promise<void> {
  const copy = session.client.query(copyFrom(`COPY ${table} (${COLUMNS}) FROM STDIN (FORMAT binary)`));
  const finished = once(copy, 'finish');
  copy.write(HEADER);
  copy.write(tuples);
  copy.end(TRAILER);
  await finished;
}

/** Notes references that may stand in the list more than once. */
export async function noteMaybeRepeated(db: Queryable, references: readonly string[]): Promise<void> {
  if (references.length === 0) return;
  await db.query('INSERT INTO maybe_repeated SELECT unnest($1::text[])', [references]);
}

// One transaction read twice (rows move between pages while we read): the later reading is the fresher one. Rows
// without an id cannot be told apart, so the one that says most stands for them, and money that went back says most.
const FRESHEST = `
  SELECT DISTINCT ON (reference, service_id) h.* FROM history_rows h JOIN repeated USING (reference)
  ORDER BY reference, service_id,
    CASE WHEN service_id IS NULL THEN
      array_position(ARRAY['reversed', 'paid', 'unknown', 'unreadable', 'pending', 'expired', 'failed'], status) END,
    seq DESC`;

// Several transactions under one reference: attempts that failed do not matter beside one that paid, and two that paid
// are two charges. Money in two currencies cannot be added.
const ONE_PER_REFERENCE = `
  SELECT -1, reference, bool_or(is_named), min(service_id),
    CASE WHEN count(DISTINCT currency) FILTER (WHERE status = 'paid') > 1 THEN 'unreadable'
      ELSE (array_agg(status ORDER BY
        array_position(ARRAY['paid', 'reversed', 'unknown', 'unreadable', 'pending', 'expired', 'failed'], status)))[1] END,
    sum(amount) FILTER (WHERE status = 'paid'),
    min(currency) FILTER (WHERE status = 'paid'),
    bool_or(is_money_assumed AND status = 'paid'),
    greatest(count(*) FILTER (WHERE status = 'paid'), 1)
  FROM freshest GROUP BY reference`;

/**
 * Folds rows that share a reference into one: best evidence decides. Most histories have none. What was read stays
 * beneath, because a reading that goes on later has to fold it again.
 * @param areNoted whether every reference that repeats was noted by {@link noteMaybeRepeated}
 */
export async function foldHistory(session: Session, { table }: Staging, areNoted: boolean): Promise<void> {
  await session.query(`ANALYZE ${table}`);
  await noteRepeated(session, areNoted);
  const [some] = await session.query('SELECT FROM repeated LIMIT 1');
  if (some === undefined) return;
  await session.query(`
    WITH freshest AS (${FRESHEST}), folded AS (${ONE_PER_REFERENCE}),
      folded_up AS (UPDATE ${table} h SET is_current = false FROM repeated r WHERE h.reference = r.reference)
    INSERT INTO ${table} SELECT * FROM folded`);
}

/** Remembers that this run has asked about a payment, and whether that paid it. */
export async function noteVerified(
  db: Queryable,
  answers: readonly { reference: string; hasReleased: boolean }[],
): Promise<void> {
  await db.query(
    `INSERT INTO verified_payments SELECT * FROM unnest($1::text[], $2::boolean[]) ON CONFLICT DO NOTHING`,
    [answers.map(({ reference }) => reference), answers.map(({ hasReleased }) => hasReleased)],
  );
}

/** Named in a statement rather than joined: a look into a table of this connection would keep it from using every core. */
const MANY_TO_NAME = 10_000;

/** Table `repeated`: references that stand in the list more than once. */
async function noteRepeated(session: Session, areNoted: boolean): Promise<void> {
  const among = async (within: string, values: readonly unknown[] = []): Promise<void> => {
    await session.query(
      `CREATE TEMPORARY TABLE repeated AS
       SELECT reference FROM history_rows ${within} GROUP BY reference HAVING count(*) > 1`,
      values,
    );
  };
  if (!areNoted) return among('');
  const noted = await session.query<{ reference: string }>(
    'SELECT DISTINCT reference FROM maybe_repeated LIMIT $1',
    [MANY_TO_NAME],
  );
  if (noted.length < MANY_TO_NAME)
    return among('WHERE reference = ANY($1)', [noted.map(({ reference }) => reference)]);
  await session.query('ANALYZE maybe_repeated');
  return among('JOIN (SELECT DISTINCT reference FROM maybe_repeated) noted USING (reference)');
}
