import { execFile } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { unprivilegedAccount } from '../../local/postgres/unix-account.ts';
import { ask, programsOfDebian, untilArchived } from './debian-postgres.ts';
import { startPatroni } from './patroni-cluster.ts';
import { ENV, PASSWORD, type Machine } from './patroni-machines.ts';
import type { Restorable } from './restorable.ts';
import { until, type Stage } from './stage.ts';

const LIMIT_MS = 120_000;

/** The three machines of docs/high-availability.md with its backups: all of them are lost, and one is restored. */
export async function openPatroni(stage: Stage, folder: string): Promise<Restorable> {
  const [base, wal] = [join(folder, 'base'), join(folder, 'wal')];
  mkdirSync(wal);
  chmodSync(wal, 0o777);
  const cluster = await startPatroni(stage, true, folder);
  const { machines, url } = cluster;
  const [first, ...others] = machines;
  if (first === undefined) throw new Error('there is no machine');
  const account = process.getuid?.() === 0 ? unprivilegedAccount() : undefined;
  const programs = programsOfDebian();
  const run = async (program: string, ...args: string[]): Promise<string> => {
    const options = { ...account, cwd: folder, env: ENV, timeout: LIMIT_MS };
    return (await promisify(execFile)(resolve(programs, program), args, options)).stdout;
  };
  const query: Restorable['query'] = (sql, values) => ask(url, sql, values);
  const replica = async (): Promise<Machine> => {
    const leader = await cluster.leader();
    return machines.find((machine) => machine !== leader) ?? first;
  };
  return {
    url,
    query,
    archived: () => untilArchived(query),
    backUp: async () => {
      const address = `postgres://replicator:${PASSWORD}@${(await replica()).address}/postgres`;
      await run('pg_basebackup', '--dbname', address, '--pgdata', base, '--checkpoint=fast');
    },
    lose: async () => {
      await Promise.all(machines.map((machine) => machine.kill()));
      for (const { data } of machines) rmSync(data, { recursive: true, maxRetries: 5 });
    },
    restore: async (moment) => {
      await until('the old cluster is removed', () => isRemoved(first.config), LIMIT_MS);
      await run('/bin/cp', '-a', base, first.data);
      // A backup of a replica says that it is one.
      rmSync(join(first.data, 'standby.signal'), { force: true });
      await run('/usr/bin/touch', join(first.data, 'recovery.signal'));
      appendFileSync(
        join(first.data, 'postgresql.auto.conf'),
        `listen_addresses = ''
unix_socket_directories = '${dirname(first.config)}'
hba_file = '${first.data}/pg_hba.conf'
ident_file = '${first.data}/pg_ident.conf'
restore_command = 'cp ${wal}/%f %p'
recovery_target_time = '${moment.toISOString().replace('Z', '+00')}'
recovery_target_action = 'promote'\n`,
      );
      await run('pg_ctl', 'start', '--wait', '-D', first.data, '-l', join(folder, 'restore.log'));
      const isPromoted = async (): Promise<boolean> =>
        (await run('pg_controldata', '-D', first.data)).includes('in production');
      await until('the moment is reached', isPromoted, LIMIT_MS);
      await run('pg_ctl', 'stop', '-D', first.data, '--mode=fast');
      // Replicas copy this file: they would stop at the moment, too.
      await run('/bin/cp', join(base, 'postgresql.auto.conf'), first.data);
      first.start();
      await until('the restored machine leads', cluster.isWritable, LIMIT_MS);
      for (const other of others) other.start();
      await until('the cluster is whole', cluster.isWhole, LIMIT_MS);
    },
  };
}

/** It asks for the name and for a sentence, and for the leader's name while that one is not forgotten. */
async function isRemoved(config: string): Promise<boolean> {
  const asked = promisify(execFile)('patronictl', ['-c', config, 'remove', 'shop'], { env: ENV });
  asked.child.stdin?.end('shop\nYes I am aware\n');
  await asked;
  return true;
}
