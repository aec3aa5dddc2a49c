import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test as testOfBoth } from '@jest/globals';
import pg from 'pg';
import { sleep } from '../../../src/platform/clock.ts';
import { DataFolderBusyError, readDataFolderOwner } from '../../../local/postgres/data-folder.ts';
import {
  attachOrStartEmbeddedPostgres,
  type EmbeddedPostgres,
  EmbeddedPostgresError,
  startEmbeddedPostgres,
} from '../../../local/postgres/embedded-postgres.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { findPostgresBinaries } from '../../../local/postgres/binaries.ts';
import { isRunning, processArguments } from '../../../local/postgres/process-identity.ts';
import { argumentsOfCode } from '../../support/process.ts';
import { testOfAll, testOfFew as test } from '../../support/test-of-all.ts';

const SLOW = 300_000;
const logger = createLogger('silent');
const isRoot = process.getuid?.() === 0;
const testAsRoot = isRoot ? test : testOfBoth.skip;
const NOBODY = { uid: 65_534, gid: 65_534 };
// An ordinary user runs the programs of its own checkout. Where root's checkout is closed to everybody else (/root),
// there is no such user to try it with.
const testAsOrdinaryUser = isRoot && isOpenToEveryone(process.cwd()) ? test : testOfBoth.skip;

function isOpenToEveryone(dir: string): boolean {
  const isOpen = (fs.statSync(dir).mode & 0o001) !== 0;
  return isOpen && (dir === dirname(dir) || isOpenToEveryone(dirname(dir)));
}

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function tempFolder(): string {
  const dir = fs.mkdtempSync(join(tmpdir(), 'embedded-postgres-'));
  cleanups.push(() => {
    // The server of a process that was just killed may still be writing.
    fs.rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });
  return dir;
}

const made = fs.mkdtempSync(join(tmpdir(), 'embedded-postgres-made-'));
beforeAll(async () => {
  const { stop } = await startEmbeddedPostgres({ dataDir: made, logger, settings: { fsync: 'off' } });
  await stop();
}, SLOW);
afterAll(() => {
  fs.rmSync(made, { recursive: true });
});

/** With a cluster that has run: a copy, because to make one takes longer than what is tried with it. */
function madeFolder(): string {
  const dir = tempFolder();
  execFileSync('cp', ['-a', `${made}/.`, dir]);
  return dir;
}

async function start(dataDir: string, port?: number): Promise<EmbeddedPostgres> {
  const database = await startEmbeddedPostgres({
    dataDir,
    logger,
    settings: { fsync: 'off' },
    ...(port && { port }),
  });
  cleanups.push(() => database.stop());
  return database;
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows.map((row) => Object.values(row)[0]);
  } finally {
    await client.end();
  }
}

