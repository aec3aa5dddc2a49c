import { randomBytes } from 'node:crypto';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { createGateway } from '../../src/gateway/gateway.ts';
import { readHistory } from '../../src/gateway/history/history.ts';
import { SecretKey } from '../../src/gateway/secret-key.ts';
import { defaultDialect } from '../support/dialect.ts';
import { findKey } from '../support/invariants/leaks.ts';
import { asReference } from '../support/ids.ts';
import { keepLines } from '../support/lines.ts';

// Whatever goes wrong on the line, the words for it end in logs, in rows and on the operator's screen.

const KEY = `sk_test_${randomBytes(18).toString('hex')}`;
const MONEY = { amount: 2_500n, currency: 'NGN' };

const LINES: Record<string, ((socket: Socket) => void) | null> = {
  'nobody listens': null,
  'it hangs up at once': (socket) => socket.destroy(),
  'it resets the connection when asked': (socket) => socket.once('data', () => socket.resetAndDestroy()),
  'it answers no HTTP': (socket) =>
    socket.once('data', (asked) => socket.end(`SSH-2.0-OpenSSH\r\n${String(asked)}`)),
  'its answer breaks off': (socket) =>
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"status"')),
  'its answer is compressed': (socket) =>
    socket.once('data', () =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}'),
    ),
};

test.each(Object.entries(LINES))('%s: the error says what happened, and not the key', async (_name, deed) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    deed?.(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  if (deed === null) await new Promise((resolve) => server.close(resolve));
  const { logger, lines } = keepLines();
  const gateway = createGateway({
    url: new URL(`http://127.0.0.1:${port}`),
    key: new SecretKey(KEY),
    dialect: defaultDialect,
    checkoutHosts: [],
    concurrency: 4,
    logger,
  });
  const reference = 'R'.repeat(24);
  const outcomes: unknown[] = [
    await gateway
      .initialize({
        email: 'ada@example.com',
        money: MONEY,
        reference: asReference(reference),
        redirectUrl: 'http://localhost/',
      })
      .catch((error: unknown) => error),
    await gateway.verify(asReference(reference), 'NGN', 'background').catch((error: unknown) => error),
    await readHistory(gateway.client, defaultDialect)
      .next()
      .catch((error: unknown) => error),
  ];
  await gateway.close();
  if (deed !== null) server.close();
  expect(outcomes[1]).toBeInstanceOf(Error);
  for (const outcome of outcomes) {
    if (outcome instanceof Error) logger.error({ err: outcome }, outcome.message);
    else expect(findKey(inspect(outcome, { depth: 12, maxStringLength: null }), KEY)).toEqual([]);
  }
  expect(lines.length).toBeGreaterThan(0);
  expect(findKey(lines.join('\n'), KEY)).toEqual([]);
});
