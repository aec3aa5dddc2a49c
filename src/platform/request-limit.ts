import type { RequestHandler } from 'express';
import { clientNetwork } from './client-network.ts';
import { systemClock, type Clock } from './clock.ts';
import { Problem } from './problem.ts';

const WINDOW_MS = 60_000;

/**
 * A fixed-window rate limit on the reads of a client address, counted per process: it costs no query.
 * @param perMinute GET and HEAD requests per client address; 0: no limit
 * @throws {Problem} 429 with Retry-After
 */
export function limitReads(perMinute: number, clock: Clock = systemClock): RequestHandler {
  let counts = new Map<string, number>();
  let endsAtMs = -Infinity;
  return (req, _res, next) => {
    if (perMinute > 0 && ['GET', 'HEAD'].includes(req.method)) {
      const nowMs = clock.elapsedMs();
      // All addresses start a new window together, so that addresses that do not return are not remembered.
      if (nowMs >= endsAtMs) [counts, endsAtMs] = [new Map<string, number>(), nowMs + WINDOW_MS];
      const address = clientNetwork(req.ip);
      const count = (counts.get(address) ?? 0) + 1;
      counts.set(address, count);
      if (count > perMinute)
        throw new Problem('too-many-requests', { retryAfterSec: Math.ceil((endsAtMs - nowMs) / 1_000) });
    }
    next();
  };
}
