import type { CallReport } from '../../../local/sandbox/calls.ts';
import type { LedgerEntry } from '../../../local/sandbox/control/entry.ts';
import { parseMajor, type Money } from '../../../src/platform/money.ts';
import type { Queryable } from '../../../src/platform/database/database.ts';

/** What the service did, by its own books. */
export type ServiceBooks = { ledger: readonly LedgerEntry[]; calls: CallReport };

/**
 * The whole ledger and all calls of a stand-in. @throws when a call was forgotten: half a log proves nothing
 */
export async function readServiceBooks(sandboxUrl: string): Promise<ServiceBooks> {
  const read = async (path: string): Promise<unknown> =>
    (await fetch(`${sandboxUrl}/sandbox/${path}`)).json();
  const { transactions } = (await read('transactions')) as { transactions: LedgerEntry[] };
  const calls = (await read('calls')) as CallReport;
  if (calls.forgotten > 0) throw new Error(`the stand-in has forgotten ${calls.forgotten} calls`);
  return { ledger: transactions, calls };
}

/** A payment with what became of it here. */
export type PaymentRow = Money & {
  reference: string;
  orderId: string;
  mode: string;
  status: string;
  orderStatus: string;
  ageSec: number;
  checks: number;
  hints: number;
  /** Answers that were kept: each that said something new. */
  news: number;
  /** When an answer closed it as failed or expired; null while none did, or nobody had to ask. */
  closedAt: Date | null;
  checkoutUrl: string | null;
  /** When the evidence of its release was stored; null while it released nothing. */
  provenAt: Date | null;
  /** What came, in minor units, where a person accepted it though it is less or more than was asked for. */
  accepted?: bigint | null;
  /** Class and money of its suspense item: one that waits, or one that a person has decided about. */
  suspense: (Money & { class: string }) | null;
};

type Row = Omit<PaymentRow, 'suspense'> & {
  strayClass: string | null;
  strayAmount: bigint | null;
  strayCurrency: string | null;
};

/** @param rightTime what the time was when the database's clock told so */
export async function readPayments(db: Queryable, rightTime: (told: Date) => Date): Promise<PaymentRow[]> {
  const rows = await db.query<Row>(
    `SELECT p.reference, p.order_id AS "orderId", p.mode, p.amount, p.currency, p.status, o.status AS "orderStatus", p.checks, p.hints,
       (SELECT count(*)::int FROM verifications e WHERE e.reference = p.reference) AS news,
       (SELECT max(j.at) FROM journal j JOIN verifications e USING (reference)
         WHERE j.order_id = p.order_id AND j.reference = p.reference
           AND j.event IN ('payment-failed', 'payment-expired')) AS "closedAt",
       p.checkout_url AS "checkoutUrl", extract(epoch FROM now() - p.created_at)::float8 AS "ageSec", v.answered_at AS "provenAt",
       (SELECT a.amount FROM acceptances a WHERE a.id = r.acceptance_id) AS accepted,
       s.class AS "strayClass", s.amount AS "strayAmount", s.currency AS "strayCurrency"
     FROM payments p LEFT JOIN orders o ON o.id = p.order_id
     LEFT JOIN releases r ON r.reference = p.reference LEFT JOIN verifications v ON v.id = r.verification_id
     LEFT JOIN suspense_items s ON s.reference = p.reference AND s.mode = p.mode
       AND (s.closed_at IS NULL OR s.decision NOT IN ('earned', 'accept'))`,
  );
  return rows.map(({ strayClass, strayAmount, strayCurrency, ...payment }) => ({
    ...payment,
    closedAt: payment.closedAt && rightTime(payment.closedAt),
    provenAt: payment.provenAt && rightTime(payment.provenAt),
    suspense:
      strayClass === null || strayAmount === null || strayCurrency === null
        ? null
        : { class: strayClass, amount: strayAmount, currency: strayCurrency },
  }));
}

/** Transactions that are not ours and of which a person was told: open findings, or decided money. */
export async function readOrphans(db: Queryable): Promise<(Money & { reference: string })[]> {
  return db.query(
    `SELECT reference, coalesce(actual, 0) AS amount, coalesce(currency, '') AS currency FROM findings
     WHERE class = 'unknown_reference' AND closed_at IS NULL
     UNION SELECT reference, amount, currency FROM suspense_items
     WHERE class = 'unknown_reference' AND decision <> 'earned'`,
  );
}

/** The stand-in's money, exact. */
export function moneyOf(text: { amount: string; currency: string }): Money {
  const amount = parseMajor(text.amount, text.currency);
  if (amount === null) throw new Error(`the ledger holds ${text.amount} ${text.currency}`);
  return { amount, currency: text.currency };
}

export function isSame(a: Money, b: Money): boolean {
  return a.amount === b.amount && a.currency === b.currency;
}
