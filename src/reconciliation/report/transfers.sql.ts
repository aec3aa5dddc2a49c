import type { Transfer } from '../../gateway/balances.ts';
import type { Queryable } from '../../platform/database/database.ts';
import type { RunId } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';

/** A transfer that the list shows otherwise than when it was first seen. Minor units, as texts. */
export type TransferChange = {
  reference: string;
  currency: string;
  /** As first seen. */
  amount: string;
  /** As listed now; null: it is no longer listed. */
  listed: string | null;
  /** The status as listed now; null: as above. */
  status: string | null;
};

/** How the listed transfers compare with those that were seen before. */
export type TransferMatch = {
  listed: number;
  /** Without a reference: part of the sum only. */
  unnamed: number;
  /** How many changes there are; `changes` has the first {@link MAX_CHANGES}. */
  changed: number;
  changes: TransferChange[];
};

const MAX_CHANGES = 100;
const MAX_AMOUNT = 2n ** 63n - 1n;

const LISTED = `listed AS (SELECT * FROM jsonb_to_recordset($2)
  AS one (reference text, currency text, amount bigint, fee bigint, status text, "isBack" boolean))`;

/**
 * Matches transfers with those seen before. A change of amount is named as long as it lasts, one that
 * came back or is no longer listed once. Writes nothing.
 */
export async function matchTransfers(
  db: Queryable,
  mode: Mode,
  transfers: readonly Transfer[],
): Promise<TransferMatch> {
  const { rows, unnamed } = byReference(transfers);
  const changes = await db.query<TransferChange>(
    `WITH ${LISTED}
     SELECT t.reference, t.currency, t.amount::text, l.amount::text AS listed, l.status
     FROM transfers t LEFT JOIN listed l ON (l.reference, l.currency) = (t.reference, t.currency)
     WHERE t.mode = $1 AND ((l.reference IS NULL AND t.gone_at IS NULL) OR l.amount <> t.amount
       OR (l."isBack" AND t.returned_at IS NULL)) ORDER BY t.id`,
    [mode, rows],
  );
  return {
    listed: transfers.length,
    unnamed,
    changed: changes.length,
    changes: changes.slice(0, MAX_CHANGES),
  };
}

/**
 * Keeps what is listed: the amount as first seen, the status as last. What is not listed is marked as gone.
 */
export async function keepTransfers(
  db: Queryable,
  mode: Mode,
  { transfers, runId }: { transfers: readonly Transfer[]; runId: RunId },
): Promise<void> {
  await db.query(
    `WITH ${LISTED}, gone AS (UPDATE transfers t SET gone_at = now() WHERE t.mode = $1 AND t.gone_at IS NULL
       AND NOT EXISTS (SELECT FROM listed l WHERE (l.reference, l.currency) = (t.reference, t.currency)))
     INSERT INTO transfers AS t (mode, reference, currency, amount, fee, status, first_run_id, returned_at)
     SELECT $1, reference, currency, amount, fee, status, $3, CASE WHEN "isBack" THEN now() END FROM listed
     ON CONFLICT (mode, reference, currency) DO UPDATE SET status = excluded.status, last_seen_at = now(),
       fee = coalesce(t.fee, excluded.fee), gone_at = NULL,
       returned_at = CASE WHEN excluded.returned_at IS NOT NULL THEN coalesce(t.returned_at, now()) END`,
    [mode, byReference(transfers).rows, runId],
  );
}

/**
 * One row for each reference and currency: what was sent under it. A transfer that failed and was sent
 * again under its reference left the balance once.
 */
function byReference(transfers: readonly Transfer[]): { rows: string; unnamed: number } {
  const found = new Map<string, Transfer & { reference: string }>();
  let unnamed = 0;
  for (const one of transfers) {
    // A database and a terminal cannot take all characters, and an index no long text.
    const reference = one.reference?.replace(/[\p{Cc}\p{Cs}]/gu, '?').slice(0, 200) ?? '';
    if (reference === '') {
      unnamed += 1;
      continue;
    }
    const key = `${one.currency} ${reference}`;
    const other = found.get(key);
    if (other === undefined || (other.isBack && !one.isBack)) found.set(key, { ...one, reference });
    else if (other.isBack === one.isBack) {
      const fee = one.fee === null ? other.fee : (other.fee ?? 0n) + one.fee;
      found.set(key, { ...other, amount: other.amount + one.amount, fee });
    }
  }
  const rows = [...found.values()].filter(({ amount, fee }) =>
    [amount, -amount, fee ?? 0n].every((minor) => minor <= MAX_AMOUNT),
  );
  const texts = rows.map((row) => ({ ...row, amount: String(row.amount), fee: row.fee?.toString() ?? null }));
  return { rows: JSON.stringify(texts), unnamed: unnamed + found.size - rows.length };
}
