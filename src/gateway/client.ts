import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { EnvHttpProxyAgent, type Dispatcher } from 'undici';
import { isPublicAddress } from '../platform/addresses.ts';
import { parseJson } from '../platform/json.ts';
import { codeOf, retryAfterSec, Unanswered } from './errors.ts';

/** Sent with every call to another system, because firewalls refuse calls without a user agent. */
export const USER_AGENT = 'payment-integrator/1.0';

export type Request = {
  method: 'GET' | 'POST';
  /** Path and query. */
  path: string;
  /** JSON text. */
  body?: string;
  /** Milliseconds from now until the last byte of the body. */
  totalMs: number;
  maxBytes: number;
  /**
   * Omitted: the answer is redacted. True: the caller redacts whatever it keeps, because pages of
   * the history are large.
   */
  isRaw?: true;
};

export type Answer = {
  status: number;
  /** Without our key, unless the raw answer was requested. */
  text: string;
  /** Undefined if the body is not JSON, whatever its content type says. */
  json: { value: unknown } | undefined;
  retryAfterSec: number | null;
};

/**
 * Makes one HTTP exchange with the service. The service is not trusted: redirects are not followed,
 * because they would take the key along; only the identity encoding is accepted; bytes are counted;
 * and every part has a deadline. The client does not retry. It obeys HTTPS_PROXY and NO_PROXY.
 */
export type Client = {
  /** @throws {Unanswered} if there was no usable HTTP answer */
  call(request: Request): Promise<Answer>;
  close(): Promise<void>;
};

const CONNECT_MS = 2_000;
/**
 * Errors of the name lookup, the connection or the handshake occur before the first byte. After any
 * other error, the request may have arrived.
 */
const NOT_SENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EPROTO|UND_ERR_(CONNECT_TIMEOUT|CLOSED|DESTROYED))$|CERT|^ERR_TLS/;

type ClientOptions = {
  origin: string;
  /** Headers of every call, including the key. */
  headers: Record<string, string>;
  redact: (text: string) => string;
  connections: number;
  /**
   * Refuses host names that resolve to a private network. With a live key, this is an attack or a
   * mistake.
   */
  publicOnly: boolean;
};

export function createClient({ origin, headers, redact, connections, publicOnly }: ClientOptions): Client {
  const agent = new EnvHttpProxyAgent({
    connections,
    keepAliveTimeout: 4_000,
    // Set explicitly, so that no environment variable can disable the check of certificates.
    connect: { timeout: CONNECT_MS, rejectUnauthorized: true, ...(publicOnly && { lookup: publicAddressesOnly }) },
  });
  const ours = { ...headers, accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': USER_AGENT };
  const call: Client['call'] = async ({ method, path, body, totalMs, maxBytes, isRaw }) => {
    const content = body === undefined ? {} : { body, headers: { ...ours, 'content-type': 'application/json' } };
    // One deadline for the whole call. Shorter limits on its parts would cut off services that
    // answer slowly but in time.
    const limits = { headersTimeout: totalMs, bodyTimeout: totalMs, signal: AbortSignal.timeout(totalMs) };
    const answer = await agent.request({ origin, method, path, headers: ours, ...content, ...limits });
    const whole = (await readBody(answer, maxBytes)).toString('utf8');
    const text = isRaw === true ? whole : redact(whole);
    return { status: answer.statusCode, text, json: parseJson(text), retryAfterSec: retryAfterSec(answer.headers) };
  };
  return {
    call: (request) =>
      call(request).catch((error: unknown) => {
        if (error instanceof Unanswered) throw error;
        const code = codeOf(error);
        throw new Unanswered(`no answer from the service: ${code}`, { sent: !NOT_SENT.test(code), cause: error });
      }),
    close: () => agent.destroy(),
  };
}

/**
 * Reads the complete body or fails. A compressed body could expand to any size, and a body above
 * the limit is cut off.
 */
async function readBody({ headers, body }: Dispatcher.ResponseData, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const refuse = (message: string): never => {
    body.on('error', () => undefined).destroy();
    throw new Unanswered(message, { sent: true });
  };
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    refuse('the answer is compressed, although the request accepts only identity');
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) refuse(`the answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const publicAddressesOnly: LookupFunction = (hostname, options, callback) => {
  systemLookup(hostname, { ...options, all: true }, (error, found) => {
    const isInner = error === null && !found.every(({ address }) => isPublicAddress(address));
    const refusal = `${hostname} resolves to a private network, and the key is live`;
    callback(isInner ? new Unanswered(refusal, { sent: false }) : error, found);
  });
};
