import { once } from 'node:events';
import { createServer, STATUS_CODES, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { documentOf, Problem, type ProblemType } from './platform/problem.ts';
import { UserFacingError } from './platform/user-facing-error.ts';

export type RunningServer = {
  /** The requested port, or the free port that was chosen. */
  port: number;
  /**
   * Stops accepting connections, waits up to `graceMs` milliseconds (5,000) for running requests,
   * then closes the rest.
   */
  close(graceMs?: number): Promise<void>;
};

/**
 * Listens on `host`:`port` (0: any free port).
 * @param variable the variable that sets the port, for error messages
 * @throws {UserFacingError} if the port is taken or not permitted, or if `host` is not an address
 * of this machine
 */
export async function listen(
  handler: RequestListener,
  host: string,
  port: number,
  variable = 'PORT',
): Promise<RunningServer> {
  const unanswered = new Set<ServerResponse>();
  const server = createServer(LIMITS, (req, res) => {
    unanswered.add(res);
    res.once('close', () => unanswered.delete(res));
    // During close(), a request may still arrive on an open connection.
    if (!server.listening) res.shouldKeepAlive = false;
    handler(req, res);
  });
  server.on('clientError', refuseUnreadable);
  server.listen(port, host);
  await once(server, 'listening').catch((error: unknown) => {
    throw explain(error as NodeJS.ErrnoException, host, port, variable);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: (graceMs = 5_000) => close(server, unanswered, graceMs),
  };
}

const LIMITS = {
  // With Node's own limits (60 s, 300 s), a few thousand slow clients could occupy every socket.
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  // Node enforces these limits in a periodic check, which by default runs only twice a minute.
  connectionsCheckingInterval: 1_000,
  // Longer than the idle time-out of common reverse proxies. Otherwise, they may reuse a socket
  // that was just closed.
  keepAliveTimeout: 65_000,
};

const UNREADABLE: Record<string, ProblemType> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
  HPE_HEADER_OVERFLOW: 'headers-too-large',
};

/**
 * Answers input that is not a valid request, so no route handles it. Its path was not read, so the
 * problem refers to `/`.
 */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = new Problem(UNREADABLE[error.code ?? ''] ?? 'malformed-request');
  const body = documentOf(problem, '/');
  socket.end(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}\r\nContent-Type: application/problem+json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
  );
}

async function close(server: Server, unanswered: ReadonlySet<ServerResponse>, graceMs: number): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  for (const answer of unanswered) {
    // Otherwise, the connection would stay open after the answer and delay the end.
    answer.shouldKeepAlive = false;
    // The headers may already have announced a keep-alive connection.
    answer.once('close', () => {
      server.closeIdleConnections();
    });
    // An event stream does not end on its own. Its reader reconnects, to the process that listens
    // then.
    if (String(answer.getHeader('content-type')).startsWith('text/event-stream')) answer.end();
  }
  const cut = setTimeout(() => {
    server.closeAllConnections();
  }, graceMs);
  await closed;
  clearTimeout(cut);
}

function explain(error: NodeJS.ErrnoException, host: string, port: number, variable: string): Error {
  const notOurs = `${host} is not an address of this machine: set HOST to 127.0.0.1, or to 0.0.0.0 for every network`;
  const words: Record<string, string> = {
    EADDRINUSE: `port ${port} on ${host} is used by another program: stop it, or set ${variable} to a free port`,
    EACCES: `this user may not listen on port ${port}: set ${variable} to a port above 1023`,
    EADDRNOTAVAIL: notOurs,
    ENOTFOUND: notOurs,
    EAI_AGAIN: notOurs,
  };
  const text = words[error.code ?? ''];
  return text === undefined ? error : new UserFacingError(text);
}
