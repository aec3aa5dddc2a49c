import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { eventually } from './program.ts';

export type Standby = {
  primaryUrl: string;
  url: string;
  /** What a statement gives there, as text. */
  ask(sql: string): Promise<string | null>;
  /** Holds back what the primary sends; `false`: takes it up again and waits until all of it is there. */
  pause(isOn?: boolean): Promise<void>;
  /** Ends it. */
  stop(): Promise<void>;
  close(): Promise<void>;
};

// A crash would lose what nobody misses. A query gives way at once to what the primary did.
const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_standby_streaming_delay: '0' };

/** A PostgreSQL, and a second one that follows it by streaming replication. */
export async function startStandby(): Promise<Standby> {
  const folder = mkdtempSync(join(tmpdir(), 'integrator-standby-'));
  chmodSync(folder, 0o755);
  const [one, two] = [join(folder, 'one'), join(folder, 'two')];
  const start = (dataDir: string) =>
    startEmbeddedPostgres({ dataDir, logger: createLogger('error'), purpose: 'a test', settings: SETTINGS });
  const seed = await start(one);
  await seed.stop();
  mkdirSync(two);
  // A copy of a server that has stopped is a base backup. As cp -a, it belongs to the same account.
  for (const name of ['postgres', 'postgres-password']) execFileSync('cp', ['-a', join(one, name), two]);
  const primary = await start(one);
  const { port, username, password } = new URL(primary.url);
  writeFileSync(join(two, 'postgres', 'standby.signal'), '');
  appendFileSync(
    join(two, 'postgres', 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=${username} password=${password}'\n`,
  );
  const standby = await start(two);
  const ask = (sql: string): Promise<string | null> => answerOf(standby.url, sql);
  const hasAll = async (): Promise<boolean> => {
    const at = await answerOf(primary.url, 'SELECT pg_current_wal_flush_lsn()::text AS answer');
    return (await ask(`SELECT (pg_last_wal_replay_lsn() >= '${at}')::text AS answer`)) === 'true';
  };
  await eventually(hasAll);
  return {
    primaryUrl: primary.url,
    url: standby.url,
    ask,
    pause: async (isOn = true) => {
      await ask(`SELECT pg_wal_replay_${isOn ? 'pause' : 'resume'}()::text AS answer`);
      if (!isOn) await eventually(hasAll);
      else
        await eventually(
          async () => (await ask('SELECT pg_get_wal_replay_pause_state() AS answer')) === 'paused',
        );
    },
    stop: standby.stop,
    close: async () => {
      await standby.stop();
      await primary.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answerOf(url: string, sql: string): Promise<string | null> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<{ answer: string | null }>(sql)).rows[0]?.answer ?? null;
  } catch (error) {
    // What the standby replays ends a query that is in its way.
    if ((error as pg.DatabaseError).code === '40001') return await answerOf(url, sql);
    throw error;
  } finally {
    await client.end();
  }
}
