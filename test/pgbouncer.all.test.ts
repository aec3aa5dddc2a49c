import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { startDesk, type Desk } from './reconciliation/support.ts';
import { databaseOfRoles, type RolesDatabase } from './support/database.ts';
import { eventually } from './support/eventually.ts';
import { settle, statusOf } from './support/outside.ts';
import { freePort } from './support/ports.ts';
import type { Checkout } from './support/shop.ts';

// A real PgBouncer in transaction mode stands between the program and its database. Debian has it in
// the package `pgbouncer`. Without it, nothing is tested here.

const FOLDERS = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
const BINARY = FOLDERS.map((folder) => join(folder, 'pgbouncer')).find(existsSync);
const withPooler = BINARY === undefined ? test.skip : test;

let roles: RolesDatabase;
let folder: string;
let pooler: ChildProcess;
let poolerUrl: URL;
let desk: Desk | undefined;
beforeAll(async () => {
  if (BINARY === undefined) return;
  roles = await databaseOfRoles();
  poolerUrl = new URL(roles.programUrl);
  const { hostname, port, username, password, pathname } = poolerUrl;
  const listenPort = await freePort();
  folder = await mkdtemp(join(tmpdir(), 'integrator-pgbouncer-'));
  const name = pathname.slice(1);
  const config = `[databases]
${name} = host=${hostname} port=${port} dbname=${name} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
`;
  await writeFile(join(folder, 'pgbouncer.ini'), config);
  await chmod(folder, 0o755);
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  pooler = spawn(BINARY, [...user, join(folder, 'pgbouncer.ini')], { stdio: 'ignore' });
  poolerUrl.port = String(listenPort);
  await eventually(() => isListening(listenPort));
  const env = { DATABASE_URL: poolerUrl.href, DATABASE_DIRECT_URL: roles.ownerUrl };
  desk = await startDesk({ database: roles.database, env });
});
afterAll(async () => {
  if (BINARY === undefined) return;
  await desk?.stop();
  pooler.kill('SIGTERM');
  if (pooler.exitCode === null) await once(pooler, 'exit');
  await rm(folder, { recursive: true });
});

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

const running = (): Desk => {
  if (desk === undefined) throw new Error('the program did not start');
  return desk;
};

withPooler('twelve purchases at once become paid over four connections of the pooler', async () => {
  const checkouts = await Promise.all(Array.from({ length: 12 }, (): Promise<Checkout> => running().checkout()));
  await Promise.all(checkouts.map(({ reference }) => settle(running(), reference)));
  for (const { orderId } of checkouts) expect(await statusOf(running(), orderId)).toBe('paid');
});

withPooler('a reconciliation has a session of its own past the pooler, and agrees', async () => {
  expect(await running().reconcile()).toMatchObject({ exit: 0, report: { verdict: 'agreed', matched: 12 } });
});
