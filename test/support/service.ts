import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Dialect } from '../../src/gateway/dialect/dialect.ts';
import { defaultDialect } from './dialect.ts';
import { createGateway, type Gateway } from '../../src/gateway/gateway.ts';
import { systemClock, type Clock } from '../../src/platform/clock.ts';
import { SecretKey } from '../../src/gateway/secret-key.ts';
import { createLogger } from '../../src/platform/logger.ts';

export type OddService = {
  gateway: Gateway;
  url: URL;
  /** Requests so far, oldest first. */
  requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];
  /** What the next requests get. */
  answer: RequestListener;
  close(): Promise<void>;
};

/** A service that answers whatever a test wants, over real HTTP, and a gateway to it. */
export async function startOddService(
  dialect: Dialect = defaultDialect,
  budget: { callsPerSecond?: number; concurrency?: number } = {},
  clock: Clock = systemClock,
): Promise<OddService> {
  const requests: OddService['requests'] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      requests.push({
        method: req.method ?? '',
        url: req.url ?? '',
        headers: req.headers,
        body: Buffer.concat(chunks).toString(),
      });
      service.answer(req, res);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const key = new SecretKey('sk_test_c4n4ry');
  const logger = createLogger('silent');
  const gateway = createGateway({
    url,
    key,
    dialect,
    checkoutHosts: [],
    concurrency: 4,
    ...budget,
    clock,
    logger,
  });
  const service: OddService = {
    gateway,
    url,
    requests,
    answer: json({}),
    close: async () => {
      await gateway.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return service;
}

export function json(body: unknown, status = 200): RequestListener {
  return raw(JSON.stringify(body), status);
}

export function raw(
  body: string | Buffer,
  status = 200,
  headers: Record<string, string> = {},
): RequestListener {
  return (_req: IncomingMessage, res: ServerResponse) => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };
}

/** Takes the request and hangs up without an answer. */
export const hangUp: RequestListener = (req) => {
  req.socket.destroy();
};