function serverPid(dataDir: string): number {
  return Number(fs.readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
}

async function until(isTrue: () => boolean, ms = 60_000): Promise<void> {
  for (let left = ms; !isTrue(); left -= 20) {
    if (left <= 0) throw new Error('waited in vain');
    await sleep(20);
  }
}

type Starter = {
  child: ChildProcess;
  url: Promise<string>;
  said: (word: string) => Promise<void>;
  words: () => string;
};

/** Another process that starts the database of `dataDir`, prints its url, and does `then` with it. */
function startElsewhere(dataDir: string, then = '', account?: { uid: number; gid: number }): Starter {
  const code = `
    import { startEmbeddedPostgres } from './local/postgres/embedded-postgres.ts';
    import { createLogger } from './src/platform/logger.ts';
    ${account ? `process.setgroups([]); process.setgid(${account.gid}); process.setuid(${account.uid});` : ''}
    const dataDir = ${JSON.stringify(dataDir)};
    const database = await startEmbeddedPostgres({
      dataDir, logger: createLogger('silent'), purpose: 'a test', settings: { fsync: 'off' },
    }).catch((error) => { console.log('refused ' + error.message); process.exit(1); });
    console.log('url ' + database.url);
    ${then}`;
  const { args, cwd } = argumentsOfCode(code);
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  cleanups.push(() => child.kill('SIGKILL'));
  let words = '';
  child.stdout.on('data', (chunk: Buffer) => (words += chunk.toString()));
  let hasEnded = false;
  child.once('close', () => (hasEnded = true));
  const said = async (word: string): Promise<void> => {
    await until(() => words.includes(word) || hasEnded, 120_000);
    if (!words.includes(word)) throw new Error(`the process ended without "${word}": ${words}`);
  };
  const url = said('url ').then(() => /url (\S+)/.exec(words)?.[1] ?? '');
  url.catch(() => undefined);
  return { child, url, said, words: () => words };
}

const STAY = 'setInterval(() => undefined, 1000);';

test(
  'the first start makes a UTF-8 database, and a later start is quick, keeps the data and the port',
  async () => {
    const dataDir = tempFolder();
    const emptyMs = performance.now();
    const first = await startEmbeddedPostgres({ dataDir, logger });
    const firstTookMs = performance.now() - emptyMs;
    cleanups.push(() => first.stop());
    expect(first.owned).toBe(true);
    expect(new URL(first.url)).toMatchObject({
      protocol: 'postgres:',
      hostname: '127.0.0.1',
      pathname: '/integrator',
    });
    expect(await query(first.url, 'SHOW server_encoding')).toEqual(['UTF8']);
    expect(await query(first.url, `SELECT lower('ÄÖ')`)).toEqual(['äö']);
    await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS n');
    await first.stop();
    await first.stop();

    const startedMs = performance.now();
    const second = await start(dataDir);
    // A tenth of it on a machine of its own: nothing is made anew.
    expect(performance.now() - startedMs).toBeLessThan(firstTookMs);
    expect(second.url).toBe(first.url);
    expect(await query(second.url, 'SELECT n FROM kept')).toEqual([7]);
  },
  SLOW,
);

test(
  'it is durable by default, listens on loopback alone, and refuses a wrong password',
  async () => {
    const dataDir = madeFolder();
    const database = await startEmbeddedPostgres({ dataDir, logger });
    cleanups.push(() => database.stop());
    for (const [name, value] of [
      ['fsync', 'on'],
      ['synchronous_commit', 'on'],
      ['max_connections', '200'],
      ['listen_addresses', '127.0.0.1'],
    ]) {
      expect(await query(database.url, `SHOW ${name}`)).toEqual([value]);
    }
    const wrong = new URL(database.url);
    wrong.password = 'guess';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toThrow('password authentication failed');
    expect(fs.statSync(join(dataDir, 'postgres-password')).mode & 0o777).toBe(0o600);
    expect(fs.statSync(join(dataDir, 'postgres')).mode & 0o777).toBe(0o700);
  },
  SLOW,
);

test(
  'a taken port is passed over, unless it was asked for',
  async () => {
    const dataDir = madeFolder();
    const first = await start(dataDir);
    const port = Number(new URL(first.url).port);
    await first.stop();
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    cleanups.push(() => other.close());
    const second = await start(dataDir);
    expect(new URL(second.url).port).not.toBe(String(port));
    await second.stop();
    await expect(start(dataDir, port)).rejects.toThrow(`port ${port} on 127.0.0.1 is taken`);
  },
  SLOW,
);

test(
  'a second start is refused and told who has the folder',
  async () => {
    const dataDir = madeFolder();
    const first = startElsewhere(dataDir, STAY);
    await first.url;
    const refusal = await start(dataDir).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(DataFolderBusyError);
    expect(String(refusal)).toContain(`"a test" (pid ${first.child.pid}): stop it, or set DATABASE_URL`);
  },
  SLOW,
);

test(
  'a command attaches to the database of a running server and leaves it running',
  async () => {
    const dataDir = madeFolder();
    const url = await startElsewhere(dataDir, STAY).url;
    const attached = await attachOrStartEmbeddedPostgres({ dataDir, logger });
    expect(attached).toMatchObject({ url, owned: false });
    await attached.stop();
    expect(await query(attached.url, 'SELECT 1')).toEqual([1]);
  },
  SLOW,
);

test(
  'a command alone starts the database itself; two at once share one',
  async () => {
    const dataDir = tempFolder();
    const options = { dataDir, logger, settings: { fsync: 'off' } };
    const both = await Promise.all([
      attachOrStartEmbeddedPostgres(options),
      attachOrStartEmbeddedPostgres(options),
    ]);
    expect(both.map(({ owned }) => owned).sort()).toEqual([false, true]);
    expect(both[0].url).toBe(both[1].url);
    for (const database of both) await database.stop();
    expect(readDataFolderOwner(dataDir)).toBeUndefined();
  },
  SLOW,
);

test(
  'when its process is killed, the server stops by itself, and the next start has what was committed',
  async () => {
    const dataDir = madeFolder();
    const { child, url } = startElsewhere(dataDir, STAY);
    await query(await url, 'CREATE TABLE kept AS SELECT 7 AS n');
    const pid = serverPid(dataDir);
    child.kill('SIGKILL');
    await until(() => !isRunning(pid));
    expect(await query((await start(dataDir)).url, 'SELECT n FROM kept')).toEqual([7]);
  },
  SLOW,
);

testOfAll(
  'a start right after its predecessor was killed does not trip over the stopping server',
  async () => {
    const dataDir = madeFolder();
    const { child, url } = startElsewhere(dataDir, STAY);
    await query(await url, 'CREATE TABLE kept AS SELECT 7 AS n');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await query((await start(dataDir)).url, 'SELECT n FROM kept')).toEqual([7]);
  },
  SLOW,
);

