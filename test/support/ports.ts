import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the range of ports that systems assign to outgoing connections. A thousand ports for each
 * worker of a run.
 */
const LOWEST = 20_000;
const SHARE = 1_000;
let last = Math.floor(Math.random() * SHARE);

/** A free port of loopback, a different one at each call. */
export async function freePort(): Promise<number> {
  for (;;) {
    last = (last + 1) % SHARE;
    const port = LOWEST + (Number(process.env.JEST_WORKER_ID ?? 0) % 10) * SHARE + last;
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.close();
    if (isFree) return port;
  }
}
