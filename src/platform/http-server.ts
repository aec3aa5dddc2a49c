import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A port that another program holds. The message says what to do, so it can be shown as it is. */
export class PortTakenError extends Error {
  constructor(host: string, port: number) {
    super(`port ${port} on ${host} is taken by another program: stop it, or set PORT to a free one`);
    this.name = 'PortTakenError';
  }
}

export type RunningServer = {
  port: number;
  server: Server;
  /** Stops accepting, lets requests in flight finish for `graceMs` milliseconds, then cuts what is left. */
  close(graceMs?: number): Promise<void>;
};

/**
 * Listens on `host`:`port` (0: any free port).
 * @throws {PortTakenError} when the port is in use
 */
export async function listen(handler: RequestListener, host: string, port: number): Promise<RunningServer> {
  const server = createServer(
    {
      // Node's own limits (60 s, 300 s) let a few thousand slow clients hold every socket.
      headersTimeout: 10_000,
      requestTimeout: 20_000,
      // Longer than the idle time-out of common reverse proxies, or they reuse a socket that we just closed.
      keepAliveTimeout: 65_000,
    },
    handler,
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' ? new PortTakenError(host, port) : error);
    });
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    server,
    close: (graceMs = 5_000) => close(server, graceMs),
  };
}

async function close(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) =>
    server.close(() => {
      resolve();
    }),
  );
  server.closeIdleConnections();
  const cut = setTimeout(() => {
    server.closeAllConnections();
  }, graceMs);
  await closed;
  clearTimeout(cut);
}
