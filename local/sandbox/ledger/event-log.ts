import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';

import type { Logger } from '../../../src/platform/logger.ts';
import type { LedgerEvent } from './events.ts';
import { replay } from './replay.ts';

/** Where events are kept: a file, or nowhere. */
export type EventLog = {
  /** Takes the event for the next write. {@link EventLog.saved} tells when it is safe. */
  append(event: LedgerEvent): void;
  /**
   * Resolves once everything appended so far is in the file: it survives the end of this process, though
   * not a power cut (no fsync: a stand-in need not pay for it). Rejects from the first failed write on,
   * because memory is then ahead of the file and nothing more may be acknowledged until a restart.
   */
  saved(): Promise<void>;
  close(): Promise<void>;
};

/** Keeps nothing, for tests. */
export const memoryLog: EventLog = {
  append: () => undefined,
  saved: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

/**
 * Opens `file` (made if absent), hands every event in it to `onEvent`, and is then ready to append.
 * @throws {Error} when a line other than the last cannot be read
 */
export async function openEventLog(
  file: string,
  logger: Logger,
  onEvent: (event: LedgerEvent) => void,
): Promise<EventLog> {
  await mkdir(dirname(file), { recursive: true });
  const handle = await open(file, 'a+');
  try {
    const { goodBytes, tornBytes } = await replay(handle, onEvent);
    if (tornBytes > 0) {
      await handle.truncate(goodBytes);
      logger.warn({ file, tornBytes }, 'sandbox ledger ended in a torn line, which was cut off');
    }
  } catch (error) {
    await handle.close();
    throw error;
  }
  return createAppender(handle, logger);
}

/** Lines that arrive while a write is under way share the next one: busy times cost few writes. */
function createAppender(handle: FileHandle, logger: Logger): EventLog {
  let waiting: string[] = [];
  let isWriteDue = false;
  let tail: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    const text = waiting.join('');
    waiting = [];
    isWriteDue = false;
    try {
      await handle.appendFile(text);
    } catch (error) {
      logger.error({ err: error }, 'sandbox ledger cannot be written: nothing is acknowledged any more');
      throw error;
    }
  }

  return {
    append(event) {
      waiting.push(`${JSON.stringify(event)}\n`);
      if (isWriteDue) return;
      isWriteDue = true;
      // A rejected tail skips every later write: a line after a half-written one would be unreadable.
      tail = tail.then(write);
      tail.catch(() => undefined); // callers learn of it through saved()
    },
    saved: () => tail,
    async close() {
      await tail.catch(() => undefined);
      await handle.close();
    },
  };
}
