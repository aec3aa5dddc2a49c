import { isRefusedByDatabase, type Queryable } from './database/database.ts';

export type GatherOptions<Item, Result> = {
  /** One statement for all items. @returns a result for each, in their order */
  run: (db: Queryable, items: readonly Item[]) => Promise<Result[]>;
  /** Items with one key touch the same rows: they are never in flight together, and go in the order in which they came. */
  keyOf?: (item: Item) => string;
  /** Statements in flight at most, {@link MAX_IN_FLIGHT} by default. */
  maxInFlight?: number;
};

/** So many items share a statement at most: enough to share its cost, few enough to keep rows locked for a moment only. */
const MAX_ITEMS = 32;
/** While one statement waits for the disk, the next one is worked on. More would only make the groups smaller. */
const MAX_IN_FLIGHT = 2;

/**
 * Writes together what comes together. A statement costs the database several times what one more row in it costs, so
 * items that arrive while others are being written go as one group when those are done. Nobody waits for company: an
 * item that finds nothing in flight goes at once. A result means what it means for an item alone: its rows are committed.
 *
 * A group stands and falls as one. When PostgreSQL refuses its statement, nothing of it is written, and each item is
 * run by itself, so that one that cannot be written takes no other along. When the connection breaks, nobody knows, and
 * all of them fail.
 */
export function gather<Item, Result>(
  options: GatherOptions<Item, Result>,
): (db: Queryable, item: Item) => Promise<Result> {
  // By connection: items of a transaction stay in it.
  const gatherers = new WeakMap<Queryable, (item: Item) => Promise<Result>>();
  return (db, item) => {
    const add = gatherers.get(db) ?? createGatherer(db, options);
    gatherers.set(db, add);
    return add(item);
  };
}

type Waiting<Item, Result> = {
  item: Item;
  /** Null: touches nothing. */
  key: string | null;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
};

/** The same for one connection. */
export function createGatherer<Item, Result>(
  db: Queryable,
  { run, keyOf, maxInFlight = MAX_IN_FLIGHT }: GatherOptions<Item, Result>,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];
  const busyKeys = new Set<string>();
  let inFlight = 0;
  let isScheduled = false;

  /** Sends groups while there is room. What shares a key with a group in flight waits for its end. */
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
      // After everything that has arrived by now was read.
      setImmediate(flush);
    });
}

/** Takes from the queue what may go together; `busyKeys` then has its keys, too. */
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
 * Items as one parameter, for `json_to_recordset`: a column by each name, whatever the number of rows. Money goes as
 * text and bytes as PostgreSQL writes them, since JSON has neither.
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
  // Half of a surrogate pair is no text to PostgreSQL.
  return typeof value === 'string' ? value.toWellFormed() : value;
}
