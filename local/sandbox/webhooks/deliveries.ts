import type { Clock } from '../../../src/platform/clock.ts';
import type { Fate } from '../faults/fault.ts';
import type { Notice } from '../ledger/transaction.ts';
import type { Profile } from '../profiles/profile.ts';
import { verdictOn } from './acknowledgement.ts';
import { withBadSignature } from './message.ts';
import { createOvertaking } from './overtaking.ts';
import { createBackoff, pauseAfter } from './pauses.ts';
import { MAX_IN_FLIGHT, type Post } from './post.ts';
import { createQueue } from './queue.ts';

/**
 * Delivers notices in the background, however long it takes. At least once: when the receiver's answer
 * is lost on its way, or the sandbox stops in between, the same notice comes again.
 */
export type Deliveries = {
  send(notice: Notice): void;
  /** Tells something once, signed with a secret that is not ours; no answer matters. */
  forge(notice: Notice): void;
  /** Null: nothing new is owed, and what is owed waits. */
  url(): string | null;
  /** Where to, from the next attempt on. */
  setUrl(url: string | null): void;
  /** How many have not arrived yet. */
  pending(): number;
  /** Drops what is pending. */
  reset(): void;
  /** Stops trying. What is pending stays owed in the ledger and goes out after the next start. */
  close(): Promise<void>;
};

export type DeliveriesDeps = {
  url: string | null;
  secret: string;
  post: Post;
  /** Milliseconds between attempts, the last one repeating. */
  pausesMs: readonly number[];
  profile: () => Profile;
  /** What befalls a webhook on its way; asked once for each. */
  fateOf: (notice: Notice) => Fate;
  clock: Clock;
  /** Called once per notice: it arrived, or it was given up. */
  ended: (notice: Notice, delivered: boolean) => void;
};

type Delivery = { notice: Notice; attempts: number; fate: Fate };

const SECRET_OF_A_STRANGER = 'whsec_of_somebody_else';

export function createDeliveries(deps: DeliveriesDeps): Deliveries {
  const { pausesMs, profile, secret, clock, post } = deps;
  let { url } = deps;
  /** All that have not ended; whatever is no longer in here was dropped and counts for nothing. */
  const open = new Set<Delivery>();
  const queue = createQueue<Delivery>(MAX_IN_FLIGHT, (delivery) =>
    url === null ? null : attempt(delivery, url),
  );
  const pauses = createBackoff();
  const overtaking = createOvertaking<Delivery>(pauses, queue.push);
  const pushAfter = (ms: number, delivery: Delivery): void => {
    pauses.start(ms, queue.push.bind(null, delivery));
  };

  async function attempt(delivery: Delivery, to: string): Promise<void> {
    const message = profile().webhook(delivery.notice, secret, clock.now());
    const status = await post.send(to, delivery.fate.isBadlySigned ? withBadSignature(message) : message);
    delivery.attempts += 1;
    if (!open.has(delivery)) return;
    const verdict = verdictOn(status, delivery.attempts, profile().delivery);
    if (verdict === 'switched off') url = null;
    if (verdict === 'again') pushAfter(pauseAfter(delivery.attempts, pausesMs), delivery);
    else end(delivery, verdict === 'taken');
  }

  function end(delivery: Delivery, hasArrived: boolean): void {
    open.delete(delivery);
    deps.ended(delivery.notice, hasArrived);
    overtaking.next(delivery);
  }

  function start(delivery: Delivery): void {
    const { isLost, isOvertaken, delayMs } = delivery.fate;
    const isUntold = profile().delivery.tells === 'payments' && delivery.notice.change !== 'paid';
    open.add(delivery);
    if (isLost || isUntold) end(delivery, isUntold);
    else if (isOvertaken) overtaking.hold(delivery);
    else if (delayMs > 0) pushAfter(delayMs, delivery);
    else queue.push(delivery);
  }

  function reset(): void {
    for (const part of [open, queue, pauses, overtaking]) part.clear();
  }

  return {
    send(notice) {
      const fate = deps.fateOf(notice);
      for (let copy = 0; copy < fate.copies; copy += 1) start({ notice, attempts: 0, fate });
    },
    forge(notice) {
      if (url !== null) void post.send(url, profile().webhook(notice, SECRET_OF_A_STRANGER, clock.now()));
    },
    url: () => url,
    setUrl(next) {
      url = next;
      queue.pump();
    },
    pending: () => open.size,
    reset,
    async close() {
      reset();
      await post.close();
    },
  };
}
