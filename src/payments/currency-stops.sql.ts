import type { Queryable } from '../platform/database/database.ts';
import type { Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

export type StoppedCurrency = { currency: string; reference: Reference; stoppedAt: Date };

/** Currencies whose new checkouts are stopped, and the payment that stopped each. */
export function stoppedCurrencies(db: Queryable, mode: Mode): Promise<StoppedCurrency[]> {
  return db.query(
    `SELECT currency, reference, stopped_at AS "stoppedAt" FROM stopped_currencies
     WHERE mode = $1 ORDER BY stopped_at`,
    [mode],
  );
}

/** Lets checkouts of a currency begin again. @returns false when they are not stopped */
export async function releaseCurrency(
  db: Queryable,
  mode: Mode,
  currency: string,
  by: string,
  note: string,
): Promise<boolean> {
  const rows = await db.query(
    `WITH released AS (
       UPDATE currency_stops SET released_at = now(), released_by = $3, note = $4
       WHERE mode = $1 AND currency = $2 AND released_at IS NULL
       RETURNING currency, reference
     ), entry AS (
       INSERT INTO journal (order_id, event, reference, cause, detail)
       SELECT p.order_id, 'currency-released', p.reference, 'operator:' || $3,
         jsonb_build_object('currency', r.currency, 'note', $4::text)
       FROM released r JOIN payments p ON p.reference = r.reference
     )
     SELECT currency FROM released`,
    [mode, currency, by, note],
  );
  return rows.length === 1;
}
