import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { EnvHttpProxyAgent, type Dispatcher } from 'undici';
import { isPublicAddress } from '../platform/addresses.ts';
import { parseJson } from '../platform/json.ts';
import { codeOf, retryAfterSec, Unanswered } from './errors.ts';

/** On every call to another system: firewalls refuse calls without one. */
export const USER_AGENT = 'payment-integrator/1.0';

export type Request = {
  method: 'GET' | 'POST';
  /** Path and query. */
  path: string;
  /** JSON text. */
  body?: string;
  /** Milliseconds from now to the body's last byte. */
  totalMs: number;
  maxBytes: number;
  /**
   * Left out: the answer is redacted. true: who keeps something of it redacts that; pages of the
   * history are large.
   */
  isRaw?: true;
};

export type Answer = {
  status: number;
  /** Without our key, unless it was asked for raw. */
  text: string;
  /** undefined: the body is not JSON, whatever its content type says. */
  json: { value: unknown } | undefined;
  retryAfterSec: number | null;
};

/**
 * One HTTP exchange with the service, which is trusted no more than a stranger: redirects are not
 * followed (they would carry the key along), only identity encoding is accepted, bytes are counted,
 * and every part has a deadline. Nothing is repeated here. HTTPS_PROXY and NO_PROXY are obeyed.
 */
export type Client = {
  /** @throws {Unanswered} when no usable HTTP answer came */
  call(request: Request): Promise<Answer>;
  close(): Promise<void>;
};

const CONNECT_MS = 2_000;
/**
 * Name lookup, connecting and the handshake come before the first byte. After other errors, it may
 * have arrived.
 */
const NOT_SENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EPROTO|UND_ERR_(CONNECT_TIMEOUT|CLOSED|DESTROYED))$|CERT|^ERR_TLS/;

type ClientOptions = {
  origin: string;
  /** Of every call, the key among them. */
  headers: Record<string, string>;
  redact: (text: string) => string;
  connections: number;
  /**
   * Refuses names that lead into a private network: with a live key that is an attack, or a
   * mistake.
   */
  publicOnly: boolean;
};

export function createClient({ origin, headers, redact, connections, publicOnly }: ClientOptions): Client {
  const agent = new EnvHttpProxyAgent({
    connections,
    keepAliveTimeout: 4_000,
    // Set explicitly, so that no environment variable can switch the check of certificates off.
    connect: { timeout: CONNECT_MS, rejectUnauthorized: true, ...(publicOnly && { lookup: publicAddressesOnly }) },
  });
  const ours = { ...headers, accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': USER_AGENT };
  const call: Client['call'] = async ({ method, path, body, totalMs, maxBytes, isRaw }) => {
    const content = body === undefined ? {} : { body, headers: { ...ours, 'content-type': 'application/json' } };
    // One deadline for the whole call. Shorter limits on its parts would cut services that answer
    // slowly but in time.
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
 * Whole, or not at all: a compressed body could expand to any size, and a longer one than allowed
 * is cut off.
 */
async function readBody({ headers, body }: Dispatcher.ResponseData, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const refuse = (message: string): never => {
    body.on('error', () => undefined).destroy();
    throw new Unanswered(message, { sent: true });
  };
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    refuse('the answer is compressed, which was ruled out');
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
    const refusal = `${hostname} leads into a private network, and the key is live`;
    callback(isInner ? new Unanswered(refusal, { sent: false }) : error, found);
  });
};
