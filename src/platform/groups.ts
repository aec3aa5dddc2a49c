import { setTimeout as sleep } from 'node:timers/promises';

/** An item whose caller waits for the result. */
export type Pending<Item, Result> = {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
};

type Options<Item, Result> = {
  /** The maximum number of items in a group. */
  most: number;
  /** Two items with the same key are never in the same group. */
  keyOf: (item: Item) => string;
  /**
   * Settles every pending item of the group. Items that it leaves unsettled are rejected with its
   * error.
   */
  run: (group: Pending<Item, Result>[]) => Promise<void>;
};

/**
 * A group that takes longer, for example because its connection is dead, does not delay the next
 * one.
 */
const SLOW_MS = 500;

/**
 * Processes waiting items in groups. One group runs at a time, and the next one collects items
 * meanwhile. If nothing runs, a new item starts at once in its own group, so an idle server adds no
 * delay.
 */
export function createGroups<Item, Result>(options: Options<Item, Result>): (item: Item) => Promise<Result> {
  let waiting: Pending<Item, Result>[] = [];
  let isRunning = false;
  const runNext = async (): Promise<void> => {
    const group = firstOfEachKey(waiting, options);
    waiting = waiting.filter((one) => !group.includes(one));
    const ended = options.run(group).catch((error: unknown) => {
      for (const { reject } of group) reject(error);
    });
    await Promise.race([ended, sleep(SLOW_MS, undefined, { ref: false })]);
    if (waiting.length === 0) isRunning = false;
    else setImmediate(() => void runNext());
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (isRunning) return;
      isRunning = true;
      // All items of this turn of the event loop form one group.
      setImmediate(() => void runNext());
    });
}

function firstOfEachKey<Item, Result>(
  waiting: readonly Pending<Item, Result>[],
  { most, keyOf }: Options<Item, Result>,
): Pending<Item, Result>[] {
  const group = new Map<string, Pending<Item, Result>>();
  for (const one of waiting) {
    const key = keyOf(one.item);
    if (!group.has(key)) group.set(key, one);
    if (group.size === most) break;
  }
  return [...group.values()];
}
