import type { Database } from '../platform/database/database.ts';
import type { Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { Money } from '../platform/money.ts';
import { maskEmail } from '../reporting/activity.ts';

/** What the list of cases tells of a payment of ours. */
type CasePayment = { expected: Money; customer: string };

/** The payments of ours under these references, with their masked customers. */
export async function casePayments(
  database: Database,
  mode: Mode,
  references: readonly Reference[],
): Promise<Map<string, CasePayment>> {
  const rows = await database.query<{
    reference: Reference;
    amount: bigint;
    currency: string;
    email: string;
  }>(
    `SELECT p.reference, p.amount, p.currency, o.email FROM payments p JOIN orders o ON o.id = p.order_id
     WHERE p.mode = $1 AND p.reference = ANY($2)`,
    [mode, references],
  );
  return new Map(
    rows.map(({ reference, amount, currency, email }) => [
      reference,
      { expected: { amount, currency }, customer: maskEmail(email) },
    ]),
  );
}
