import type { Call } from './calls.ts';
import type { Faults } from './faults.ts';
import type { Ledger, Row } from './ledger.ts';
import { amountNumber } from './money.ts';
import type { Webhooks } from './webhooks.ts';

/** The complete state of a running sandbox. */
export type State = {
  /** The {base_url} of the service's reference, without a final slash. */
  url: string;
  key: string;
  /** Milliseconds before each answer of the service. */
  latencyMs: number;
  ledger: Ledger;
  faults: Faults;
  /** The newest calls, oldest first. */
  calls: Call[];
  webhooks: Webhooks;
  /** Aborted when the sandbox closes. */
  closing: AbortSignal;
};

const LATE_MS = 2_000;
const OVERTAKEN_MS = 200;

export const DELIVERIES = ['once', 'lost', 'late', 'twice', 'reordered'] as const;

/**
 * Sends a webhook about the current state of a row.
 * @param delivery how the webhook is delivered; reordered: an older event follows it
 * @param delayMs milliseconds before the first webhook
 */
export function notify(webhooks: Webhooks, row: Row, delivery: (typeof DELIVERIES)[number], delayMs: number): void {
  if (delivery === 'lost') return;
  webhooks.send(messageAbout(row), delivery === 'late' && delayMs === 0 ? LATE_MS : delayMs);
  if (delivery === 'twice') webhooks.send(messageAbout(row), delayMs);
  if (delivery === 'reordered') webhooks.send(messageAbout(row, 'PENDING'), delayMs + OVERTAKEN_MS);
}

/** @param status the status word of the event; default: that of the row */
export function messageAbout({ transaction, amount, currency, refunded, ...row }: Row, status = row.status): object {
  const event = status === 'SUCCESS' && refunded > 0n ? 'refunded' : status.toLowerCase();
  const data = { reference: transaction.reference, status, amount: amountNumber(amount), currency };
  return { event: `transaction.${event}`, data };
}
