/**
 * Where on the wire a message stands when something befalls it.
 * - `asked`: it has come from the client and nothing of it has gone on.
 * - `uncommitted`: PostgreSQL only: the statement has run, in a transaction that nobody has committed yet.
 * - `answered`: the other side has done it for good, and nothing of its answer has gone on.
 * - `heard`: its answer has been handed to the client.
 */
export type Point = 'asked' | 'uncommitted' | 'answered' | 'heard';

/** Which message. */
export type Where = {
  /** How it begins: a statement's name, or its SQL where it has none; `POST /path` of a request. */
  what: string;
  point: Point;
  /**
   * Only one whose bytes, the answer's included once there is one, hold this; a COMMIT's are those of its
   * transaction.
   */
  about?: string;
};

/** A message that a proxy holds. It goes on when the deed is done, unless one of these was called. */
export type Held = {
  /** Resets the client's connection and closes the one behind it. */
  cut(): void;
  /** Half-open: the connection stays, and nothing passes any more in either direction. */
  silence(): void;
};

/** What is done to a held message. One that takes its time delays it. */
export type Deed = (held: Held) => void | Promise<void>;

export type Stops = {
  /**
   * Does the deed to the next such message, once. @throws when none comes: a stop that nothing reaches proves
   * nothing
   */
  once(where: Where, deed: Deed): Promise<void>;
  /** Whether the answer to this must be kept until it is whole. */
  awaits(point: Point, what: string): boolean;
  /** Holds the message if somebody waits for it here. */
  hold(point: Point, what: string, bytes: Buffer, held: Held): Promise<void>;
};

const PATIENCE_MS = 60_000;
const REMEMBERED = 40;

type Armed = Where & { deed: Deed; done(): void; failed(error: unknown): void };

/** The one thing that the proxies share: they say what passes, a test says what befalls it. */
export function createStops(): Stops {
  const armed = new Set<Armed>();
  const passed: string[] = [];

  const waitingFor = (point: Point, what: string): Armed[] =>
    [...armed].filter((stop) => stop.point === point && what.startsWith(stop.what));

  return {
    once: (where, deed) =>
      new Promise((resolve, reject) => {
        const stop: Armed = { ...where, deed, done: resolve, failed: reject };
        armed.add(stop);
        const late = setTimeout(() => {
          if (!armed.delete(stop)) return;
          const { what, point, about = '' } = where;
          reject(new Error(`never reached: ${what} ${point} ${about}\nlast passed:\n${passed.join('\n')}`));
        }, PATIENCE_MS);
        late.unref();
      }),
    awaits: (point, what) => waitingFor(point, what).length > 0,
    hold: async (point, what, bytes, held) => {
      passed.push(`${point} ${what.slice(0, 80)}`);
      if (passed.length > REMEMBERED) passed.shift();
      const stop = waitingFor(point, what).find(({ about }) => about === undefined || bytes.includes(about));
      if (stop === undefined) return;
      armed.delete(stop);
      try {
        await stop.deed(held);
        stop.done();
      } catch (error) {
        stop.failed(error);
      }
    },
  };
}
