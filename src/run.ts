import { ConfigError, EXIT_BAD_CONFIG, loadConfig, type Config } from './config.ts';
import { DataFolderBusyError } from './platform/data-folder.ts';
import { EmbeddedPostgresError } from './platform/embedded-postgres.ts';
import { PortTakenError } from './platform/http-server.ts';
import { DatabaseUnreachableError, MigrationError } from './platform/migrations.ts';

/** Folder of everything embedded, in the checkout: beside the code, so that a stranger finds it and may delete it. */
export const DATA_DIR = '.data';

/** Troubles that a person can mend from the message alone; a stack trace would only hide it. */
const PLAIN = [
  ConfigError,
  DataFolderBusyError,
  EmbeddedPostgresError,
  PortTakenError,
  DatabaseUnreachableError,
  MigrationError,
];

/** Runs a process: reads the configuration, and says in plain words why it could not do its work. */
export async function runProcess(work: (config: Config) => Promise<number | undefined>): Promise<void> {
  try {
    const code = await work(loadConfig());
    if (code !== undefined) process.exitCode = code;
  } catch (error) {
    const isPlain = PLAIN.some((kind) => error instanceof kind);
    process.stderr.write(`${isPlain ? (error as Error).message : String((error as Error).stack ?? error)}\n`);
    // A half-started process may hold sockets and children open; there is nothing left to wait for.
    process.exit(error instanceof ConfigError ? EXIT_BAD_CONFIG : 1);
  }
}

/** Resolves on the first SIGINT or SIGTERM. A second one ends the process at once. */
export function terminationSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(130));
        resolve(signal);
      });
    }
  });
}
