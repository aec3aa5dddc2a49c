import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { createLogger } from '../src/platform/logger.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../src/platform/postgres/embedded-postgres.ts';
import { applyMigrations } from '../src/platform/postgres/migrations.ts';
import { pause, until } from './child.ts';

/** A PostgreSQL of the runner's own, with the safety that a real one has, and what may befall it. */
export type ChaosPostgres = {
  /** A migrated database for one run. @returns its address */
  newDatabase(name: string): Promise<string>;
  /** Ends every session and starts again. */
  restart(): Promise<void>;
  /** Ends at once, as after a loss of power, and recovers. */
  crash(): Promise<void>;
  /** Kills the process of one session: all sessions are dropped, and it recovers. @returns false when there was none */
  killBackend(url: string): Promise<boolean>;
  stop(): Promise<void>;
};

const MIGRATIONS = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
const logger = createLogger('silent');

export async function startChaosPostgres(): Promise<ChaosPostgres> {
  const dataDir = await realpath(await mkdtemp(join(tmpdir(), 'integrator-chaos-postgres-')));
  await chmod(dataDir, 0o755);
  const port = await anyPort();
  const start = (): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres({ dataDir, port, logger, purpose: 'npm run chaos' });
  let server = await start();
  const template = server.url;
  await applyMigrations({ url: template, dir: MIGRATIONS, logger });
  const addressOf = (database: string): string => {
    const url = new URL(template);
    url.pathname = `/${database}`;
    return url.href;
  };
  const begin = async (): Promise<void> => {
    // The port of a server that has just ended may be taken for a moment.
    for (let tries = 0; tries < 20; tries += 1) {
      const started = await start().catch(() => null);
      if (started !== null) {
        server = started;
        return;
      }
      await pause(100);
    }
    throw new Error('PostgreSQL does not start again');
  };
  return {
    newDatabase: async (name) => {
      await ask(
        addressOf('postgres'),
        `CREATE DATABASE ${name} TEMPLATE ${new URL(template).pathname.slice(1)}`,
      );
      return addressOf(name);
    },
    restart: async () => {
      await server.stop();
      await begin();
    },
    crash: async () => {
      const [row] = await ask<{ file: string }>(
        addressOf('postgres'),
        `SELECT pg_read_file('postmaster.pid') AS file`,
      );
      process.kill(Number(row?.file.split('\n')[0]), 'SIGQUIT');
      await server.stop();
      await begin();
    },
    killBackend: async (url) => {
      const [backend] = await ask<{ pid: number }>(
        url,
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
           AND backend_type = 'client backend' ORDER BY state_change DESC LIMIT 1`,
      );
      if (backend === undefined) return false;
      process.kill(backend.pid, 'SIGKILL');
      await until(() => ask(url, 'SELECT').then(() => true), 20_000);
      return true;
    },
    stop: async () => {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

/** One statement on a connection of its own. */
export async function ask<Row extends object>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  // A node that stands still may hold the very rows: nothing here waits for ever.
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 3_000,
    lock_timeout: 3_000,
    statement_timeout: 15_000,
    query_timeout: 20_000,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A port that was free a moment ago. */
export async function anyPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
