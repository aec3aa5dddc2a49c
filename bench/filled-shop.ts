import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '../local/postgres/embedded-postgres.ts';
import { applyMigrations } from '../src/platform/database/migrations.ts';
import { createLogger } from '../src/platform/logger.ts';
import { fillShop } from './operations-shop.ts';

/**
 * A PostgreSQL of its own with a shop of so many orders, for as long as `work` takes.
 * @param work gets its address and the process id of its server
 */
export async function withFilledShop(
  orders: number,
  work: (url: string, pid: number) => Promise<void>,
): Promise<void> {
  const logger = createLogger('warn');
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-shop-'));
  const postgres = await startEmbeddedPostgres({ dataDir, logger, settings: { max_wal_size: '4GB' } });
  try {
    const migrations = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
    await applyMigrations({ url: postgres.url, dir: migrations, logger });
    const startedMs = performance.now();
    await fillShop(postgres.url, orders);
    const tookSec = (performance.now() - startedMs) / 1_000;
    process.stdout.write(`filled with ${orders} orders in ${tookSec.toFixed(1)} s\n`);
    const pidFile = await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8');
    await work(postgres.url, Number.parseInt(pidFile, 10));
  } finally {
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
