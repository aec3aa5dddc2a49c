import { createServer, type Server } from 'node:net';

/** Below the ports that systems lend to whoever connects somewhere: nobody takes one in passing. */
const [LOWEST, HIGHEST] = [20_000, 30_000];
/**
 * Workers of one run choose from ranges of their own, or two might choose one port before either listens
 * there.
 */
const SHARES = 16;
const SHARE = Math.floor((HIGHEST - LOWEST) / SHARES);
const given = new Set<number>();

/**
 * A port that is free together with the one after it, which the sandbox takes; no second time to the same
 * process.
 */
export async function freePort(): Promise<number> {
  const from = LOWEST + (Number(process.env.JEST_WORKER_ID ?? 0) % SHARES) * SHARE;
  for (;;) {
    const port = from + 2 * Math.floor((Math.random() * SHARE) / 2);
    if (given.has(port)) continue;
    const [first, second] = [await occupy(port), await occupy(port + 1)];
    for (const server of [first, second]) if (server) await new Promise((resolve) => server.close(resolve));
    if (!first || !second) continue;
    given.add(port);
    return port;
  }
}

/** Another program that holds a port of this machine; null when one does already. */
export function occupy(port: number): Promise<Server | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(null);
    });
    server.listen(port, '127.0.0.1', () => {
      resolve(server);
    });
  });
}
