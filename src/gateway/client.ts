import { Pool, type Dispatcher } from 'undici';
import type { SecretKey } from './secret-key.ts';

/**
 * One HTTP exchange with the service, trusting it no more than a stranger: redirects are not followed (the key
 * would travel along), only identity encoding is taken, decoded bytes are counted, and connect, headers and the whole
 * body each have a deadline. Nothing here repeats a call: one layer retries, and that is the clock.
 */
export type Client = {
  call(request: ClientRequest): Promise<ClientAnswer>;
  /** The body as it comes, for history. The caller reads it whole or destroys it. */
  stream(request: ClientRequest): Promise<ClientStream>;
  close(): Promise<void>;
};

export type ClientRequest = {
  method: 'GET' | 'POST';
  path: string;
  /** JSON text. */
  body?: string;
  /** Milliseconds for the answer's headers. */
  headersMs: number;
  /** Milliseconds for everything, from now to the body's last byte. */
  totalMs: number;
  /** Bytes of body to read at most. */
  maxBytes: number;
  signal?: AbortSignal;
};

export type ClientAnswer = { status: number; headers: Dispatcher.ResponseData['headers']; body: Buffer };
export type ClientStream = Omit<ClientAnswer, 'body'> & { body: AsyncIterable<Buffer> };

/** No usable HTTP answer came. `sent` false: nothing can have reached the service; true: it may have. */
export class ClientError extends Error {
  readonly sent: boolean;

  constructor(message: string, sent: boolean, cause?: unknown) {
    super(message, { cause });
    this.name = 'ClientError';
    this.sent = sent;
  }
}

const CONNECT_MS = 2_000;

/** @param connections calls in flight at most; the pool needs as many sockets or calls would queue unseen */
export function createClient(baseUrl: URL, key: SecretKey, connections: number): Client {
  const pool = new Pool(baseUrl.origin, {
    connections,
    connect: { timeout: CONNECT_MS },
    pipelining: 1,
    keepAliveTimeout: 4_000,
    maxHeaderSize: 16_384,
  });

  async function open(request: ClientRequest): Promise<ClientStream> {
    const deadline = AbortSignal.timeout(request.totalMs);
    const signal = request.signal ? AbortSignal.any([deadline, request.signal]) : deadline;
    const answer = await pool
      .request({
        method: request.method,
        path: request.path,
        headers: {
          'x-api-key': key.reveal(),
          accept: 'application/json',
          'accept-encoding': 'identity',
          ...(request.body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(request.body !== undefined && { body: request.body }),
        headersTimeout: request.headersMs,
        bodyTimeout: request.totalMs,
        signal,
      })
      .catch((error: unknown) => {
        throw new ClientError(`no answer from the service: ${codeOf(error)}`, mayHaveBeenSent(error), error);
      });
    const encoding = answer.headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      // Destroying reports an abort to whoever listens, and to the whole process when nobody does.
      answer.body.on('error', () => undefined).destroy();
      throw new ClientError('the answer is compressed although that was ruled out', true);
    }
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: counted(answer.body, request.maxBytes),
    };
  }

  return {
    stream: open,
    call: async (request) => {
      const { body, ...answer } = await open(request);
      const chunks: Buffer[] = [];
      for await (const chunk of body) chunks.push(chunk);
      return { ...answer, body: Buffer.concat(chunks) };
    },
    close: () => pool.close(),
  };
}

async function* counted(body: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new ClientError(`the answer is larger than ${maxBytes} bytes`, true);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof ClientError) throw error;
    throw new ClientError(`the answer broke off: ${codeOf(error)}`, true, error);
  }
}

function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'unknown';
}

// Failures of name lookup, connecting and checking the certificate come before the first byte of the request. For
// anything else, an unreachable host in mid-conversation included, the request may have arrived and been acted on.
const NOT_SENT_CODES =
  /^(UND_ERR_CONNECT_TIMEOUT|ENOTFOUND|EAI_\w+|ECONNREFUSED|ERR_TLS_CERT_\w+|CERT_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+)$/;

function mayHaveBeenSent(error: unknown): boolean {
  return !NOT_SENT_CODES.test(codeOf(error)) && (error as { syscall?: unknown }).syscall !== 'connect';
}
