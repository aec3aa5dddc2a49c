import { once } from 'node:events';
import { from as copyFrom } from 'pg-copy-streams';
import type { HistoryRow } from '../../gateway/history.ts';
import type { Queryable } from '../../platform/database.ts';
import type { Session } from '../repository.ts';

/**
 * The history of one run, in temporary tables of its connection: they cost no write-ahead log and vanish with it.
 * `history_rows` has one row per reference once {@link foldHistory} has run.
 */
export async function createStaging(session: Session): Promise<void> {
  await session.query(`
    CREATE TEMPORARY TABLE history_rows (
      seq             integer NOT NULL,
      reference       text NOT NULL,
      -- False: the record has no readable reference, and "reference" is made from its digest.
      is_named        boolean NOT NULL,
      service_id      text,
      status          text NOT NULL,
      status_word     text,
      amount          bigint,
      currency        text,
      is_money_assumed boolean NOT NULL,
      -- How many transactions took money under this reference.
      charges         integer NOT NULL DEFAULT 1
    )`);
  await session.query(`
    CREATE TEMPORARY TABLE verified_payments (reference text PRIMARY KEY, has_released boolean NOT NULL)`);
}

const COPY_HISTORY = `COPY history_rows
  (seq, reference, is_named, service_id, status, status_word, amount, currency, is_money_assumed) FROM STDIN`;

/** Stages rows. One COPY per batch, and none is open while the service is read. */
export async function stageRows(
  session: Session,
  rows: readonly HistoryRow[],
  firstSeq: number,
): Promise<void> {
  if (rows.length === 0) return;
  const lines = rows.map((row, at) => lineOf(row, firstSeq + at));
  const copy = session.client.query(copyFrom(COPY_HISTORY));
  const finished = once(copy, 'finish');
  copy.end(Buffer.from(lines.join('')));
  await finished;
}

function lineOf(row: HistoryRow, seq: number): string {
  const reference = row.reference ?? `record:${row.digest ?? ''}`;
  const isNamed = row.reference === null ? 'f' : 't';
  const isAssumed = row.isMoneyAssumed ? 't' : 'f';
  return `${seq}\t${text(reference)}\t${isNamed}\t${text(row.serviceId)}\t${row.status}\t${text(row.statusWord)}\t${row.amount ?? '\\N'}\t${row.currency ?? '\\N'}\t${isAssumed}\n`;
}

const SPECIAL = /[\\\t\n\r]/;
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** COPY's text format: what would end a field or a row is escaped. */
function text(value: string | null): string {
  if (value === null) return '\\N';
  if (!SPECIAL.test(value)) return value;
  return value.replace(/[\\\t\n\r]/g, (found) => ESCAPES[found] ?? found);
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
  SELECT min(seq), reference, bool_or(is_named), min(service_id),
    CASE WHEN count(DISTINCT currency) FILTER (WHERE status = 'paid') > 1 THEN 'unreadable'
      ELSE (array_agg(status ORDER BY
        array_position(ARRAY['paid', 'reversed', 'unknown', 'unreadable', 'pending', 'expired', 'failed'], status)))[1] END,
    min(status_word),
    sum(amount) FILTER (WHERE status = 'paid'),
    min(currency) FILTER (WHERE status = 'paid'),
    bool_or(is_money_assumed AND status = 'paid'),
    greatest(count(*) FILTER (WHERE status = 'paid'), 1)
  FROM freshest GROUP BY reference`;

/** Folds rows that share a reference into one: best evidence decides. Most histories have none. */
export async function foldHistory(session: Session): Promise<void> {
  await session.query(`
    CREATE TEMPORARY TABLE repeated AS SELECT reference FROM history_rows GROUP BY reference HAVING count(*) > 1`);
  await session.query(`
    WITH freshest AS (${FRESHEST}), folded AS (${ONE_PER_REFERENCE}),
      gone AS (DELETE FROM history_rows h USING repeated r WHERE h.reference = r.reference)
    INSERT INTO history_rows SELECT * FROM folded`);
  await session.query('ANALYZE history_rows');
}

/** References that were read, each counted once. */
export async function countReferences(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: bigint }>('SELECT count(*) FROM history_rows WHERE is_named');
  return Number(row?.count ?? 0n);
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
