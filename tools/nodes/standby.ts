import {
  appendFileSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { createLogger } from '../../src/platform/logger.ts';
import { startEmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import { preparePostgresHome } from '../../local/postgres/home.ts';
import { POSTGRES_ENV } from '../../local/postgres/process.ts';
import { killTree } from './processes.ts';
import { relay } from './relay.ts';
import { freePort, until, type Part, type Stage } from './stage.ts';

export type Pair = {
  /** Always leads to the server that is primary now, as a virtual address or a managed endpoint does. */
  url: string;
  /** Kills the primary with SIGKILL, all of its processes. */
  killPrimary(): void;
  /** Promotes the standby and turns the address to it. */
  promote(): Promise<void>;
  /** Whether the primary waits for the standby at each commit. */
  isSynchronous(): Promise<boolean>;
};

/** A primary, and a standby that has written each commit to its disk before the primary says that it is done. */
export async function startPair(stage: Stage): Promise<Pair> {
  const homes = [join(stage.folder, 'one'), join(stage.folder, 'two')];
  const logger = createLogger('error');
  const seed = await startEmbeddedPostgres({ dataDir: homes[0] ?? '', logger, purpose: 'npm run nodes' });
  await seed.stop();
  mkdirSync(homes[1] ?? '');
  const [one, two] = homes.map((dir) => preparePostgresHome(dir, logger));
  if (!one || !two) throw new Error('Bug: two homes');
  // A copy of a server that has stopped is a base backup; the programs from npm have no pg_basebackup.
  const [primaryData, standbyData] = [join(one.dir, 'postgres'), join(two.dir, 'postgres')];
  rmSync(standbyData, { recursive: true, force: true });
  cpSync(primaryData, standbyData, { recursive: true });
  const [primaryPort, standbyPort] = [await freePort(), await freePort()];
  const address = new URL(seed.url);
  writeFileSync(join(standbyData, 'standby.signal'), '');
  appendFileSync(
    join(standbyData, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${primaryPort} user=${address.username} password=${address.password} application_name=standby'\n`,
  );
  if (two.account) own(standbyData, two.account);
  const run = (name: string, home: typeof one, port: number, settings: Record<string, string> = {}): Part => {
    const flags = Object.entries({
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '200',
      port: String(port),
      ...settings,
    });
    const args = [
      '-D',
      join(home.dir, 'postgres'),
      ...flags.flatMap(([key, value]) => ['-c', `${key}=${value}`]),
    ];
    return stage.start(name, join(home.programs, 'bin', 'postgres'), args, {
      ...home.account,
      cwd: home.dir,
      env: POSTGRES_ENV,
    });
  };
  const urlOf = (port: number): string => Object.assign(new URL(address), { port: String(port) }).href;
  const primary = run('primary', one, primaryPort, {
    synchronous_standby_names: 'standby',
    synchronous_commit: 'on',
  });
  const standby = run('standby', two, standbyPort);
  await until('the standby streams', async () => (await ask(urlOf(primaryPort), SYNCHRONOUS)) === 'sync');

  let port = primaryPort;
  const front = await relay(stage, () => ({ host: '127.0.0.1', port }));
  stage.later(() => stage.end(standby, 'SIGINT'));
  return {
    url: urlOf(front.port),
    isSynchronous: async () => (await ask(urlOf(primaryPort), SYNCHRONOUS)) === 'sync',
    killPrimary: () => {
      if (primary.child.pid !== undefined) killTree(primary.child.pid);
      front.cut();
    },
    promote: async () => {
      await ask(urlOf(standbyPort), 'SELECT pg_promote()::text AS answer');
      await until(
        'the standby is primary',
        async () => (await ask(urlOf(standbyPort), IS_PRIMARY)) === 'true',
      );
      port = standbyPort;
    },
  };
}

const SYNCHRONOUS = `SELECT sync_state AS answer FROM pg_stat_replication WHERE application_name = 'standby'`;
const IS_PRIMARY = 'SELECT (NOT pg_is_in_recovery())::text AS answer';

async function ask(url: string, sql: string): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<{ answer: string }>(sql)).rows[0]?.answer;
  } finally {
    await client.end();
  }
}

function own(path: string, account: { uid: number; gid: number }): void {
  chownSync(path, account.uid, account.gid);
  if (!statSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) own(join(path, name), account);
}
