import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { buildConnector, Pool, type Dispatcher } from 'undici';
import { isLoopback } from '../../platform/config-fields.ts';
import { publicAddressesOnly } from './address-guard.ts';
import { ClientError, codeOf } from './client-error.ts';
import { brokenOff, createCount, exchange, refuseCompressed, type Exchange } from './exchange.ts';
import { createKeyScrubber, type KeyScrubber } from './redact-key.ts';
import type { SecretKey } from '../secret-key.ts';

/**
 * One HTTP exchange with the service, trusting it no more than a stranger: redirects are not followed (the key
 * would travel along), only identity encoding is taken, decoded bytes are counted, and connect, headers and the whole
 * body each have a deadline. Nothing here repeats a call: one layer retries, and that is the clock.
 */
export type Client = {
  call(request: ClientRequest): Promise<ClientAnswer>;
  /** The body as it comes, for history. The caller reads it whole or destroys it. */
  stream(request: StreamRequest): Promise<ClientStream>;
  close(): Promise<void>;
};

export type ClientRequest = Exchange & {
  method: 'GET' | 'POST';
  path: string;
  /** JSON text. */
  body?: string;
  /** Milliseconds for the answer's headers. */
  headersMs: number;
};
export type StreamRequest = ClientRequest & { signal?: AbortSignal };

export type ClientAnswer = {
  status: number;
  /** Like the body without our key, should the service have put it there. */
  headers: Dispatcher.ResponseData['headers'];
  body: Buffer;
  /** To the byte as it came: for a digest, and never to be kept. */
  received: Buffer;
};
export type ClientStream = Pick<ClientAnswer, 'status' | 'headers'> & { body: AsyncIterable<Buffer> };

const CONNECT_MS = 2_000;

/**
 * @param connections calls in flight at most; the pool needs as many sockets or calls would queue unseen
 * @param lookup how host names become addresses
 * @param scrubber takes our key out of every answer
 */
export function createClient(
  baseUrl: URL,
  key: SecretKey,
  connections: number,
  lookup: LookupFunction = systemLookup,
  scrubber: KeyScrubber = createKeyScrubber(key),
): Client {
  const isGuarded = key.mode === 'live' && !isLoopback(baseUrl);
  const { connect, hasFailedToConnect } = createConnector(isGuarded ? publicAddressesOnly(lookup) : lookup);
  const pool = new Pool(baseUrl.origin, {
    connections,
    connect,
    pipelining: 1,
    keepAliveTimeout: 4_000,
    maxHeaderSize: 16_384,
  });

  const noAnswer = (error: unknown): ClientError => {
    if (error instanceof ClientError) return error;
    const isSent = !hasFailedToConnect(error) && codeOf(error) !== POOL_IS_CLOSED;
    return new ClientError(`no answer from the service: ${codeOf(error)}`, isSent, error);
  };

  return {
    call: async (request) => {
      const answer = await exchange(pool, toWire(request, key), request).catch((error: unknown) => {
        throw noAnswer(error);
      });
      const { status, received } = answer;
      const headers = scrubber.cleanHeaders(answer.headers);
      return { status, headers, body: scrubber.clean(received), received };
    },
    stream: async (request) => {
      const deadline = AbortSignal.timeout(request.totalMs);
      const signal = request.signal ? AbortSignal.any([deadline, request.signal]) : deadline;
      const answer = await pool.request({ ...toWire(request, key), signal }).catch((error: unknown) => {
        throw noAnswer(error);
      });
      const { statusCode: status, body } = answer;
      const headers = scrubber.cleanHeaders(answer.headers);
      try {
        refuseCompressed(headers);
      } catch (error) {
        // Destroying reports an abort to whoever listens, and to the whole process when nobody does.
        body.on('error', () => undefined).destroy();
        throw error;
      }
      return { status, headers, body: scrubber.cleanStream(counted(body, request.maxBytes)) };
    },
    close: () => (pool.closed ? Promise.resolve() : pool.close()),
  };
}

function toWire(
  { method, path, body, headersMs, totalMs }: ClientRequest,
  key: SecretKey,
): Dispatcher.DispatchOptions {
  return {
    method,
    path,
    headers: {
      'x-api-key': key.reveal(),
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
    headersTimeout: headersMs,
    bodyTimeout: totalMs,
  };
}

/** What the pool says to a request that comes after its end. */
const POOL_IS_CLOSED = 'UND_ERR_CLOSED';

type Connector = {
  connect: buildConnector.connector;
  /**
   * Whether an error of a request is one of name lookup, connecting or the TLS handshake: those come before the
   * request's first byte. After any other, an unreachable host in mid-conversation included, the request may have arrived.
   */
  hasFailedToConnect(error: unknown): boolean;
};

function createConnector(lookup: LookupFunction): Connector {
  // Said aloud, so that no variable of the environment can switch the check of certificates off.
  const connect = buildConnector({ timeout: CONNECT_MS, rejectUnauthorized: true, lookup });
  // By identity, as a code tells nothing: a reset is a reset, in the handshake as behind the request.
  const failures = new WeakSet();
  return {
    connect: (options, callback) => {
      connect(options, (...result) => {
        if (result[0] !== null) failures.add(result[0]);
        callback(...result);
      });
    },
    hasFailedToConnect: (error) => typeof error === 'object' && error !== null && failures.has(error),
  };
}

async function* counted(body: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  const count = createCount(maxBytes);
  try {
    for await (const chunk of body) {
      count(chunk);
      yield chunk;
    }
  } catch (error) {
    throw brokenOff(error);
  }
}
