import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { createLogger } from '../../src/platform/logger.ts';
import { startEmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import { readPidFile } from '../../local/postgres/pid-file.ts';
import { printTable, startLoad, totals } from './load.ts';
import { childrenOf, cpuMs } from './processes.ts';
import { freePort, productionEnv, startServer, startService, type Part, type Stage } from './stage.ts';

const SHOPPERS = 8;
const RUN_MS = 15_000;

/**
 * What one order costs, from checkout to paid, in CPU time of a node and of PostgreSQL. CPU time, because orders per
 * second on a machine that also runs the service, the shoppers and the database say little about one that does not.
 */
export async function capacity(stage: Stage): Promise<boolean> {
  const data = join(stage.folder, 'data');
  const database = await startEmbeddedPostgres({
    dataDir: data,
    logger: createLogger('error'),
    purpose: 'npm run nodes',
  });
  stage.later(database.stop);
  const postmaster = readPidFile(realpathSync(join(data, 'postgres')))?.pid ?? 0;
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  stage.later(() => pool.end());
  const webhookPort = await freePort();
  const serviceUrl = await startService(stage, `http://127.0.0.1:${webhookPort}/webhooks/payments`);
  const env = { ...productionEnv(database.url, serviceUrl), WORKER: 'inline' };
  const nodes: { port: number; part: Part }[] = [];
  for (const count of [1, 2, 3]) {
    const port = count === 1 ? webhookPort : await freePort();
    nodes.push({ port, part: await startServer(stage, env, port) });
    const pids = nodes.map(({ part }) => part.child.pid ?? 0);
    const before = { nodes: cpuMs(pids), database: cpuMs([postmaster, ...childrenOf(postmaster)]) };
    const wal = await walBytes(pool);
    const loads = nodes.map(({ port: each }) =>
      startLoad({
        url: `http://127.0.0.1:${each}`,
        serviceUrl,
        shoppers: Math.ceil(SHOPPERS / count),
        pauseMs: 0,
      }),
    );
    await pause(RUN_MS);
    for (const load of loads) await load.stop();
    const paid = loads.reduce((sum, load) => sum + load.paid.size, 0);
    const nodeMs = (cpuMs(pids) - before.nodes) / paid;
    const databaseMs = (cpuMs([postmaster, ...childrenOf(postmaster)]) - before.database) / paid;
    printTable(`${count} node${count === 1 ? '' : 's'}, ${SHOPPERS} shoppers, everything on this machine`, {
      'orders paid': paid,
      'orders paid per second': (paid / (RUN_MS / 1_000)).toFixed(1),
      'requests failed': loads.reduce((sum, load) => sum + totals(load).failed, 0),
      'CPU of the nodes per paid order, ms': nodeMs.toFixed(1),
      'CPU of PostgreSQL per paid order, ms': databaseMs.toFixed(1),
      'write-ahead log per paid order, kB': (((await walBytes(pool)) - wal) / 1_024 / paid).toFixed(0),
    });
  }
  return true;
}

async function walBytes(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ bytes: string }>(`SELECT pg_current_wal_lsn() - '0/0' AS bytes`);
  return Number(rows[0]?.bytes ?? 0);
}
