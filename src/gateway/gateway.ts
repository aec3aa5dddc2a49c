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

/** The payment service as the rest of the program sees it. Only this folder has the key. */
export type Gateway = {
  mode: Mode;
  /** Every result of the adapter is checked. */
  adapter: ServiceAdapter;
  /** Identifies this version of the adapter. */
  adapterVersion: string;
  references: References;
  /** It does not throw, whatever the service does. */
  initialize(request: InitializeRequest): Promise<InitializeResult>;
  /**
   * @param withinMs milliseconds for the wait and the call together
   * @throws {Unanswered} if the service gave no usable answer
   */
  verify(reference: string, priority: Priority, withinMs?: number): Promise<Evidence>;
  /**
   * One page of the history, not redacted.
   * @throws {Unanswered} if the page could not be read
   */
  page(path: string): Promise<Answer>;
  /**
   * Whether the service refuses our key. While it does, this method asks verify about a new
   * reference, because there may be no other call that would notice a change.
   */
  isKeyRefused(): Promise<boolean>;
  /** Removes our key from a text from outside. */
  redact(text: string): string;
  close(): Promise<void>;
};

/** The service as the functions of this folder use it. */
export type Service = {
  mode: Mode;
  adapter: ServiceAdapter;
  /** The hosts that checkout URLs may have. If it is empty, test mode allows any host. */
  checkoutHosts: readonly string[];
  /**
   * Makes one call when its turn comes.
   * @param withinMs for the wait and the call together; omitted: the call has its own time after
   * the wait
   * @throws {Unanswered} if there is no usable answer; {@link KeyRefused} is one of these errors
   */
  ask(endpoint: Endpoint, priority: Priority, waitMs: number, request: Request, withinMs?: number): Promise<Answer>;
};

/** Load balancers check every few seconds. */
const ASK_AGAIN_MS = 3_000;
const PAGE = { method: 'GET' as const, totalMs: 30_000, maxBytes: 32 * 1024 * 1024, isRaw: true as const };
/** No person waits for a page, so all notifications go first. */
const PAGE_WAIT_MS = 60_000;

type GatewayOptions = Omit<Service, 'ask'> & {
  url: URL;
  key: Secret;
  callsPerSecond: number;
  concurrency: number;
  adapterVersion: string;
  /** Is called for each result of the adapter that cannot be used. */
  onAdapterFault: (fault: AdapterFault) => void;
  logger: Logger;
};

function logKey(logger: Logger, isRefused: boolean): void {
  if (isRefused) logger.error({ alert: 'key_refused' }, 'the service refuses GATEWAY_SECRET_KEY: replace it');
  else logger.info('the service accepts the secret key again');
}

/** Milliseconds that remain for an answer after the wait for a turn, at most `mostMs`. */
function timeLeft(endMs: number, mostMs: number): number {
  return Math.min(mostMs, Math.max(1, Math.ceil(endMs - performance.now())));
}

/** Whether the service refuses our key, according to its answers. */
function createKeyState(logger: Logger) {
  let keyRefused = false;
  let askAgainMs = 0;
  return {
    note(isRefused: boolean): void {
      if (isRefused !== keyRefused) logKey(logger, isRefused);
      if (isRefused) askAgainMs = performance.now() + ASK_AGAIN_MS;
      keyRefused = isRefused;
    },
    /**
     * @param ask sends any request to the service; the answer shows whether the key is still
     * refused
     */
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

  // A single forbidden payment, or a firewall's page, does not mean that the key is refused. If the
  // key is refused, a request about an unused reference is forbidden, too.
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