testOfAll(
  'a server that outlived its process is stopped by the next start',
  async () => {
    const dataDir = madeFolder();
    const { child, url } = startElsewhere(dataDir, STAY);
    await query(await url, 'CREATE TABLE kept AS SELECT 7 AS n');
    const pid = serverPid(dataDir);
    process.kill(guardOf(pid), 'SIGKILL');
    child.kill('SIGKILL');
    await once(child, 'exit');
    await sleep(300);
    expect(isRunning(pid)).toBe(true);
    expect(await query((await start(dataDir)).url, 'SELECT n FROM kept')).toEqual([7]);
    expect(isRunning(pid)).toBe(false);
  },
  SLOW,
);

function guardOf(pid: number): number {
  const pids = fs.readdirSync('/proc').map(Number).filter(Boolean);
  const guard = pids.find((candidate) => {
    const args = processArguments(candidate) ?? [];
    return args.at(-1) === String(pid) && args.some((arg) => arg.includes('kill -INT'));
  });
  if (guard === undefined) throw new Error('no guard');
  return guard;
}

testOfAll(
  'a killed server is recovered by the next start, however soon it comes',
  async () => {
    const dataDir = madeFolder();
    const first = await start(dataDir);
    await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS n');
    // A session that is busy when its server dies holds the shared memory for a while.
    const busy = query(first.url, 'SELECT pg_sleep(2)').catch(() => undefined);
    await sleep(100);
    process.kill(serverPid(dataDir), 'SIGKILL');
    await first.stop();
    expect(await query((await start(dataDir)).url, 'SELECT n FROM kept')).toEqual([7]);
    await busy;
  },
  SLOW,
);

testOfAll(
  'a pid file that names a process of somebody else neither stops the start nor that process',
  async () => {
    const dataDir = madeFolder();
    const first = await start(dataDir);
    const { uid, gid } = fs.statSync(join(dataDir, 'postgres'));
    process.kill(serverPid(dataDir), 'SIGKILL');
    await first.stop();
    // Run by the server's own account: such a process PostgreSQL itself takes for a running server.
    const stranger = spawn('sleep', ['60'], { ...(isRoot && { uid, gid }) });
    cleanups.push(() => stranger.kill('SIGKILL'));
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
    fs.writeFileSync(pidFile, fs.readFileSync(pidFile, 'utf8').replace(/^\d+/, String(stranger.pid)));
    const second = await start(dataDir);
    expect(await query(second.url, 'SELECT 1')).toEqual([1]);
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
  },
  SLOW,
);

test(
  'Ctrl-C in the terminal does not reach the server before its process has drained',
  async () => {
    const dataDir = madeFolder();
    const { child, url, said } = startElsewhere(
      dataDir,
      `${STAY}
      const { default: pg } = await import('pg');
      process.once('SIGINT', async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        const client = new pg.Client({ connectionString: database.url });
        await client.connect();
        await client.end();
        await database.stop();
        console.log('drained');
        process.exit(0);
      });
      console.log('listening');`,
    );
    await url;
    await said('listening');
    process.kill(-(child.pid ?? 0), 'SIGINT');
    await said('drained');
  },
  SLOW,
);

test(
  'a process that forgets to stop its database can end, and the server goes with it',
  async () => {
    const dataDir = madeFolder();
    // It notes the server while it runs: once it has ended, the server may be gone before anybody looks.
    const noted = join(dataDir, 'noted-pid');
    const { child, said } = startElsewhere(
      dataDir,
      `const fs = await import('node:fs');
      fs.copyFileSync(dataDir + '/postgres/postmaster.pid', ${JSON.stringify(noted)});
      console.log('noted');`,
    );
    await said('noted');
    const pid = Number(fs.readFileSync(noted, 'utf8').split('\n')[0]);
    expect(pid).toBeGreaterThan(0);
    await until(() => child.exitCode !== null);
    await until(() => !isRunning(pid));
  },
  SLOW,
);

