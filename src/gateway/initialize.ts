import type { Money } from '../platform/money.ts';
import type { ServiceAdapter } from './adapter.ts';
import { toServiceAmount } from './amounts.ts';
import { checkCheckoutUrl } from './checkout-url.ts';
import type { Answer } from './client.ts';
import { Unanswered } from './errors.ts';
import { storable } from './evidence.ts';
import type { Service } from './gateway.ts';

export type InitializeRequest = { email: string; money: Money; reference: string; redirectUrl: string };

/**
 * The result of initialize is exactly one of these.
 * - `opened`: the shopper may be sent to `checkoutUrl`.
 * - `refused`: the service refused and will not charge.
 * - `not-sent`: the request cannot have arrived.
 * - `unknown`: a checkout may be open. The reference is never sent again; we verify it.
 */
export type InitializeResult =
  | { outcome: 'opened'; checkoutUrl: string }
  | { outcome: 'refused'; reason: string }
  | { outcome: 'not-sent' | 'unknown'; reason: string; retryAfterSec: number | null };

const PATH = '/v1/transactions/initialize';
/** A shopper waits, so a single call may take ten seconds in all. */
export const INITIALIZE_MS = 10_000;
const MAX_BYTES = 64 * 1024;
/** How long a shopper's call waits for its turn. */
const WAIT_MS = 3_000;
/**
 * With a JSON body, these statuses mean that the service did not act. 409 is not among them,
 * because the service may have acted on an earlier request.
 */
const REFUSALS = new Set([400, 404, 405, 413, 415, 422]);

/**
 * Asks the service to open a checkout. It makes one call and never retries. It does not throw,
 * whatever the service does.
 */
export async function initialize(service: Service, request: InitializeRequest): Promise<InitializeResult> {
  const { adapter } = service;
  const { money, email, reference, redirectUrl } = request;
  const { currency } = money;
  const amount = toServiceAmount(money, adapter);
  if (amount === null) return { outcome: 'refused', reason: `the service cannot represent this amount of ${currency}` };
  const fields = { email, amount, localCurrency: currency, amountCurrency: 'local' as const, reference, redirectUrl };
  let body: string;
  try {
    body = JSON.stringify(adapter.initialize.body?.(fields) ?? fields);
  } catch (error) {
    const reason = storable(`the adapter cannot write the request: ${String(error)}`);
    return { outcome: 'not-sent', reason, retryAfterSec: null };
  }
  try {
    const call = { method: 'POST' as const, path: PATH, body, totalMs: INITIALIZE_MS, maxBytes: MAX_BYTES };
    return classify(service, await service.ask('initialize', 'interactive', WAIT_MS, call));
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
    return { outcome: error.sent ? 'unknown' : 'not-sent', reason: error.message, retryAfterSec: error.retryAfterSec };
  }
}

function classify(
  { adapter, mode, checkoutHosts }: Service,
  { status, json, retryAfterSec }: Answer,
): InitializeResult {
  const unknown = (reason: string): InitializeResult => ({ outcome: 'unknown', reason, retryAfterSec });
  const isRefusal = REFUSALS.has(status);
  if (!isRefusal && (status < 200 || status > 299)) return unknown(`HTTP ${status}`);
  if (json === undefined) return unknown('its answer is not JSON');
  let found: ReturnType<ServiceAdapter['initialize']['checkoutUrl']> = null;
  try {
    found = adapter.initialize.checkoutUrl(json.value);
  } catch (error) {
    if (!isRefusal) return unknown(storable(`the adapter cannot read its answer: ${String(error)}`));
  }
  if (typeof found === 'object' && found !== null) return { outcome: 'refused', reason: storable(found.refused) };
  if (isRefusal) return { outcome: 'refused', reason: `HTTP ${status}` };
  if (found === null) return unknown('its answer contains no checkout address');
  const checked = checkCheckoutUrl(found, mode, checkoutHosts);
  return 'url' in checked
    ? { outcome: 'opened', checkoutUrl: checked.url }
    : unknown(`its checkout address ${checked.fault}`);
}
