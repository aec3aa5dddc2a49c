import type { Logger } from 'pino';
import type { Secret } from '../platform/secret.ts';
import type { ServiceAdapter } from './adapter.ts';
import { checkedAdapter, type AdapterFault } from './checked-adapter.ts';
import { LOOPBACK } from './checkout-url.ts';
import { createClient, type Answer, type Request } from './client.ts';
import { KeyRefused } from './errors.ts';
import type { Evidence, Mode } from './evidence.ts';
import { initialize, type InitializeRequest, type InitializeResult } from './initialize.ts';
import { createRedactor } from './redact.ts';
import { createReferences, type References } from './references.ts';
import { createTraffic, type Endpoint, type Priority } from './traffic.ts';
import { verify } from './verify.ts';

/** The payment service as the rest of the program knows it. The key is in this folder alone. */
export type Gateway = {
  mode: Mode;
  /** Every result of it is checked. */
  adapter: ServiceAdapter;
  /** Tells one version of the adapter from another. */
  adapterVersion: string;
  references: References;
  /** Never throws for what the service does. */
  initialize(request: InitializeRequest): Promise<InitializeResult>;
  /** @param withinMs milliseconds @throws {Unanswered} when nothing was learnt */
  verify(reference: string, priority: Priority, withinMs?: number): Promise<Evidence>;
  /** One page of the history, not redacted. @throws {Unanswered} when it could not be had */
  page(path: string): Promise<Answer>;
  /**
   * Whether our key is refused. While it is, this asks again about nothing: perhaps nobody else
   * asks any more.
   */
  isKeyRefused(): Promise<boolean>;
  /** Takes our key out of a text from outside. */
  redact(text: string): string;
  close(): Promise<void>;
};

/** The service as the calls of this folder use it. */
export type Service = {
  mode: Mode;
  adapter: ServiceAdapter;
  /** That checkout addresses may have; empty: any, in test mode alone. */
  checkoutHosts: readonly string[];
  /**
   * Makes one call when its turn comes.
   * @param withinMs for the wait and the call together; left out: the call has its own time after
   * the wait
   * @throws {Unanswered} without a usable answer, {@link KeyRefused} among them
   */
  ask(endpoint: Endpoint, priority: Priority, waitMs: number, request: Request, withinMs?: number): Promise<Answer>;
};

/** Load balancers look every few seconds. */
const ASK_AGAIN_MS = 3_000;
const PAGE = { method: 'GET' as const, totalMs: 30_000, maxBytes: 32 * 1024 * 1024, isRaw: true as const };
/** Nobody waits for a page: its turn comes after all notifications. */
const PAGE_WAIT_MS = 60_000;

type GatewayOptions = Omit<Service, 'ask'> & {
  url: URL;
  key: Secret;
  callsPerSecond: number;
  concurrency: number;
  adapterVersion: string;
  /** Hears of each result of the adapter that cannot be used. */
  onAdapterFault: (fault: AdapterFault) => void;
  logger: Logger;
};

function logKey(logger: Logger, isRefused: boolean): void {
  if (isRefused) logger.error({ alert: 'key_refused' }, 'the service refuses GATEWAY_SECRET_KEY: replace it');
  else logger.info('the service accepts the secret key again');
}

/**
 * Milliseconds for an answer: what a call has not used to wait for its turn, and `mostMs` at most.
 */
function timeLeft(endMs: number, mostMs: number): number {
  return Math.min(mostMs, Math.max(1, Math.ceil(endMs - performance.now())));
}

/** Whether the service refuses our key, as its answers say. */
function createKeyState(logger: Logger) {
  let keyRefused = false;
  let askAgainMs = 0;
  return {
    note(isRefused: boolean): void {
      if (isRefused !== keyRefused) logKey(logger, isRefused);
      if (isRefused) askAgainMs = performance.now() + ASK_AGAIN_MS;
      keyRefused = isRefused;
    },
    /** @param ask asks the service anything: the answer says whether the key is still refused */
    async isRefused(ask: () => Promise<unknown>): Promise<boolean> {
      if (keyRefused && performance.now() > askAgainMs) {
        askAgainMs = performance.now() + ASK_AGAIN_MS;
        await ask().catch(() => undefined);
      }
      return keyRefused;
    },
  };
}

export function createGateway(options: GatewayOptions): Gateway {
  const { url, key, mode, adapterVersion, logger, concurrency } = options;
  const redact = createRedactor(key.reveal());
  const adapter = checkedAdapter(options.adapter, options.onAdapterFault, redact);
  const headers = adapter.authorize?.(key.reveal()) ?? { 'x-api-key': key.reveal() };
  const publicOnly = mode === 'live' && !LOOPBACK.has(url.hostname);
  const client = createClient({ origin: url.origin, headers, redact, connections: concurrency * 2, publicOnly });
  const references = createReferences(adapter);
  const traffic = createTraffic(options);
  const keyState = createKeyState(logger);

  // One forbidden payment, or a firewall's page, is no refused key: that one refuses a question
  // about nothing, too.
  const isForbidden = ({ status, json }: Answer): boolean => status === 403 && json !== undefined;
  const isEverythingForbidden = async ({ maxBytes }: Request): Promise<boolean> => {
    const path = `/v1/transactions/verify/${references.create()}`;
    const answer = await client.call({ method: 'GET', path, totalMs: 2_000, maxBytes }).catch(() => null);
    return answer !== null && (answer.status === 401 || isForbidden(answer));
  };

  const ask: Service['ask'] = async (endpoint, priority, waitMs, request, withinMs = Infinity) => {
    const endMs = performance.now() + withinMs;
    const send = () => client.call({ ...request, totalMs: timeLeft(endMs, request.totalMs) });
    const answer = await traffic.run(endpoint, priority, waitMs, send);
    const isRefused = answer.status === 401 || (isForbidden(answer) && (await isEverythingForbidden(request)));
    if (isRefused || (answer.status < 500 && ![403, 408, 429].includes(answer.status))) keyState.note(isRefused);
    if (isRefused) throw new KeyRefused(answer.status);
    return answer;
  };

  const service: Service = { ...options, adapter, ask };
  return {
    mode,
    adapter,
    adapterVersion,
    references,
    redact,
    initialize: (request) => initialize(service, request),
    verify: (reference, priority, withinMs) => verify(service, reference, priority, withinMs),
    page: (path) => ask('history', 'background', PAGE_WAIT_MS, { ...PAGE, path }),
    isKeyRefused: () => keyState.isRefused(() => verify(service, references.create(), 'background')),
    close: () => client.close(),
  };
}