testOfAll(
  'a start that fails quotes the server and gives the folder up',
  async () => {
    const dataDir = tempFolder();
    const failure = await startEmbeddedPostgres({ dataDir, logger, settings: { work_mem: 'plenty' } }).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(EmbeddedPostgresError);
    expect(String(failure)).toContain('invalid value for parameter "work_mem": "plenty"');
    expect(String(failure)).toContain('set DATABASE_URL to a PostgreSQL 14 or newer');
    expect(readDataFolderOwner(dataDir)).toBeUndefined();
  },
  SLOW,
);

testOfAll(
  'a half-made cluster is made anew',
  async () => {
    const dataDir = tempFolder();
    fs.mkdirSync(join(dataDir, 'postgres.new-1', 'base'), { recursive: true });
    expect(await query((await start(dataDir)).url, 'SELECT 1')).toEqual([1]);
  },
  SLOW,
);

test('a platform without programs is told to set DATABASE_URL', () => {
  expect(() => findPostgresBinaries('plan9-mips')).toThrow(
    'there is no embedded PostgreSQL for plan9-mips (package @embedded-postgres/plan9-mips): set DATABASE_URL',
  );
});

testAsOrdinaryUser(
  'an ordinary user runs it as itself, and root runs that cluster as its owner',
  async () => {
    const dataDir = tempFolder();
    fs.chownSync(dataDir, NOBODY.uid, NOBODY.gid);
    const { child, url } = startElsewhere(dataDir, STAY, NOBODY);
    await query(await url, 'CREATE TABLE kept AS SELECT 7 AS n');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const asRoot = await start(dataDir);
    expect(await query(asRoot.url, 'SELECT n FROM kept')).toEqual([7]);
    expect(fs.statSync(join(dataDir, 'postgres')).uid).toBe(NOBODY.uid);
    await asRoot.stop();
    const again = startElsewhere(dataDir, STAY, NOBODY);
    expect(await query(await again.url, 'SELECT n FROM kept')).toEqual([7]);
  },
  SLOW,
);

testAsRoot(
  'an ordinary user is told when the cluster is another account’s, or the folder cannot be written',
  async () => {
    const dataDir = madeFolder();
    fs.chmodSync(dataDir, 0o777);
    const other = startElsewhere(dataDir, '', NOBODY);
    await other.said('refused ');
    expect(other.words()).toMatch(/belongs to user id \d+: start as that user or as root/);
    fs.chmodSync(dataDir, 0o755);
    const unwritable = startElsewhere(join(dataDir, 'deeper'), '', NOBODY);
    await unwritable.said('refused ');
    expect(unwritable.words()).toContain('this user may not write there');
  },
  SLOW,
);

testAsRoot(
  'where root’s folders keep its account out, the cluster lives elsewhere and a link leads there',
  async () => {
    const closed = tempFolder();
    const dataDir = join(closed, 'data');
    const homeOf = (dir: string): string => {
      const home = dirname(fs.readlinkSync(join(dir, 'postgres')));
      cleanups.unshift(() => {
        fs.rmSync(home, { recursive: true, force: true });
      });
      return home;
    };
    const first = await start(dataDir);
    const home = homeOf(dataDir);
    expect(home).toMatch(/^\/var\/(lib|tmp)\/payment-integrator\/database-[0-9a-f]{8}$/);
    expect(fs.statSync(home)).toMatchObject({ uid: 0 });
    expect(fs.readFileSync(join(home, 'data-folder'), 'utf8')).toBe(`${dataDir}\n`);
    await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS n');

    const copy = join(closed, 'copy');
    fs.cpSync(dataDir, copy, { recursive: true, verbatimSymlinks: true });
    fs.readdirSync(copy)
      .filter((name) => name.startsWith('owner-'))
      .forEach((name) => {
        fs.rmSync(join(copy, name));
      });
    await expect(start(copy)).rejects.toThrow(DataFolderBusyError);
    await first.stop();

    const moved = join(closed, 'moved');
    fs.renameSync(dataDir, moved);
    const second = await start(moved);
    expect(await query(second.url, 'SELECT n FROM kept')).toEqual([7]);

    const fresh = await start(dataDir);
    expect(homeOf(dataDir)).not.toBe(home);
    await expect(query(fresh.url, 'SELECT n FROM kept')).rejects.toThrow('does not exist');
  },
  SLOW,
);

testAsRoot('a link that leads nowhere, or to a folder that others may change, is not followed', async () => {
  const dataDir = tempFolder();
  const open = tempFolder();
  fs.chmodSync(open, 0o777);
  fs.symlinkSync(join(open, 'postgres'), join(dataDir, 'postgres'));
  await expect(start(dataDir)).rejects.toThrow('not a folder that only root may change');
  fs.rmSync(open, { recursive: true });
  await expect(start(dataDir)).rejects.toThrow('which is gone: bring it back, or delete the link');
});
