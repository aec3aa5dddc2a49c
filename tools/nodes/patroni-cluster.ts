import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { ENV, pageOn, PASSWORD, startMachines, type Machine } from './patroni-machines.ts';
import { signal } from './processes.ts';
import { needProgram, until, type Stage } from './stage.ts';

const LIMIT_MS = 120_000;
const REPLICAS = 2;

type Member = { name: string; role: string; state: string; timeline?: number };

/** The three machines of docs/high-availability.md, and HAProxy in front of them. */
export type PatroniCluster = {
  /** The shop's database through HAProxy: it leads to the leader. */
  url: string;
  machines: readonly Machine[];
  leader(): Promise<Machine>;
  /** Whether the address takes writes. */
  isWritable(): Promise<boolean>;
  switchover(): Promise<void>;
  /** The leader sends no more commits to its replicas, which notice nothing. */
  holdReplication(): Promise<void>;
  /** A leader, and two replicas that stream on its timeline, one of them synchronous if any shall be. */
  isWhole(): Promise<boolean>;
};

/**
 * @param backup where it archives its write-ahead log; null: nowhere
 * @throws with the command to type when a package of Debian is missing
 */
export async function startPatroni(
  stage: Stage,
  isSynchronous: boolean,
  backup: string | null = null,
): Promise<PatroniCluster> {
  const patronictl = needProgram('patronictl', 'patroni postgresql');
  const haproxy = needProgram('haproxy', 'haproxy');
  const { machines, network } = await startMachines(stage, isSynchronous, backup);
  const members = async (): Promise<Member[]> => {
    for (const { address } of machines) {
      const answer = await fetch(`http://${address}:8008/cluster`, { signal: AbortSignal.timeout(2_000) })
        .then((response) => response.json() as Promise<{ members: Member[] }>)
        .catch(() => null);
      if (answer) return answer.members;
    }
    return [];
  };
  const leader = async (): Promise<Machine> => {
    const found = (await members()).find(({ role, state }) => role === 'leader' && state === 'running');
    const machine = machines.find(({ name }) => name === found?.name);
    if (machine === undefined) throw new Error('there is no leader');
    return machine;
  };

  const front = `${network}1:5000`;
  const conf = join(stage.folder, 'haproxy.cfg');
  const shown = pageOn(network, 'HAProxy', 'text', { name: '', address: '' });
  writeFileSync(conf, shown.replace('127.0.0.1:5000', front));
  stage.start('haproxy', haproxy, ['-db', '-f', conf]);

  const urlOf = (user: string, database: string): string =>
    `postgresql://${user}:${PASSWORD}@${front}/${database}`;
  const query = <Row extends pg.QueryResultRow>(sql: string): Promise<Row[]> =>
    ask(urlOf('postgres', 'postgres'), sql);
  const isWhole = async (): Promise<boolean> => {
    const all = await members();
    const [row] = await query<{ all: number; sync: number; primary: boolean }>(WHOLE);
    const isStreaming = row?.all === REPLICAS && row.sync === (isSynchronous ? 1 : 0);
    return (
      // HAProxy leads to replicas as well until its first checks have run.
      row?.primary === true &&
      isStreaming &&
      all.length === machines.length &&
      new Set(all.map(({ timeline }) => timeline)).size === 1
    );
  };
  await until('Patroni has a leader and two replicas', isWhole, LIMIT_MS);
  await query(`CREATE ROLE integrator LOGIN PASSWORD '${PASSWORD}'`);
  await query('CREATE DATABASE shop OWNER integrator');
  return {
    url: urlOf('integrator', 'shop'),
    machines,
    leader,
    isWritable: async () =>
      (await query<{ is: boolean }>('SELECT NOT pg_is_in_recovery() AS is'))[0]?.is === true,
    switchover: async () => {
      const { name, config } = await leader();
      const args = ['-c', config, 'switchover', '--master', name, '--force'];
      await promisify(execFile)(patronictl, args, { env: ENV, timeout: LIMIT_MS });
    },
    holdReplication: async () => {
      for (const { pid } of await query<{ pid: number }>('SELECT pid FROM pg_stat_replication'))
        signal(pid, 'SIGSTOP');
    },
    isWhole,
  };
}

const WHOLE = `SELECT NOT pg_is_in_recovery() AS primary, count(pid)::int AS all,
  count(pid) FILTER (WHERE sync_state = 'sync')::int AS sync FROM pg_stat_replication WHERE state = 'streaming'`;

async function ask<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 2_000,
    query_timeout: 5_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}
