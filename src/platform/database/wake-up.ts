import pg from 'pg';
import { sleep } from '../clock.ts';
import { KEPT_ALIVE, readAddress } from './address.ts';
import type { Database } from './database.ts';
import type { Logger } from '../logger.ts';
import type { Secret } from '../secret.ts';

/**
 * Sends "something is due" from the process that wrote the row to the ones that work on it. It is only a
 * wake-up: the due rows decide, and a loop that misses it finds them at its next poll.
 */
export type WakeUp = {
  /** Calls the listeners here at once, and in the other processes within {@link QUIET_MS}. Never fails. */
  ring(): void;
  /** Calls `listener` on every ring, from this process or another. */
  listen(listener: () => void): void;
  close(): Promise<void>;
};

// A NOTIFY takes a database-wide lock at commit: it is sent apart from hot statements and at most this often.
const QUIET_MS = 50;
const RECONNECT_MS = 1_000;
const CHANNEL = 'due';

export function createWakeUp(database: Database, url: Secret, logger: Logger): WakeUp {
  const listeners: (() => void)[] = [];
  const closing = new AbortController();
  let pending = false;
  let listening: Promise<void> | undefined;

  const ringHere = (): void => {
    listeners.forEach((listener) => {
      listener();
    });
  };

  async function ringElsewhere(): Promise<void> {
    if (pending) return;
    pending = true;
    await sleep(QUIET_MS, closing.signal);
    pending = false;
    if (!closing.signal.aborted)
      await database.query(`SELECT pg_notify('${CHANNEL}', '')`).catch(() => undefined);
  }

  return {
    ring: () => {
      ringHere();
      void ringElsewhere();
    },
    listen: (listener) => {
      listeners.push(listener);
      listening ??= hear(url, ringHere, closing.signal, logger);
    },
    close: async () => {
      closing.abort();
      await listening;
    },
  };
}

/** Holds one connection of its own on the channel, and reconnects whenever it breaks. */
async function hear(url: Secret, ring: () => void, closing: AbortSignal, logger: Logger): Promise<void> {
  while (!closing.aborted) {
    const client = new pg.Client({
      connectionString: readAddress(url.reveal()).direct,
      ...KEPT_ALIVE,
      connectionTimeoutMillis: 2_000,
    });
    const lost = new Promise<void>((resolve) => {
      // A broken connection can emit two errors, and an error event without a listener ends the process.
      client.on('error', () => {
        resolve();
      });
      client.once('end', () => {
        resolve();
      });
      closing.addEventListener(
        'abort',
        () => {
          resolve();
        },
        { once: true },
      );
    });
    try {
      client.on('notification', ring);
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      ring();
      await lost;
    } catch (error) {
      logger.warn({ err: error }, 'cannot listen for wake-ups, polling meanwhile');
    }
    await client.end().catch(() => undefined);
    await sleep(RECONNECT_MS, closing);
  }
}
