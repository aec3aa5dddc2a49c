import type { Notice } from '../ledger/transaction.ts';
import type { Pauses } from './pauses.ts';

type Held = { notice: Notice };

/** Holds a webhook back until the next one of its transaction has ended, or long enough for there to be none. */
export type Overtaking<T extends Held> = {
  hold(delivery: T): void;
  /** Another one has ended: whoever waited for it goes now. */
  next(ended: T): void;
  clear(): void;
};

const PATIENCE_MS = 10_000;

export function createOvertaking<T extends Held>(
  pauses: Pauses,
  release: (delivery: T) => void,
): Overtaking<T> {
  const held = new Set<T>();

  function letGo(delivery: T): void {
    if (held.delete(delivery)) release(delivery);
  }

  return {
    hold(delivery) {
      held.add(delivery);
      pauses.start(PATIENCE_MS, () => {
        letGo(delivery);
      });
    },
    next({ notice }) {
      const { mode, reference } = notice.transaction;
      for (const delivery of held) {
        const { transaction } = delivery.notice;
        if (transaction.mode === mode && transaction.reference === reference) letGo(delivery);
      }
    },
    clear() {
      held.clear();
    },
  };
}
