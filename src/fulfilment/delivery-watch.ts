import type { Alarm } from '../alerts/alert.ts';
import type { Clock } from '../platform/clock.ts';
import type { Mode } from '../platform/mode.ts';
import { ReleaseRefused } from './release.ts';

/** A receiver that is restarted fails for seconds; one that is down, for longer. */
const MIN_FAILURES = 3;
const MIN_MS = 60_000;

export type DeliveryWatch = {
  delivered(): void;
  failed(thrown: unknown, reason: string): void;
};

/**
 * Tells that deliveries fail: at once when the receiver throws something of its own, because waiting mends
 * no EACCES, no refused signature and no TypeError; else when for a minute, and three times at least, this
 * process had failures only, whatever the orders. A {@link ReleaseRefused}, the deadline and what `fetch`
 * throws when the network fails speak of the other side.
 */
export function createDeliveryWatch(parts: { mode: Mode; alarm: Alarm; clock: Clock }): DeliveryWatch {
  const { mode, alarm, clock } = parts;
  let failures = 0;
  let firstMs = 0;

  return {
    delivered: () => {
      failures = 0;
    },
    failed: (thrown, reason) => {
      if (failures === 0) firstMs = clock.elapsedMs();
      failures += 1;
      const isLasting = failures >= MIN_FAILURES && clock.elapsedMs() - firstMs >= MIN_MS;
      if (isOwnFault(thrown) || isLasting) void alarm({ event: 'release-failing', mode, reason });
    },
  };
}

function isOwnFault(thrown: unknown): boolean {
  const { name, message, cause } = Object(thrown) as Partial<Error>;
  // The code is that of the socket: a wrong address or a forbidden port has none.
  const { code } = Object(cause) as { code?: unknown };
  const isOfTheNetwork = (message === 'fetch failed' || message === 'terminated') && code !== undefined;
  return !(thrown instanceof ReleaseRefused) && name !== 'TimeoutError' && !isOfTheNetwork;
}
