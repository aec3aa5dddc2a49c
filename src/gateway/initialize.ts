import { formatMajor, type Money } from '../platform/money.ts';
import { acceptCheckoutUrl, type CheckoutUrlRule } from './checkout-url.ts';
import type { Dialect } from './dialect.ts';
import { INITIALIZE_PATH, initializeBody } from './messages.ts';
import { firstAt, readJson, stringOf } from './reading.ts';
import { ClientError, type Client, type ClientAnswer } from './client.ts';

export type InitializeRequest = { email: string; money: Money; reference: string; redirectUrl: string };

/**
 * Every result of initialize is exactly one of these.
 * - `not-sent`: nothing can have arrived; the same payment may be sent later.
 * - `opened`: the shopper may be sent to `checkoutUrl`.
 * - `refused`: the service said no and will not charge.
 * - `ambiguous`: it may have opened a checkout or not. The reference is never sent again; verify watches it.
 */
export type InitializeResult =
  | { outcome: 'opened'; checkoutUrl: string }
  | { outcome: 'not-sent' | 'ambiguous' | 'refused'; reason: string };

/** The reason when it is our key that the service does not accept: the order is not to blame, and stays pending. */
export const KEY_REFUSED = 'key-refused';

// A person waits: 10 s in all. Within them the service is asked once.
const HEADERS_MS = 8_000;
const TOTAL_MS = 10_000;
const MAX_BYTES = 64 * 1024;

/** Statuses by which an HTTP service says that it did not act. Anything else that is not 2xx leaves it open. */
const REFUSALS = new Set([400, 404, 405, 413, 415, 422]);

/** Asks the service to open a checkout: one call, never repeated. Does not throw for anything the service does. */
export async function initialize(
  client: Client,
  dialect: Dialect,
  rule: CheckoutUrlRule,
  request: InitializeRequest,
): Promise<InitializeResult> {
  const body = initializeBody({
    email: request.email,
    amount: dialect.amountUnit === 'major' ? formatMajor(request.money) : request.money.amount.toString(),
    localCurrency: request.money.currency,
    reference: request.reference,
    redirectUrl: request.redirectUrl,
  });
  try {
    const limits = { headersMs: HEADERS_MS, totalMs: TOTAL_MS, maxBytes: MAX_BYTES };
    return classify(
      await client.call({ method: 'POST', path: INITIALIZE_PATH, body, ...limits }),
      dialect,
      rule,
    );
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return { outcome: error.sent ? 'ambiguous' : 'not-sent', reason: error.message };
  }
}

function classify(answer: ClientAnswer, dialect: Dialect, rule: CheckoutUrlRule): InitializeResult {
  const { status } = answer;
  const document = parsed(answer.body);
  if (status === 401 || status === 403) return { outcome: 'refused', reason: KEY_REFUSED };
  if (REFUSALS.has(status) && document !== null) return { outcome: 'refused', reason: `http-${status}` };
  if (status < 200 || status > 299) return { outcome: 'ambiguous', reason: `http-${status}` };
  if (document === null) return { outcome: 'ambiguous', reason: 'answer-is-not-json' };
  const url = firstAt(document.value, dialect.initialize.checkoutUrl, stringOf);
  if (url === null) return { outcome: 'ambiguous', reason: 'no-checkout-address-in-the-answer' };
  const checkoutUrl = acceptCheckoutUrl(url, rule);
  return checkoutUrl === null
    ? { outcome: 'ambiguous', reason: 'checkout-address-not-allowed' }
    : { outcome: 'opened', checkoutUrl };
}

function parsed(body: Buffer): { value: unknown } | null {
  try {
    return { value: readJson(body) };
  } catch {
    return null;
  }
}
