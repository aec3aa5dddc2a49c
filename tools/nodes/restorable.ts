import { openDebianPostgres, type DebianPostgres } from './debian-postgres.ts';
import type { Stage } from './stage.ts';

/** A database of a shop that can be lost, and how it is saved and brought back. */
export type Restorable = Pick<DebianPostgres, 'url' | 'query' | 'archived' | 'lose'> & {
  /** While orders run, before the moment. */
  backUp(): Promise<unknown>;
  /** At the moment. */
  save?(): Promise<unknown>;
  restore(moment: Date): Promise<void>;
};

/** A base backup, and the archive of the write-ahead log up to the moment. */
export async function openPointInTime(stage: Stage, folder: string): Promise<Restorable> {
  const postgres = await openDebianPostgres(stage, folder);
  await postgres.begin();
  return { ...postgres, backUp: postgres.takeBaseBackup, restore: postgres.restoreUntil };
}

/** What `pg_dump` wrote at the moment. */
export async function openDump(stage: Stage, folder: string): Promise<Restorable> {
  const postgres = await openDebianPostgres(stage, folder);
  await postgres.begin();
  const backUp = (): Promise<void> => Promise.resolve();
  return { ...postgres, backUp, save: postgres.dump, restore: postgres.restoreDump };
}
