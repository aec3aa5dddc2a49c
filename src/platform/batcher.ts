import { isRefusedByDatabase, type Queryable } from './database/database.ts';

type BatcherOptions<Item, Result> = {
  /** One statement for all items. @returns a result for each, in their order */
  run: (db: Queryable, items: readonly Item[]) => Promise<Result[]>;
  /** Items with one key touch the same rows: they are never in flight together and keep their order. */
  keyOf?: (item: Item) => string;
  /** Statements in flight at most, {@link MAX_IN_FLIGHT} by default. */
  maxInFlight?: number;
};

/** Items per statement at most: enough to share its cost, few enough to keep rows locked only briefly. */
const MAX_ITEMS = 32;
/** While one statement waits for the disk, the next is worked on. More would only make the groups smaller. */
const MAX_IN_FLIGHT = 2;

/**
 * Writes items in groups. A statement costs the database several times what one more row in it costs, so
 * items that arrive while others are being written go as one group when those are done. There is no
 * artificial delay: when nothing is in flight, an item is sent at once. A result means the same as for a
 * single item: its rows are committed.
 *
 * A group succeeds or fails as one. When PostgreSQL refuses its statement, nothing of it is written, and
 * each item is run by itself, so that one that cannot be written does not fail the others. When the
 * connection breaks, the outcome is unknown, and all of them fail.
 */
export function batched<Item, Result>(
  options: BatcherOptions<Item, Result>,
): (db: Queryable, item: Item) => Promise<Result> {
  // One for each database or transaction: items of a transaction stay in it. A caller passes it as to any
  // other query, so nothing has to be built at the start and handed on; it is forgotten with its key.
  const gatherers = new WeakMap<Queryable, (item: Item) => Promise<Result>>();
  return (db, item) => {
    const add = gatherers.get(db) ?? createBatcher(db, options);
    gatherers.set(db, add);
    return add(item);
  };
}

type Waiting<Item, Result> = {
  item: Item;
  /** Null: the item shares no rows with others. */
  key: string | null;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
};

/** The same for one connection. */
export function createBatcher<Item, Result>(
  db: Queryable,
  { run, keyOf, maxInFlight = MAX_IN_FLIGHT }: BatcherOptions<Item, Result>,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];
  const busyKeys = new Set<string>();
  let inFlight = 0;
  let isScheduled = false;

  /** Sends groups while there is room. An item that shares a key with a group in flight waits for its end. */
  function flush(): void {
    isScheduled = false;
    while (inFlight < maxInFlight && waiting.length > 0) {
      const [group, rest] = nextGroup(waiting, busyKeys);
      waiting = rest;
      if (group.length === 0) return;
      inFlight += 1;
      void send(group).finally(() => {
        inFlight -= 1;
        for (const { key } of group) if (key !== null) busyKeys.delete(key);
        flush();
      });
    }
  }

  async function send(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(
        db,
        group.map(({ item }) => item),
      );
      results.forEach((result, at) => group[at]?.resolve(result));
    } catch (error) {
      if (group.length === 1 || !isRefusedByDatabase(error)) {
        for (const { reject } of group) reject(error);
        return;
      }
      await Promise.all(group.map((one) => send([one])));
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, key: keyOf?.(item) ?? null, resolve, reject });
      if (isScheduled) return;
      isScheduled = true;
      // Runs after everything that has arrived by now was read.
      setImmediate(flush);
    });
}

/** Takes the items that may go together out of the queue, and adds their keys to `busyKeys`. */
function nextGroup<Item, Result>(
  waiting: readonly Waiting<Item, Result>[],
  busyKeys: Set<string>,
): [Waiting<Item, Result>[], Waiting<Item, Result>[]] {
  const group: Waiting<Item, Result>[] = [];
  const rest: Waiting<Item, Result>[] = [];
  for (const one of waiting) {
    const { key } = one;
    const mayGo = group.length < MAX_ITEMS && (key === null || !busyKeys.has(key));
    (mayGo ? group : rest).push(one);
    if (mayGo && key !== null) busyKeys.add(key);
  }
  return [group, rest];
}

/**
 * Items as one parameter, for `json_to_recordset`: a column for each name, whatever the number of rows.
 * Money is sent as text and bytes in PostgreSQL's notation, since JSON has neither.
 */
export function asRows(items: readonly Record<string, unknown>[]): string {
  return JSON.stringify(items.map(asRow));
}

function asRow(item: Record<string, unknown>): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const name of Object.keys(item)) row[name] = asField(item[name]);
  return row;
}

function asField(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  // PostgreSQL does not accept half of a surrogate pair as text.
  return typeof value === 'string' ? value.toWellFormed() : value;
}
