import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../src/platform/logger.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import { applyMigrations } from '../../src/platform/database/migrations.ts';
import { freePort } from '../../test/support/ports.ts';
import { ask } from './ask.ts';
import { until } from './child.ts';
import type { DatabaseClock } from './database-clock.ts';
import type { Disk } from './disk.ts';
import { troublesOf, type Troubles } from './troubles.ts';
import { THIS_TREE, type Tree } from './tree.ts';

/** A PostgreSQL of the runner's own, with the safety that a real one has, and what may befall it. */
export type ChaosPostgres = {
  /** A database for one run, with the schema of these sources. @returns its address */
  newDatabase(name: string, tree: Tree): Promise<string>;
  dropDatabase(url: string): Promise<void>;
  /** Ends every session and starts again. */
  restart(): Promise<void>;
  /** Ends at once, as after a loss of power, and recovers. */
  crash(): Promise<void>;
  /** Kills the process of one session: all sessions are dropped, and it recovers. @returns false when there was none */
  killBackend(url: string): Promise<boolean>;
  stop(): Promise<void>;
} & Troubles;

export type ChaosPostgresOptions = {
  /** What its data is kept on. A text says why there is none of bounded size. */
  disk: Disk | string;
  /** What its processes read the time from. A text says why it is the machine's alone. */
  clock: DatabaseClock | string;
};

/** Three processes of twenty connections each, and room for those who look on. */
const MAX_CONNECTIONS = 90;
const STARTS_AGAIN_MS = 60_000;
const logger = createLogger('silent');

export async function startChaosPostgres({ disk, clock }: ChaosPostgresOptions): Promise<ChaosPostgres> {
  const parent = typeof disk === 'string' ? tmpdir() : disk.folder;
  const dataDir = await realpath(await mkdtemp(join(parent, 'integrator-chaos-postgres-')));
  await chmod(dataDir, 0o755);
  const port = await freePort();
  const settings = { max_connections: String(MAX_CONNECTIONS) };
  const env = typeof clock === 'string' ? {} : clock.env;
  const start = (): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres({ dataDir, port, logger, purpose: 'npm run chaos', settings, env });
  let server = await start();
  const template = server.url;
  await applyMigrations({ url: template, dir: THIS_TREE.migrations, logger });
  const addressOf = (database: string): string => {
    const url = new URL(template);
    url.pathname = `/${database}`;
    return url.href;
  };
  const begin = async (): Promise<void> => {
    // The port of a server that has just ended may be taken for a moment.
    const hasBegun = await until(async () => Boolean((server = await start())), STARTS_AGAIN_MS);
    if (!hasBegun) throw new Error('PostgreSQL does not start again');
  };
  const restart = async (): Promise<void> => {
    await server.stop();
    await begin();
  };
  return {
    newDatabase: async (name, tree) => {
      const likeness = tree === THIS_TREE ? new URL(template).pathname.slice(1) : 'template1';
      await ask(addressOf('postgres'), `CREATE DATABASE ${name} TEMPLATE ${likeness}`);
      if (tree !== THIS_TREE) await applyMigrations({ url: addressOf(name), dir: tree.migrations, logger });
      return addressOf(name);
    },
    dropDatabase: async (url) => {
      await ask(
        addressOf('postgres'),
        `DROP DATABASE IF EXISTS ${new URL(url).pathname.slice(1)} WITH (FORCE)`,
      );
    },
    restart,
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
    ...troublesOf({ addressOf, restart, disk, clock }),
    stop: async () => {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}
