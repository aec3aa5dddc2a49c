import {
  createServer,
  IncomingMessage,
  ServerResponse,
  STATUS_CODES,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { connect, type AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import { problemText } from './problem.ts';
import type { ProblemType } from './problem-types.ts';
import { UserFacingError } from './terminal.ts';

/** Another program holds the port. */
export class PortTakenError extends UserFacingError {
  constructor(host: string, port: number, variable: string) {
    super(`port ${port} on ${host} is taken by another program: stop it, or set ${variable} to a free one`);
    this.name = 'PortTakenError';
  }
}

export type RunningServer = {
  port: number;
  server: Server;
  /** Goes on accepting, but closes each connection after its answer, so that clients connect anew. */
  announceEnd(): void;
  /** Stops accepting, lets requests in flight finish for `graceMs` milliseconds, then cuts what is left. */
  close(graceMs?: number): Promise<void>;
};

type ListenOptions = Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> & { variable?: string };

/**
 * Listens on `host`:`port` (0: any free port).
 * @param options the classes of requests and responses, Node's own by default; the variable that sets the
 * port, for messages
 * @throws {PortTakenError} when the port is in use
 * @throws {UserFacingError} when the port is not permitted, or `host` is not an address of this machine
 */
export async function listen(
  handler: RequestListener,
  host: string,
  port: number,
  { IncomingMessage, ServerResponse, variable = 'PORT' }: ListenOptions = {},
): Promise<RunningServer> {
  const unanswered = new Set<ServerResponse>();
  let isEnding = false;
  const server = createServer(
    {
      // Node's own limits (60 s, 300 s) let a few thousand slow clients hold every socket.
      headersTimeout: 10_000,
      requestTimeout: 20_000,
      // Node enforces these limits in a periodic check, which by default runs only twice a minute.
      connectionsCheckingInterval: 1_000,
      // Longer than the idle time-out of common reverse proxies, or they reuse a socket that we just closed.
      keepAliveTimeout: 65_000,
      IncomingMessage,
      ServerResponse,
    },
    (req, res) => {
      unanswered.add(res);
      res.once('close', () => unanswered.delete(res));
      // While closing: a request on a connection that was already open.
      if (isEnding || !server.listening) res.shouldKeepAlive = false;
      handler(req, res);
    },
  );
  server.on('clientError', refuseUnreadable);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(explain(error, host, port, variable));
    });
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    server,
    announceEnd: () => {
      isEnding = true;
    },
    close: (graceMs = 5_000) => close(server, unanswered, graceMs),
  };
}

const UNREADABLE: Record<string, ProblemType> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
  HPE_HEADER_OVERFLOW: 'headers-too-large',
};

/** The input is no request, so no route gets it; its path was not read: the answer is about the server. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, body } = problemText(UNREADABLE[error.code ?? ''] ?? 'malformed-request', '/');
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: application/problem+json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
  );
}

async function close(
  server: Server,
  unanswered: ReadonlySet<ServerResponse>,
  graceMs: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) =>
    server.close(() => {
      resolve();
    }),
  );
  server.closeIdleConnections();
  for (const answer of unanswered) {
    // Otherwise their connections would be kept alive after the answer, and delay the end.
    answer.shouldKeepAlive = false;
    // The headers may already have promised that the connection stays open.
    answer.once('close', () => {
      server.closeIdleConnections();
    });
    // A stream of events has no end of its own; its reader reconnects, to the process that listens then.
    if (answer.getHeader('content-type')?.toString().startsWith('text/event-stream')) answer.end();
  }
  const cut = setTimeout(() => {
    server.closeAllConnections();
  }, graceMs);
  await closed;
  clearTimeout(cut);
}

const NOT_OURS = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN']);

function explain(error: NodeJS.ErrnoException, host: string, port: number, variable: string): Error {
  const { code = '' } = error;
  if (code === 'EADDRINUSE') return new PortTakenError(host, port, variable);
  if (code === 'EACCES')
    return new UserFacingError(`this user may not listen on port ${port}: set ${variable} to one above 1023`);
  if (NOT_OURS.has(code))
    return new UserFacingError(
      `${host} is not an address of this machine: set HOST to 127.0.0.1, or to 0.0.0.0 for every network`,
    );
  return error;
}

const PROBE_MS = 1_000;

/** Whether a process accepts connections at the host and port of `url`. */
export function isListening(url: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: url.hostname, port: Number(url.port), timeout: PROBE_MS });
    const end = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', end(true)).once('timeout', end(false)).once('error', end(false));
  });
}

/** The message classes of a server, and `adopt`, to be called once with the application that answers. */
export type ExpressMessages = {
  IncomingMessage: typeof IncomingMessage;
  ServerResponse: typeof ServerResponse;
  adopt(app: Express): void;
};

/**
 * Requests and responses with Express's prototypes from the start. Express changes the prototype of each
 * message as it arrives. Whenever a property is then added to such an object, V8 gives it a shape of its
 * own, so code that reads it must look its properties up anew. That took a quarter of a busy server's
 * time. Messages that have the application's prototypes already are left as they are.
 */
export function createExpressMessages(): ExpressMessages {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse<Request extends IncomingMessage> extends ServerResponse<Request> {}
  Object.setPrototypeOf(ExpressRequest.prototype, express.request);
  Object.setPrototypeOf(ExpressResponse.prototype, express.response);
  return {
    IncomingMessage: ExpressRequest,
    ServerResponse: ExpressResponse,
    adopt: (app) => {
      // As Express does it: `req.app` and `res.app` are how both find the application's settings.
      Object.assign(app, {
        request: Object.assign(ExpressRequest.prototype, { app }),
        response: Object.assign(ExpressResponse.prototype, { app }),
      });
    },
  };
}
