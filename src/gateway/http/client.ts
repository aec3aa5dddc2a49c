import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { buildConnector, Pool, type Dispatcher } from 'undici';
import { isLoopback } from '../../platform/config-fields.ts';
import { publicAddressesOnly } from './address-guard.ts';
import { ClientError, codeOf } from '../errors.ts';
import { bodyAborted, createCount, exchange, assertUncompressed, type Exchange } from './exchange.ts';
import { createKeyRedactor, type KeyRedactor } from './redact-key.ts';
import type { SecretKey } from '../secret-key.ts';

/**
 * One HTTP exchange with the service, which is trusted no more than a stranger: redirects are not
 * followed (they would carry the key along), only identity encoding is accepted, decoded bytes are
 * counted, and connect, headers and the whole body each have a deadline. Nothing here repeats a call:
 * the scheduled checks do, and the reader of history for a page that broke off.
 */
export type Client = {
  call(request: ClientRequest): Promise<ClientAnswer>;
  /** The body as a stream, for history. The caller reads it to its end or destroys it. */
  stream(request: StreamRequest): Promise<ClientStream>;
  close(): Promise<void>;
};

type ClientRequest = Exchange & {
  method: 'GET' | 'POST';
  path: string;
  /** JSON text. */
  body?: string;
  /** Milliseconds for the answer's headers. */
  headersMs: number;
};
type StreamRequest = ClientRequest & { signal?: AbortSignal };

export type ClientAnswer = {
  status: number;
  /** Like the body, without our key in case the service has echoed it. */
  headers: Dispatcher.ResponseData['headers'];
  body: Buffer;
  /** The exact bytes received: for a digest, never to be stored. */
  received: Buffer;
};
type ClientStream = Pick<ClientAnswer, 'status' | 'headers'> & { body: AsyncIterable<Buffer> };

const CONNECT_MS = 2_000;

/**
 * @param connections maximum calls in flight; the pool needs as many sockets, or calls would queue unseen
 * @param lookup resolves host names
 * @param redactor removes our key from every answer
 */
export function createClient(
  baseUrl: URL,
  key: SecretKey,
  connections: number,
  lookup: LookupFunction = systemLookup,
  redactor: KeyRedactor = createKeyRedactor(key),
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
      const headers = redactor.cleanHeaders(answer.headers);
      return { status, headers, body: redactor.clean(received), received };
    },
    stream: async (request) => {
      const deadline = AbortSignal.timeout(request.totalMs);
      const signal = request.signal ? AbortSignal.any([deadline, request.signal]) : deadline;
      const answer = await pool.request({ ...toWire(request, key), signal }).catch((error: unknown) => {
        throw noAnswer(error);
      });
      const { statusCode: status, body } = answer;
      const headers = redactor.cleanHeaders(answer.headers);
      try {
        assertUncompressed(headers);
      } catch (error) {
        // Destroying the body emits an abort error, and an error event without a listener ends the process.
        body.on('error', () => undefined).destroy();
        throw error;
      }
      return { status, headers, body: redactor.cleanStream(counted(body, request.maxBytes)) };
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

/** The error code of a request to a pool that is already closed. */
const POOL_IS_CLOSED = 'UND_ERR_CLOSED';

type Connector = {
  connect: buildConnector.connector;
  /**
   * Whether a request failed in name lookup, connecting or the TLS handshake, all of which precede
   * its first byte. After any other error, an unreachable host in mid-conversation included, the
   * request may have arrived.
   */
  hasFailedToConnect(error: unknown): boolean;
};

function createConnector(lookup: LookupFunction): Connector {
  // Set explicitly, so that no environment variable can switch the check of certificates off.
  const connect = buildConnector({ timeout: CONNECT_MS, rejectUnauthorized: true, lookup });
  // By identity, because the code of a reset is the same in the handshake and after the request.
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
    throw bodyAborted(error);
  }
}

// The charset is ignored: JSON is UTF-8 (RFC 8259), and the reader refuses anything else.
const JSON_TYPE = /^\s*application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i;

/**
 * Whether an answer may be read as JSON. A page or a plain text comes from another sender, perhaps a
 * proxy, even if it looks like JSON. An answer without a type may be JSON: RFC 9110 lets the recipient
 * inspect it, and the reader is strict.
 */
export function mayBeJson(headers: ClientAnswer['headers']): boolean {
  const type = headers['content-type'];
  return type === undefined || (typeof type === 'string' && JSON_TYPE.test(type));
}
