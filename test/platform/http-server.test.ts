import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { test } from '@jest/globals';
import { listen } from '../../src/platform/http-server.ts';

test('a server that ends waits for no connection that a stream of events leaves open behind it', async () => {
  const { port, close } = await listen(
    (_req, res) => {
      res.setHeader('content-type', 'text/event-stream').write(': here\n\n');
    },
    '127.0.0.1',
    0,
  );
  // As a proxy does it: the connection is to be used again.
  const agent = new Agent({ keepAlive: true });
  const stream = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ port, agent }, resolve).once('error', reject);
  });
  const ended = once(stream.resume(), 'end');
  // Far beyond this test's own limit: nothing may be left that has to be cut.
  await close(600_000);
  await ended;
  agent.destroy();
});
