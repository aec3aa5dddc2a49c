import { execFile, spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { POSTGRES_ENV } from '../../local/postgres/process.ts';
import { unprivilegedAccount } from '../../local/postgres/unix-account.ts';
import { freePort, until, type Part, type Stage } from './stage.ts';

const ROLE = 'shop';
const PASSWORD = 'of-this-rehearsal';
/** Seconds after which a segment that is not full is archived: what a loss costs at most, and how long we wait. */
const ARCHIVE_TIMEOUT_SEC = 2;
const LIMIT_MS = 120_000;

/** A cluster of Debian's PostgreSQL that can be lost. Its address stays the same, whatever it is restored from. */
export type DebianPostgres = {
  url: string;
  data: string;
  query<Row extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]>;
  /** A cluster with an empty database of the shop, which archives its write-ahead log. */
  begin(): Promise<void>;
  start(): Promise<void>;
  /** A program of this PostgreSQL, or of Debian, as the account that owns the data. */
  run(program: string, ...args: string[]): Promise<unknown>;
  /** Returns when everything that is committed by now is in the archive. */
  archived(): Promise<void>;
  takeBaseBackup(): Promise<unknown>;
  dump(): Promise<unknown>;
  /** Stops at once and removes the data folder, the write-ahead log in it included. */
  lose(): Promise<void>;
  restoreUntil(moment: Date): Promise<void>;
  restoreDump(): Promise<void>;
};

/** @throws with the command to type when Debian's PostgreSQL is not installed */
export async function openDebianPostgres(
  stage: Stage,
  folder: string,
  more: Record<string, string> = {},
): Promise<DebianPostgres> {
  const programs = programsOfDebian();
  const account = process.getuid?.() === 0 ? unprivilegedAccount() : undefined;
  const [data, base] = [join(folder, 'data'), join(folder, 'base')];
  const [dump, archive] = [join(folder, 'orders.dump'), join(folder, 'archive')];
  const port = await freePort();
  const urlOf = (database: string): string =>
    `postgresql://${ROLE}:${PASSWORD}@127.0.0.1:${port}/${database}`;
  const url = urlOf('shop');
  let server: Part | undefined;

  const run = (program: string, ...args: string[]): Promise<unknown> =>
    promisify(execFile)(program, args, {
      ...account,
      cwd: folder,
      env: { ...POSTGRES_ENV, PATH: `${programs}:/usr/bin:/bin`, PGPASSWORD: PASSWORD },
      timeout: LIMIT_MS,
    });
  const query: DebianPostgres['query'] = (sql, values) => ask(url, sql, values);
  const begin = async (): Promise<void> => {
    // A new cluster begins its numbers anew.
    rmSync(archive, { recursive: true, force: true });
    for (const each of [folder, archive]) {
      mkdirSync(each, { recursive: true });
      chmodSync(each, 0o777);
    }
    const password = join(folder, 'password');
    writeFileSync(password, PASSWORD, { mode: 0o644 });
    await run('initdb', '-D', data, '-U', ROLE, `--pwfile=${password}`, '--auth=scram-sha-256', '-E', 'UTF8');
    const settings = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      port: String(port),
      max_connections: '200',
      archive_mode: 'on',
      archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f`,
      archive_timeout: `${ARCHIVE_TIMEOUT_SEC}s`,
      ...more,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
    appendFileSync(join(data, 'postgresql.conf'), lines.join(''));
    await start();
    await run('createdb', '--maintenance-db', urlOf('postgres'), 'shop');
  };
  async function start(): Promise<void> {
    const program = join(programs, 'postgres');
    server = stage.start(`postgres-${port}`, program, ['-D', data], {
      ...account,
      cwd: folder,
      env: POSTGRES_ENV,
    });
    const { child } = server;
    const isPrimary = async (): Promise<boolean> => {
      if (child.exitCode !== null) return true;
      const [row] = await ask<{ is: boolean }>(urlOf('postgres'), 'SELECT NOT pg_is_in_recovery() AS is');
      return row?.is === true;
    };
    await until('PostgreSQL writes', isPrimary, LIMIT_MS);
    if (child.exitCode !== null) throw new Error('PostgreSQL has ended (KEEP=1 keeps its log)');
  }
  return {
    url,
    data,
    query,
    begin,
    start,
    run,
    archived: () => untilArchived(query),
    takeBaseBackup: () => run('pg_basebackup', '--dbname', url, '--pgdata', base, '--checkpoint=fast'),
    dump: () => run('pg_dump', '--format=custom', '--file', dump, url),
    lose: async () => {
      if (server) await stage.end(server, 'SIGQUIT');
      rmSync(data, { recursive: true, maxRetries: 5 });
    },
    restoreUntil: async (moment) => {
      // A time zone has a number there: it takes no Z.
      await run('cp', '-a', base, data);
      appendFileSync(
        join(data, 'postgresql.auto.conf'),
        `restore_command = 'cp ${archive}/%f %p'
recovery_target_time = '${moment.toISOString().replace('Z', '+00')}'
recovery_target_action = 'promote'\n`,
      );
      await run('touch', join(data, 'recovery.signal'));
      await start();
    },
    restoreDump: async () => {
      await begin();
      await run('pg_restore', '--exit-on-error', '--dbname', url, dump);
    },
  };
}

/** One statement on a connection of its own. */
export async function ask<Row extends pg.QueryResultRow>(
  address: string,
  sql: string,
  values?: unknown[],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: address });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Row>(sql, values)).rows;
  } finally {
    await client.end();
  }
}

/** Returns when everything that is committed by now is in the archive. */
export async function untilArchived(query: DebianPostgres['query']): Promise<void> {
  const [now] = await query<{ wal: string }>('SELECT pg_walfile_name(pg_current_wal_lsn()) AS wal');
  await until('the write-ahead log is archived', async () => {
    const [last] = await query<{ wal: string }>('SELECT last_archived_wal AS wal FROM pg_stat_archiver');
    return (last?.wal ?? '') >= (now?.wal ?? '~');
  });
}

/** The folder of the newest server; the client alone has no initdb. */
export function programsOfDebian(): string {
  const find = 'ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null | sort -V | tail -n 1';
  const found = spawnSync('sh', ['-c', find], { encoding: 'utf8' }).stdout.trim();
  if (found !== '') return dirname(found);
  throw new Error(
    "Debian's PostgreSQL is not installed: apt-get install -y --no-install-recommends postgresql",
  );
}
