import type { ServiceCall } from '../traffic/calls.ts';
import type { Traffic } from '../traffic/traffic.ts';
import { findKey } from './leaks.ts';

/** What must hold of what went out, and of what it took: I6, I7, I16, I27. */
export function inTheTraffic(traffic: Traffic, key?: string): string[] {
  return [...destinations(traffic), ...pace(traffic), ...bounds(traffic), ...keyInAnswers(traffic, key)];
}

/** I6, I7: connections lead where the configuration says, and the key goes to the service, in its header. */
function destinations({ sockets, mayConnectTo, service }: Traffic): string[] {
  const allowed = new Set(mayConnectTo);
  const { hostname, port } = new URL(service);
  return sockets.flatMap(({ to, carriesKey, leaksKey }) => [
    ...(allowed.has(to) ? [] : [`I7: something was connected to at ${to}`]),
    ...(carriesKey && to !== `${hostname}:${port}` ? [`I6: the key was sent to ${to}`] : []),
    ...(leaksKey ? [`I6: the key went to ${to} outside of its header`] : []),
  ]);
}

/** I6: nothing that we answered holds the key. */
function keyInAnswers({ exchanges }: Traffic, key?: string): string[] {
  if (key === undefined) return [];
  return exchanges
    .filter(({ body, headers }) => findKey(body + JSON.stringify(headers), key).length > 0)
    .map(({ method, path }) => `I6: the answer to ${method} ${path} holds the key`);
}

/** I16: no more calls at a time than allowed, and no call sooner than the service asked. */
function pace({ calls, concurrency }: Traffic): string[] {
  const lines = new Set<string>();
  const inFlight = mostAtOnce(calls);
  if (inFlight > concurrency) lines.add(`I16: ${inFlight} calls were in flight, ${concurrency} are allowed`);
  for (const refused of calls) {
    const pauseMs = 1_000 * secondsIn(refused.retryAfter);
    const endedMs = refused.endedMs ?? Infinity;
    const early = calls.find(
      ({ path, startedMs }) => path === refused.path && startedMs > endedMs && startedMs < endedMs + pauseMs,
    );
    if (early) lines.add(`I16: ${early.path} was called again before its Retry-After was over`);
  }
  return [...lines];
}

function mostAtOnce(calls: readonly ServiceCall[]): number {
  const events = calls.flatMap(({ startedMs, endedMs }): [number, number][] => [
    [startedMs, 1],
    [endedMs ?? Infinity, -1],
  ]);
  let [now, most] = [0, 0];
  // An end and a start at one instant: the slot was free.
  for (const [, change] of events.sort(([a, up], [b, other]) => a - b || up - other)) {
    now += change;
    most = Math.max(most, now);
  }
  return most;
}

/** Nothing beyond an hour is obeyed; half a second is the roughness of whole seconds. */
function secondsIn(retryAfter: string | null): number {
  return /^\d{1,4}$/.test(retryAfter ?? '') ? Math.max(Math.min(Number(retryAfter), 3_600) - 0.5, 0) : 0;
}

const MAX_REQUEST_MS = 30_000;
const MAX_GROWTH_BYTES = 1_024 ** 3;
const MAX_LOOP_AWAY_MS = 5_000;
const MAX_POOL_WAIT_MS = 10_000;

/**
 * I27: limits that no scenario comes near unless something has none. A stream of events is meant to stay
 * open.
 */
function bounds({ exchanges, load }: Traffic): string[] {
  const lines = exchanges
    .filter(({ headers }) => !String(headers['content-type'] ?? '').startsWith('text/event-stream'))
    .filter(({ startedMs, endedMs }) => endedMs !== null && endedMs - startedMs > MAX_REQUEST_MS)
    .map(({ method, path }) => `I27: ${method} ${path} was over its hard limit`);
  if (load === undefined) return lines;
  if (load.grewBytes > MAX_GROWTH_BYTES) lines.push(`I27: memory grew by ${load.grewBytes} bytes`);
  if (load.loopAwayMs > MAX_LOOP_AWAY_MS)
    lines.push(`I27: the event loop was away for ${load.loopAwayMs} ms`);
  if (load.poolWaitMs > MAX_POOL_WAIT_MS)
    lines.push(`I27: somebody waited for a connection for ${load.poolWaitMs} ms`);
  return lines;
}
