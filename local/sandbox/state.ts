import type { Call } from './calls.ts';
import type { Faults } from './faults.ts';
import type { Ledger, Row } from './ledger.ts';
import { amountNumber } from './money.ts';
import type { Webhooks } from './webhooks.ts';

/** All that one running sandbox consists of. */
export type State = {
  /** The integrator's {base_url}; no slash at its end. */
  url: string;
  key: string;
  /** Before each answer of the service, in milliseconds. */
  latencyMs: number;
  ledger: Ledger;
  faults: Faults;
  /** The newest, oldest first. */
  calls: Call[];
  webhooks: Webhooks;
  /** Aborted when it closes. */
  closing: AbortSignal;
};

const LATE_MS = 2_000;
const OVERTAKEN_MS = 200;

export const DELIVERIES = ['once', 'lost', 'late', 'twice', 'reordered'] as const;

/**
 * Tells the integrator how a row stands now.
 * @param delivery what befalls the webhook; reordered: older news comes after it
 * @param delayMs before the first one, in milliseconds
 */
export function notify(webhooks: Webhooks, row: Row, delivery: (typeof DELIVERIES)[number], delayMs: number): void {
  if (delivery === 'lost') return;
  webhooks.send(messageAbout(row), delivery === 'late' && delayMs === 0 ? LATE_MS : delayMs);
  if (delivery === 'twice') webhooks.send(messageAbout(row), delayMs);
  if (delivery === 'reordered') webhooks.send(messageAbout(row, 'PENDING'), delayMs + OVERTAKEN_MS);
}

/** @param status the word that is told, as the row stands where it is left out */
export function messageAbout({ transaction, amount, currency, refunded, ...row }: Row, status = row.status): object {
  const event = status === 'SUCCESS' && refunded > 0n ? 'refunded' : status.toLowerCase();
  const data = { reference: transaction.reference, status, amount: amountNumber(amount), currency };
  return { event: `transaction.${event}`, data };
}
