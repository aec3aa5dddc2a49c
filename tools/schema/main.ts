import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import { applyMigrations } from '../../src/platform/database/migrations.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { readSchema } from './read-schema.sql.ts';

/** `npm run db:schema`: writes prisma/schema.sql from what the migrations make of an empty database. */

const PRISMA = fileURLToPath(new URL('../../prisma', import.meta.url));
const logger = createLogger('warn');
const dataDir = await mkdtemp(join(tmpdir(), 'integrator-schema-'));
const postgres = await startEmbeddedPostgres({ dataDir, logger, settings: { fsync: 'off' } });
try {
  await applyMigrations({ url: postgres.url, dir: join(PRISMA, 'migrations'), logger });
  const pool = new pg.Pool({ connectionString: postgres.url, max: 1 });
  await writeFile(join(PRISMA, 'schema.sql'), await readSchema(pool));
  await pool.end();
} finally {
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}
