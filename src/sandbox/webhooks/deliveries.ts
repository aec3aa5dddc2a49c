import type { Logger } from '../../platform/logger.ts';
import { WEBHOOK_MAX_ATTEMPTS } from '../assumptions.ts';
import type { Notice } from '../ledger/transaction.ts';
import { toMessage } from './message.ts';
import { MAX_IN_FLIGHT, type Post } from './post.ts';

/**
 * Delivers notices in the background, however long it takes. At least once: when the receiver's answer
 * is lost on its way, or the sandbox stops in between, the same notice comes again.
 */
export type Deliveries = {
  send(notice: Notice): void;
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
  logger: Logger;
  /** Called once per notice: it arrived, or it was given up. */
  ended: (webhookId: string, delivered: boolean) => void;
};

type Delivery = { notice: Notice; attempts: number };

export function createDeliveries(deps: DeliveriesDeps): Deliveries {
  let { url } = deps;
  let inFlight = 0;
  /** All that have not ended; whatever is no longer in here was dropped and counts for nothing. */
  const open = new Set<Delivery>();
  /** Those whose turn it is, in order. The others are in flight or pausing. */
  const ready = new Set<Delivery>();
  const pauses = createPauses();

  function pump(): void {
    for (const delivery of ready) {
      if (url === null || inFlight >= MAX_IN_FLIGHT) return;
      ready.delete(delivery);
      inFlight += 1;
      void attempt(delivery, url);
    }
  }

  async function attempt(delivery: Delivery, to: string): Promise<void> {
    const hasArrived = await deps.post.send(to, toMessage(delivery.notice, deps.secret));
    inFlight -= 1;
    delivery.attempts += 1;
    if (open.has(delivery)) conclude(delivery, hasArrived);
    pump();
  }

  function conclude(delivery: Delivery, hasArrived: boolean): void {
    const { webhookId, transaction } = delivery.notice;
    if (!hasArrived && delivery.attempts < WEBHOOK_MAX_ATTEMPTS) {
      pauses.start(pauseAfter(delivery.attempts, deps.pausesMs), () => {
        ready.add(delivery);
        pump();
      });
      return;
    }
    open.delete(delivery);
    deps.ended(webhookId, hasArrived);
    if (!hasArrived) deps.logger.warn({ reference: transaction.reference }, 'sandbox webhook given up');
  }

  function reset(): void {
    open.clear();
    ready.clear();
    pauses.clear();
  }

  return {
    send(notice) {
      const delivery = { notice, attempts: 0 };
      open.add(delivery);
      ready.add(delivery);
      pump();
    },
    url: () => url,
    setUrl(next) {
      url = next;
      pump();
    },
    pending: () => open.size,
    reset,
    async close() {
      reset();
      await deps.post.close();
    },
  };
}

function pauseAfter(attempts: number, pausesMs: readonly number[]): number {
  return pausesMs[attempts - 1] ?? pausesMs.at(-1) ?? 0;
}

/** Timers that can all be called off. */
function createPauses(): { start(ms: number, then: () => void): void; clear(): void } {
  const timers = new Set<NodeJS.Timeout>();
  return {
    start(ms, then) {
      const timer = setTimeout(() => {
        timers.delete(timer);
        then();
      }, ms);
      timers.add(timer);
    },
    clear() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
