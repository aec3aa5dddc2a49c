import { join, resolve } from 'node:path';

import type { Logger } from '../../../src/platform/logger.ts';
import { memoryLog, openEventLog, type EventLog } from './event-log.ts';
import type { LedgerState } from './state.ts';
import { lockFolder } from './writer-lock.ts';

/**
 * Opens `ledger.ndjson` in `dataDir`, fills `state` from it, and keeps every other process out.
 * @param dataDir null: nothing is kept
 * @throws {Error} when another process writes there, or the file is damaged
 */
export async function openLedgerFile(
  dataDir: string | null,
  state: LedgerState,
  logger: Logger,
): Promise<EventLog> {
  if (dataDir === null) return memoryLog;
  const folder = resolve(dataDir);
  const unlock = await lockFolder(folder);
  try {
    const log = await openEventLog(join(folder, 'ledger.ndjson'), logger, (event) => {
      state.apply(event);
    });
    return {
      ...log,
      async close() {
        await log.close();
        await unlock();
      },
    };
  } catch (error) {
    await unlock();
    throw error;
  }
}
