import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { EnvHttpProxyAgent, type Dispatcher } from 'undici';
import { codeOf, Unanswered } from './errors.ts';

/** On every call to another system: firewalls refuse calls without one. */
export const USER_AGENT = 'payment-integrator/1.0';

export type ClientRequest = {
  method: 'GET' | 'POST';
  /** Path and query. */
  path: string;
  /** JSON text. */
  body?: string;
  /** Milliseconds from now to the body's last byte. */
  totalMs: number;
  maxBytes: number;
};
export type ClientAnswer = { status: number; headers: Dispatcher.ResponseData['headers']; body: Buffer };

/**
 * One HTTP exchange with the service, which is trusted no more than a stranger: redirects are not followed (they would
 * carry the key along), only identity encoding is accepted, bytes are counted, and every part has a deadline. Nothing
 * is repeated here. HTTPS_PROXY and NO_PROXY are obeyed.
 */
export type Client = {
  /** @throws {Unanswered} when no usable HTTP answer came */
  call(request: ClientRequest): Promise<ClientAnswer>;
  close(): Promise<void>;
};

const CONNECT_MS = 2_000;
const HEADERS_MS = 8_000;

/** Name lookup, connecting and the handshake's certificates come before the first byte; after others it may have arrived. */
const NOT_SENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|UND_ERR_CLOSED|UND_ERR_DESTROYED|EPROTO)$|CERT|^ERR_TLS/;

/**
 * @param headers of every call, the key among them
 * @param publicOnly refuses names that lead into a private network: with a live key that is an attack, or a mistake
 */
export function createClient(
  origin: URL,
  headers: Record<string, string>,
  connections: number,
  publicOnly: boolean,
): Client {
  const agent = new EnvHttpProxyAgent({
    connections,
    pipelining: 1,
    keepAliveTimeout: 4_000,
    maxHeaderSize: 16_384,
    // Set explicitly, so that no environment variable can switch the check of certificates off.
    connect: { timeout: CONNECT_MS, rejectUnauthorized: true, ...(publicOnly && { lookup: publicAddressesOnly }) },
  });
  return {
    call: async ({ method, path, body, totalMs, maxBytes }) => {
      try {
        const answer = await agent.request({
          origin: origin.origin,
          method,
          path,
          headers: {
            ...headers,
            accept: 'application/json',
            'accept-encoding': 'identity',
            'user-agent': USER_AGENT,
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(body !== undefined && { body }),
          headersTimeout: Math.min(HEADERS_MS, totalMs),
          bodyTimeout: totalMs,
          signal: AbortSignal.timeout(totalMs),
        });
        return { status: answer.statusCode, headers: answer.headers, body: await readBody(answer, maxBytes) };
      } catch (error) {
        if (error instanceof Unanswered) throw error;
        const code = codeOf(error);
        throw new Unanswered(`no answer from the service: ${code}`, { sent: !NOT_SENT.test(code), cause: error });
      }
    },
    close: () => agent.destroy(),
  };
}

/** Whole, or not at all: a compressed body could expand to any size, and a longer one than allowed is cut off. */
async function readBody({ headers, body }: Dispatcher.ResponseData, maxBytes: number): Promise<Buffer> {
  const encoding = headers['content-encoding'] ?? 'identity';
  const chunks: Buffer[] = [];
  let bytes = 0;
  const refuse = (message: string): never => {
    body.on('error', () => undefined).destroy();
    throw new Unanswered(message, { sent: true });
  };
  if (encoding !== 'identity') refuse('the answer is compressed although that was ruled out');
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) refuse(`the answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Whether an address is one of the public internet; IPv4 inside IPv6, translated or not, is judged as what it is. */
export function isPublicAddress(address: string): boolean {
  return isIP(address) !== 0 && ipaddr.process(address).range() === 'unicast';
}

const publicAddressesOnly: LookupFunction = (hostname, options, callback) => {
  systemLookup(hostname, options, (error, address, family) => {
    const addresses =
      typeof address === 'string' ? [address] : (address as { address: string }[]).map((one) => one.address);
    if (error === null && !addresses.every(isPublicAddress)) {
      callback(new Unanswered(`${hostname} leads into a private network, and the key is live`, { sent: false }), '');
      return;
    }
    callback(error, address, family);
  });
};
