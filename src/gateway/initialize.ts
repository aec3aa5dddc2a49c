import { isLoopback } from '../platform/config-fields.ts';
import type { Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import { formatMajor, type Money } from '../platform/money.ts';
import { isFailedEnvelope } from './records/evidence.ts';
import { mayBeJson, type Client, type ClientAnswer } from './http/client.ts';
import type { Dialect } from './dialect/dialect.ts';
import { REDACTED } from './http/redact-key.ts';
import { INITIALIZE_PATH, initializeBody } from './messages.ts';
import { firstAt, tryReadJson, stringOf } from './dialect/json-pointer.ts';
import { readRetryHint } from './traffic/backoff.ts';
import { ClientError } from './errors.ts';

export type InitializeRequest = {
  email: string;
  money: Money;
  reference: Reference;
  redirectUrl: string;
  /** Milliseconds for the call, when less than the usual 10 s are left. */
  withinMs?: number;
};

/**
 * Every result of initialize is exactly one of these.
 * - `not-sent`: nothing can have arrived; the same payment may be sent later.
 * - `opened`: the shopper may be sent to `checkoutUrl`.
 * - `refused`: the service said no and will not charge.
 * - `ambiguous`: a checkout may be open. The reference is never sent again; verify is asked about it.
 */
export type InitializeResult =
  | { outcome: 'opened'; checkoutUrl: string }
  | {
      outcome: 'not-sent' | 'refused';
      reason: string;
      /** When a retry is worthwhile, if that is known. */
      retryAfterSec: number | null;
    }
  | {
      outcome: 'ambiguous';
      reason: string;
      retryAfterSec: number | null;
      /** The service asks for a pause: 429, or a Retry-After. */
      asksToWait: boolean;
      /** The configuration fault, as a sentence: every checkout ends like this one until it is mended. */
      misconfigured?: string;
    };

/** The reason when the service does not accept our key: the order is not at fault, and stays pending. */
export const KEY_REFUSED = 'key-refused';

// A shopper waits: 10 s in all, for a single call.
const HEADERS_MS = 8_000;
const TOTAL_MS = 10_000;
const MAX_BYTES = 64 * 1024;

/** Statuses that, with a JSON body, mean that the service did not act. 401 and 403 are handled before. */
const REFUSALS = new Set([400, 404, 405, 413, 415, 422]);

/** Asks the service to open a checkout: one call, never repeated. Never throws for what the service does. */
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
    const totalMs = Math.min(request.withinMs ?? TOTAL_MS, TOTAL_MS);
    const limits = { headersMs: HEADERS_MS, totalMs, maxBytes: MAX_BYTES };
    return classify(
      await client.call({ method: 'POST', path: INITIALIZE_PATH, body, ...limits }),
      dialect,
      rule,
    );
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return error.sent
      ? ambiguous(error.message)
      : { outcome: 'not-sent', reason: error.message, retryAfterSec: null };
  }
}

function refused(reason: string): InitializeResult {
  return { outcome: 'refused', reason, retryAfterSec: null };
}

function ambiguous(
  reason: string,
  retryAfterSec: number | null = null,
  asksToWait = false,
): InitializeResult {
  return { outcome: 'ambiguous', reason, retryAfterSec, asksToWait };
}

function classify(answer: ClientAnswer, dialect: Dialect, rule: CheckoutUrlRule): InitializeResult {
  const { status, headers } = answer;
  const document = mayBeJson(headers) ? tryReadJson(answer.body) : undefined;
  // 401 is the only error that the service's reference shows, and it shows no body for it. A bare 403
  // may be the page of a firewall that blocked the answer: the request may have been acted on.
  if (status === 401 || (status === 403 && document !== undefined)) return refused(KEY_REFUSED);
  if (REFUSALS.has(status) && document !== undefined) return refused(`http-${status}`);
  if (status < 200 || status > 299) {
    const retryAfterSec = readRetryHint(answer)?.sec ?? null;
    return ambiguous(`http-${status}`, retryAfterSec, status === 429 || headers['retry-after'] !== undefined);
  }
  if (document === undefined) return ambiguous('answer-is-not-json');
  if (isFailedEnvelope(document)) return ambiguous('answer-says-failed');
  const url = firstAt(document, dialect.initialize.checkoutUrl, stringOf);
  if (url === null) return ambiguous('no-checkout-address-in-the-answer');
  // An address that held our key is broken once redacted, and must not be used unredacted.
  const checkoutUrl = url.includes(REDACTED) ? null : acceptCheckoutUrl(url, rule);
  if (checkoutUrl !== null) return { outcome: 'opened', checkoutUrl };
  const misconfigured = url.includes(REDACTED) ? null : unlistedHostIn(url, rule);
  return { ...ambiguous('checkout-address-not-allowed'), ...(misconfigured !== null && { misconfigured }) };
}

/** Where a shopper may be sent. With no `hosts`: in test mode any https host, and http on loopback. */
export type CheckoutUrlRule = { mode: Mode; hosts: readonly string[] };

const MAX_LENGTH = 2_048;

/**
 * The address, normalised, if a shopper may be sent there; else null. The framework's redirect passes
 * `javascript:` and `//host` through unchanged, so the check is made here: https, an allowed host, no
 * user name, and no port but the default one, unless the list of hosts names it.
 */
export function acceptCheckoutUrl(text: string, { mode, hosts }: CheckoutUrlRule): string | null {
  if (text.length > MAX_LENGTH || /[\s\\]/.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return null;
  const onThisMachine = mode === 'test' && isLoopback(url) && /^https?:$/.test(url.protocol);
  const listed =
    hosts.length === 0 ? mode === 'test' : hosts.includes(url.hostname) || hosts.includes(url.host);
  const isPublic = url.protocol === 'https:' && (url.port === '' || hosts.includes(url.host));
  return listed && (isPublic || onThisMachine) ? url.href : null;
}

const MAX_HOST = 253;

/**
 * Tells the operator that {@link acceptCheckoutUrl} refuses an address because its host is not listed;
 * null: the host is not the reason. A host is no secret, and `URL` has made it printable.
 */
export function unlistedHostIn(text: string, { mode, hosts }: CheckoutUrlRule): string | null {
  const hostname = URL.canParse(text) ? new URL(text).hostname.slice(0, MAX_HOST) : '';
  if (hostname === '' || (hosts.length === 0 ? mode === 'test' : hosts.includes(hostname))) return null;
  return `the service's checkout address has the host ${hostname}, which is not in CHECKOUT_HOSTS`;
}
