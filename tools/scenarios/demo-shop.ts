import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DATA_DIR, localServices } from '../../local/backing-services.ts';
import { createDatabaseAnew } from '../../local/postgres/database-admin.ts';
import { startEmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import { startServer, type StartedServer } from '../../src/bootstrap/start-server.ts';
import { loadConfig } from '../../src/config.ts';
import { createLogger } from '../../src/platform/logger.ts';

/**
 * Opens a shop on parts of its own (database, sandbox, ports), beside whatever runs already, and closes all of it
 * when the work has ended.
 * @param purpose the command that runs, for messages
 */
export async function inDemoShop<Result>(
  purpose: string,
  work: (server: StartedServer) => Promise<Result>,
): Promise<Result> {
  const dataDir = join(DATA_DIR, 'demo');
  // What the day raises stands in its report: log lines between them would only say it twice.
  const logger = createLogger('fatal', process.stderr);
  const postgres = await startEmbeddedPostgres({ dataDir, purpose, logger });
  try {
    rmSync(join(dataDir, 'sandbox'), { recursive: true, force: true });
    const databaseUrl = await createDatabaseAnew(postgres.url, 'demo');
    // Only what the day needs: a .env that points at a real service or database must not be touched by it.
    const config = loadConfig({
      DATABASE_URL: databaseUrl,
      PORT: '0',
      RECONCILE_EVERY_MIN: '0',
      CHECKOUTS_PER_MINUTE: '0',
    });
    const server = await startServer({ config, prepare: localServices(dataDir), purpose, logger });
    return await work(server).finally(() => server.stop());
  } finally {
    await postgres.stop();
  }
}
