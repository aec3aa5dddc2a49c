import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { applyMigrations } from '../../src/platform/database/migrations.ts';

/**
 * One real PostgreSQL for the whole run, with one migrated database in it. Every test file clones that database
 * (a copy of files, some 20 ms), so that none sees another's rows.
 */
export default async function setUp(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'integrator-test-'));
  const logger = createLogger('warn');
  const settings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' };
  const postgres = await startEmbeddedPostgres({ dataDir, logger, purpose: 'npm test', settings });
  const migrations = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));
  await applyMigrations({ url: postgres.url, dir: migrations, logger });
  process.env.TEST_TEMPLATE_URL = postgres.url;
  globalThis.tearDownTests = async () => {
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}

declare global {
  var tearDownTests: () => Promise<void>;
}
