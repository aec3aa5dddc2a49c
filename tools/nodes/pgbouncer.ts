import { spawnSync } from 'node:child_process';
import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { createLogger } from '../../src/platform/logger.ts';
import { startEmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import { unprivilegedAccount } from '../../local/postgres/unix-account.ts';
import { audit, printTable, startLoad, totals } from './load.ts';
import {
  freePort,
  needProgram,
  productionEnv,
  startServer,
  startService,
  until,
  type Stage,
} from './stage.ts';

const SHOPPERS = 6;
const SERVER_CONNECTIONS = 4;
const CLI = fileURLToPath(new URL('../../dist/commands/cli.js', import.meta.url));

/** Two servers and a worker behind PgBouncer in transaction mode, with fewer connections than they have clients. */
export async function pgbouncer(stage: Stage): Promise<boolean> {
  const program = needProgram('pgbouncer', 'pgbouncer');
  const database = await startEmbeddedPostgres({
    dataDir: join(stage.folder, 'data'),
    logger: createLogger('warn'),
    purpose: 'npm run nodes',
  });
  stage.later(database.stop);
  const direct = new URL(database.url);
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  stage.later(() => pool.end());
  // Behind the pooler the time-outs are the role's. A session of our own still sets its own.
  await pool.query(`ALTER ROLE ${direct.username} SET statement_timeout = '5s'`);
  await pool.query(`ALTER ROLE ${direct.username} SET lock_timeout = '2s'`);
  await pool.query(`ALTER ROLE ${direct.username} SET idle_in_transaction_session_timeout = '10s'`);

  const port = await freePort();
  startPgbouncer(stage, program, direct, port);
  const bare = Object.assign(new URL(database.url), { port: String(port) });
  const url = Object.assign(new URL(bare), { search: `pgbouncer=true&direct=${direct.host}` });
  await until('PgBouncer answers', () => answers(bare.href));

  const [first, second] = [await freePort(), await freePort()];
  const serviceUrl = await startService(stage, `http://127.0.0.1:${first}/webhooks/payments`);
  const env = productionEnv(url.href, serviceUrl);
  const untold = spawnSync(process.execPath, [CLI, 'migrate'], {
    env: { ...env, DATABASE_URL: bare.href },
    encoding: 'utf8',
  });
  await startServer(stage, env, first);
  await startServer(stage, env, second);
  stage.node('worker', 'worker.js', env);

  const loads = [first, second].map((node) =>
    startLoad({ url: `http://127.0.0.1:${node}`, serviceUrl, shoppers: SHOPPERS / 2, pauseMs: 20 }),
  );
  await pause(12_000);
  const connections = await pool.query<{ count: number }>(
    `SELECT count(*)::int FROM pg_stat_activity WHERE application_name = 'through-pgbouncer'`,
  );
  for (const load of loads) await load.stop();
  const reconciled = spawnSync(process.execPath, [CLI, 'reconcile'], {
    env: { ...env, LOG_LEVEL: 'silent' },
    encoding: 'utf8',
  });
  const prepared = await pool.query<{ count: number }>('SELECT count(*)::int FROM pg_prepared_statements');
  const listeners = await pool.query<{ count: number }>(
    `SELECT count(*)::int FROM pg_stat_activity WHERE query = 'LISTEN due'`,
  );
  const books = await Promise.all(loads.map((load) => audit(load, (sql) => pool.query(sql), serviceUrl)));
  const counts = loads.map(totals);
  const sum = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0);
  const failed = sum(counts.map((count) => count.failed));
  printTable('Two servers and a worker behind PgBouncer in transaction mode', {
    'requests sent': sum(counts.map((count) => count.sent)),
    'requests failed': failed,
    'orders seen paid': sum(loads.map((load) => load.paid.size)),
    'payments lost': sum(books.map((each) => each.paymentsLost)),
    'connections of PgBouncer to PostgreSQL': `${connections.rows[0]?.count ?? '?'} (at most ${SERVER_CONNECTIONS})`,
    'listeners for wake-ups, directly': listeners.rows[0]?.count ?? 0,
    'statements prepared behind the pooler': prepared.rows[0]?.count ?? 0,
    'reconciliation beside it ends with': reconciled.status ?? 'nothing',
    'without pgbouncer=true it says': untold.stderr.trim().slice(0, 150),
    ...Object.fromEntries(
      loads.flatMap((load) => load.failures).map((words, n) => [`failure ${n + 1}`, words]),
    ),
  });
  return failed === 0 && reconciled.status === 0 && untold.status === 1 && listeners.rows[0]?.count === 1;
}

function startPgbouncer(
  stage: Stage,
  program: string,
  { hostname, port, username, password, pathname }: URL,
  listen: number,
): void {
  const account = process.getuid?.() === 0 ? unprivilegedAccount() : undefined;
  const [conf, users] = [join(stage.folder, 'pgbouncer.ini'), join(stage.folder, 'users.txt')];
  writeFileSync(users, `"${username}" "${password}"\n`, { mode: 0o600 });
  writeFileSync(
    conf,
    `[databases]
${pathname.slice(1)} = host=${hostname} port=${port} dbname=${pathname.slice(1)} application_name=through-pgbouncer
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listen}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${SERVER_CONNECTIONS}
max_client_conn = 200
`,
  );
  if (account) chownSync(users, account.uid, account.gid);
  stage.start('pgbouncer', program, [conf], account);
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    return (await client.query('SELECT 1')).rows.length === 1;
  } finally {
    await client.end();
  }
}
