import { readFileSync, statfsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { applyMigrations } from '../../src/platform/database/migrations.ts';
import { compileTo } from './compiled.ts';

/** Linux' file system in memory. */
const MEMORY = '/dev/shm';
/** A run fills some 600 MB. */
const ENOUGH_BYTES = 2 * 2 ** 30;

const SETTINGS = {
  // What a crash would lose nobody misses.
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  max_wal_size: '256MB',
  // Every worker has pools of several programs.
  max_connections: '500',
};

/**
 * One real PostgreSQL for the whole run, with one migrated database in it. Every test file clones that
 * database (a copy of files: some 15 ms in memory, 60 ms on a disk), so that none sees another's rows.
 */
export default async function setUp(): Promise<void> {
  if (isRoomy(MEMORY)) process.env.TMPDIR = MEMORY;
  const folder = await mkdtemp(join(tmpdir(), 'integrator-test-'));
  // Any account may pass: some processes take on another one.
  await chmod(folder, 0o755);
  const dataDir = join(folder, 'database');
  const logger = createLogger('warn');
  const postgres = await startEmbeddedPostgres({ dataDir, logger, purpose: 'npm test', settings: SETTINGS });
  const migrations = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));
  await applyMigrations({ url: postgres.url, dir: migrations, logger });
  process.env.TEST_TEMPLATE_URL = postgres.url;
  process.env.TEST_COMPILED = join(folder, 'compiled');
  compileTo(process.env.TEST_COMPILED);
  globalThis.tearDownTests = async () => {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

/** In containers it is often small, and no program may be started from it. */
function isRoomy(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[1] === folder);
    return bavail * bsize >= ENOUGH_BYTES && mount !== undefined && !/\bnoexec\b/.test(mount);
  } catch {
    return false;
  }
}

declare global {
  var tearDownTests: () => Promise<void>;
}
