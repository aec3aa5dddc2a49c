import { claimDataFolder, DataFolderBusyError } from '../../postgres/data-folder.ts';

/**
 * Makes this process the one writer of a folder; two writers would interleave their lines. The lock of a process that
 * no longer runs is taken over.
 * @returns what gives the folder free again
 * @throws {Error} when a running process holds it
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  try {
    const lock = await claimDataFolder(folder, { purpose: 'the sandbox' });
    return () => {
      lock.release();
      return Promise.resolve();
    };
  } catch (error) {
    if (!(error instanceof DataFolderBusyError)) throw error;
    throw new Error(`the sandbox ledger in ${folder} is in use by process ${error.owner.pid}`, {
      cause: error,
    });
  }
}
