import type { Logger } from 'pino';
import type { Secret } from '../platform/secret.ts';
import type { ServiceAdapter, Window } from './adapter.ts';
import type { CheckoutUrlRule } from './checkout-url.ts';
import { createClient, type ClientRequest } from './client.ts';
import { KeyRefused } from './errors.ts';
import type { Evidence, Mode } from './evidence.ts';
import { readHistory, type End, type Page } from './history.ts';
import { initialize, type InitializeRequest, type InitializeResult } from './initialize.ts';
import { createRedactor } from './redact.ts';
import { createReferences, type References } from './references.ts';
import { retryAfterSec } from './retry-after.ts';
import { createTraffic, type Endpoint, type Share } from './traffic.ts';
import { verify } from './verify.ts';

/** The payment service as the rest of the program knows it. The key is in this folder alone. */
export type Gateway = {
  mode: Mode;
  adapter: ServiceAdapter;
  references: References;
  /** Never throws for what the service does. */
  initialize(request: InitializeRequest): Promise<InitializeResult>;
  /** @param withinMs milliseconds @throws {Unanswered} when nothing was learnt */
  verify(reference: string, share: Share, withinMs?: number): Promise<Evidence>;
  /** @throws {Unanswered} when a page could not be had */
  history(window: Window, from?: string | null): AsyncGenerator<Page, End>;
  /** Whether the newest answer refused our key. */
  isKeyRefused(): boolean;
  /** Takes our key out of a text from outside. */
  redact(text: string): string;
  close(): Promise<void>;
};

export type JsonAnswer = {
  status: number;
  /** Without our key. */
  text: string;
  /** undefined: the body is not JSON. */
  json: { value: unknown } | undefined;
  retryAfterSec: number | null;
};
/** Makes one call when its turn comes. @throws {Unanswered} without a usable HTTP answer, {@link KeyRefused} among them */
export type Ask = (endpoint: Endpoint, share: Share, waitMs: number, request: ClientRequest) => Promise<JsonAnswer>;

export type GatewayOptions = {
  url: URL;
  key: Secret;
  mode: Mode;
  adapter: ServiceAdapter;
  checkoutHosts: readonly string[];
  callsPerSecond: number;
  concurrency: number;
  logger: Logger;
};

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

export function createGateway({ url, key, mode, adapter, checkoutHosts, logger, ...limits }: GatewayOptions): Gateway {
  const redact = createRedactor(key.reveal());
  const headers = adapter.authorize?.(key.reveal()) ?? { 'x-api-key': key.reveal() };
  const client = createClient(url, headers, limits.concurrency * 2, mode === 'live' && !LOOPBACK.has(url.hostname));
  const references = createReferences(adapter);
  const traffic = createTraffic(limits);
  const rule: CheckoutUrlRule = { mode, hosts: checkoutHosts };
  let keyRefused = false;

  const tellOfKey = (isRefused: boolean): void => {
    if (isRefused && !keyRefused)
      logger.error({ alert: 'key_refused' }, 'the service refuses GATEWAY_SECRET_KEY: replace it');
    if (!isRefused && keyRefused) logger.info('the service accepts the secret key again');
    keyRefused = isRefused;
  };

  const call = async (request: ClientRequest): Promise<JsonAnswer> => {
    const answer = await client.call(request);
    const text = redact(answer.body.toString('utf8'));
    return { status: answer.status, text, json: parse(text), retryAfterSec: retryAfterSec(answer.headers) };
  };

  const ask: Ask = async (endpoint, share, waitMs, request) => {
    const answer = await traffic.run(endpoint, share, waitMs, () => call(request));
    // One forbidden payment, or a firewall's page, is no refused key: that one refuses a question about nothing, too.
    const isRefused =
      answer.status === 401 ||
      (answer.status === 403 && answer.json !== undefined && (await isEverythingForbidden(request)));
    if (isRefused) tellOfKey(true);
    else if (answer.status < 400) tellOfKey(false);
    if (isRefused) throw new KeyRefused(answer.status);
    return answer;
  };

  const isEverythingForbidden = async ({ totalMs, maxBytes }: ClientRequest): Promise<boolean> => {
    const path = `/v1/transactions/verify/${references.create()}`;
    const answer = await call({ method: 'GET', path, totalMs, maxBytes }).catch(() => null);
    return answer !== null && (answer.status === 401 || (answer.status === 403 && answer.json !== undefined));
  };

  return {
    mode,
    adapter,
    references,
    initialize: (request) => initialize(ask, adapter, rule, request),
    verify: (reference, share, withinMs) => verify(ask, adapter, { reference, mode }, share, withinMs),
    history: (window, from) => readHistory(ask, adapter, window, from),
    isKeyRefused: () => keyRefused,
    redact,
    close: () => client.close(),
  };
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text.replace(/^\uFEFF/, '')) };
  } catch {
    return undefined;
  }
}
