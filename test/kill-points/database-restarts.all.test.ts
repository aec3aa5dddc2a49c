import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '../../src/platform/database/database.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import { applyMigrations } from '../../src/platform/database/migrations.ts';
import { Secret } from '../../src/platform/secret.ts';
import { cleanUp, freePort, newFolder } from '../support/process.ts';
import { eventually } from '../support/program.ts';
import { createWorld, type Place, type World } from './world.ts';

// PostgreSQL itself goes away in the middle of a confirmation: by a restart, or because one of its processes is killed,
// after which it drops every connection and recovers. What it had committed stays, and the rest is done again.

const MIGRATIONS = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));
const logger = createLogger('silent');

let world: World;
let postgres: EmbeddedPostgres;
let startPostgres: () => Promise<void>;

beforeAll(async () => {
  const [dataDir, port] = [await newFolder(), await freePort()];
  // Not the run's own database, which others use; and with the safety that a real one has.
  startPostgres = async () => {
    postgres = await startEmbeddedPostgres({ dataDir, port, logger, purpose: 'a test' });
  };
  await startPostgres();
  const { url } = postgres;
  await applyMigrations({ url, dir: MIGRATIONS, logger });
  const database = openDatabase(new Secret(url), logger);
  world = await createWorld({ database, url, close: () => database.close() });
});
beforeEach(() => world.start());
afterAll(async () => {
  await world.close();
  await postgres.stop();
  await cleanUp();
});

const FAULTS: Record<string, () => Promise<void>> = {
  'PostgreSQL is restarted': async () => {
    await postgres.stop();
    await startPostgres();
  },
  'one process of PostgreSQL is killed': async () => {
    const [backend] = await world.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
         AND query LIKE '%order_status_seen%' LIMIT 1`,
    );
    if (backend === undefined) throw new Error('no process of PostgreSQL confirms anything');
    const other = new pg.Client({ connectionString: postgres.url });
    other.on('error', () => undefined);
    await other.connect();
    const dropped = expect(other.query('SELECT pg_sleep(600)')).rejects.toThrow();
    process.kill(backend.pid, 'SIGKILL');
    // It drops every connection, this one too. All of the pool's are new when so many queries work at once.
    await dropped;
    const all = (): Promise<unknown> =>
      Promise.all(Array.from({ length: 20 }, () => world.query('SELECT pg_sleep(0.1)')));
    await eventually(() => all().then(Boolean, () => false));
  },
};

const POINTS: [name: string, point: Place['point']][] = [
  ['before it is committed', 'uncommitted'],
  ['after it is committed, with the reply lost', 'answered'],
];

const CASES = Object.keys(FAULTS).flatMap((fault) =>
  POINTS.map(([name, point]) => [fault, name, point] as const),
);

test.each(CASES)('%s while a confirmation is recorded, %s: paid once', async (fault, _name, point) => {
  const order = await world.open();
  const where: Place = { on: 'database', what: 'record-confirmation', point, about: order.reference };
  const happens = world.meanwhileAt(where, () => FAULTS[fault]?.() ?? Promise.resolve());
  await Promise.all([happens, world.hand(order.reference, 'pay')]);
  await world.settleDown();
  const [end] = await world.query(
    `SELECT o.status, (SELECT count(*)::int FROM releases r WHERE r.order_id = o.id) AS releases,
       (SELECT count(*)::int FROM journal j WHERE j.order_id = o.id AND j.event = 'order-paid') AS paid
     FROM orders o WHERE o.id = $1`,
    order.orderId,
  );
  expect(end).toEqual({ status: 'paid', releases: 1, paid: 1 });
  expect(new Set(world.deliveries(order.orderId)).size).toBe(1);
  expect(world.isRunning()).toBe(true);
  expect(await world.newViolations()).toEqual([]);
});
