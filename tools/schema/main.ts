import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import { applyMigrations } from '../../src/platform/database/migrations.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { readOptions, usageText } from '../../src/platform/usage.ts';
import { readSchema } from './read-schema.sql.ts';

const PRISMA = fileURLToPath(new URL('../../prisma', import.meta.url));
const HELP = usageText('npm run db:schema', {
  does: 'Writes prisma/schema.sql from what the migrations make of an empty database.',
  forms: [''],
  options: {},
  exits: '0 written',
  example: '',
});

const args = process.argv.slice(2);
if (readOptions(HELP, args, () => parseArgs({ args, options: {} })) !== null) await writeSchema();

async function writeSchema(): Promise<void> {
  const logger = createLogger('warn');
  const dataDir = await mkdtemp(join(tmpdir(), 'integrator-schema-'));
  const postgres = await startEmbeddedPostgres({ dataDir, logger, settings: { fsync: 'off' } });
  try {
    await applyMigrations({ url: postgres.url, dir: join(PRISMA, 'migrations'), logger });
    const client = new pg.Client(postgres.url);
    await client.connect();
    await writeFile(join(PRISMA, 'schema.sql'), await readSchema(client));
    await client.end();
  } finally {
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
