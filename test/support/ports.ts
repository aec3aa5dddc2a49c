import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that systems lend to whoever connects somewhere; a thousand for each worker of a
 * run.
 */
const LOWEST = 20_000;
const SHARE = 1_000;
let last = Math.floor(Math.random() * SHARE);

/** A port of loopback that nobody listens at; another one at each call. */
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
