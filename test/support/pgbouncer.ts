import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { eventually } from './eventually.ts';
import { freePort } from './ports.ts';

export type PgBouncer = {
  /** The database by the same role, through PgBouncer. */
  url: string;
  /** Ends only the process that was started. */
  close(): Promise<void>;
};

/** PgBouncer refuses to run as root, so it runs as nobody. */
const NOBODY = 65_534;

/**
 * The path of PgBouncer, which Debian installs outside the PATH of users. Undefined: not installed.
 */
export const PGBOUNCER = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  .map((folder) => join(folder, 'pgbouncer'))
  .find(isExecutable);

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts a real PgBouncer in transaction mode, on a free port of loopback. All clients share three
 * sessions, so that the transactions of one client use different sessions.
 * @param target URL of a database, with a role and its password
 */
export async function startPgBouncer(target: string): Promise<PgBouncer> {
  const folder = await mkdtemp(join(tmpdir(), 'integrator-pgbouncer-'));
  await chmod(folder, 0o755);
  const { hostname, port, pathname, username, password } = new URL(target);
  const ownPort = await freePort();
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: ownPort,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: join(folder, 'users.txt'),
    pool_mode: 'transaction',
    default_pool_size: 3,
    max_client_conn: 200,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(join(folder, 'users.txt'), `"${username}" "${password}"\n`);
  await writeFile(file, `[databases]\n* = host=${hostname} port=${port}\n[pgbouncer]\n${lines.join('\n')}\n`);
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const bouncer = spawn(PGBOUNCER ?? 'pgbouncer', [file], { stdio: 'ignore', ...user });
  const ended = once(bouncer, 'exit');
  const close = async () => {
    bouncer.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await eventually(() => isListening(ownPort));
  } catch (error) {
    await close();
    throw error;
  }
  return { url: `postgres://${username}:${password}@127.0.0.1:${ownPort}${pathname}`, close };
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}
