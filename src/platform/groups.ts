import { setTimeout as sleep } from 'node:timers/promises';

/** Somebody waits for the result of an item. */
export type Pending<Item, Result> = {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
};

type Options<Item, Result> = {
  /** Items of one group, at most. */
  most: number;
  /** Items of one key never stand in the same group. */
  keyOf: (item: Item) => string;
  /**
   * Settles every pending item of the group. What is left when it ends is rejected with its error.
   */
  run: (group: Pending<Item, Result>[]) => Promise<void>;
};

/**
 * A group that takes longer, such as one whose connection is dead, does not keep the next one back.
 */
const SLOW_MS = 500;

/**
 * Does together what waits at the same moment. One group runs at a time, and meanwhile the next one
 * gathers. An item that comes while nothing runs begins at once, in a group of its own, so an idle
 * server waits for nobody.
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
      // All that arrives in this turn of the event loop goes together.
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
