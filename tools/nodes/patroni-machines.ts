import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { POSTGRES_ENV } from '../../local/postgres/process.ts';
import { unprivilegedAccount } from '../../local/postgres/unix-account.ts';
import { programsOfDebian } from './debian-postgres.ts';
import { blocksOf } from './page.ts';
import { killTree } from './processes.ts';
import { relay } from './relay.ts';
import { needProgram, until, type Part, type Stage } from './stage.ts';

const PAGE = 'high-availability.md';
const LATE_MS = 3_000;
export const PASSWORD = 'of-this-rehearsal';
export const ENV = { ...POSTGRES_ENV, LC_ALL: 'C.UTF-8', PATH: '/usr/bin:/bin:/usr/sbin:/sbin' };

/** One of the page's machines: an address of loopback with etcd, Patroni and PostgreSQL. */
export type Machine = {
  name: string;
  address: string;
  /** The file of Patroni. */
  config: string;
  /** The folder of PostgreSQL. */
  data: string;
  /** Starts Patroni, as systemd does. */
  start(): void;
  /** Patroni and every process of PostgreSQL end at one instant; etcd stays. */
  kill(): Promise<void>;
  /**
   * Patroni stands still, PostgreSQL does not. What etcd said meanwhile arrives late, as after a pause of the
   * network.
   * @returns what makes it good again
   */
  freeze(): () => unknown;
  /** @returns what makes it good again */
  cutFromEtcd(): () => unknown;
};

/** `network`: the first three numbers of the addresses, with a dot behind them. */
export type Machines = { machines: Machine[]; network: string };

/**
 * @param backup the folder that the page calls /backup; null: nothing is archived
 * @throws with the command to type when a package of Debian is missing
 */
export async function startMachines(
  stage: Stage,
  isSynchronous: boolean,
  backup: string | null,
): Promise<Machines> {
  const programs = {
    etcd: needProgram('etcd', 'etcd-server'),
    patroni: needProgram('patroni', 'patroni postgresql'),
    postgres: programsOfDebian(),
  };
  // A network of loopback of our own: the page's ports are free in it.
  const network = `127.${1 + (process.pid % 250)}.${1 + (Date.now() % 250)}.`;
  const places = ['db1', 'db2', 'db3'].map((name, at) => ({ name, address: `${network}${11 + at}` }));
  const account = process.getuid?.() === 0 ? unprivilegedAccount() : undefined;
  for (const { name, address } of places) {
    const folder = join(stage.folder, name);
    mkdirSync(folder);
    if (account) chownSync(folder, account.uid, account.gid);
    chmodSync(folder, 0o700);
    const lines = pageOn(network, 'etcd', 'ini', { name, address }).trim().split('\n');
    const settings = Object.fromEntries(
      lines.map((line) => [line.replace(/=.*/, ''), line.replace(/.*?=/, '')]),
    );
    const env = { ...ENV, ...settings, ETCD_DATA_DIR: join(folder, 'etcd') };
    stage.start(`etcd-${name}`, programs.etcd, [], { ...account, cwd: folder, env });
  }
  // Patroni ends where etcd has not agreed on a version yet, and systemd starts it again.
  await until('etcd has agreed', async () => {
    const answers = await Promise.all(places.map(({ address }) => fetch(`http://${address}:2379/version`)));
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    return texts.every((text) => !text.includes('not_decided'));
  });
  const machines: Machine[] = [];
  for (const { name, address } of places) {
    const folder = join(stage.folder, name);
    const config = join(folder, 'config.yml');
    let isCut = false;
    const etcd = await Promise.all(
      places.map((each) => relay(stage, () => (isCut ? null : { host: each.address, port: 2379 }))),
    );
    writeFileSync(
      config,
      pageOn(network, 'Patroni', 'yaml', { name, address })
        // Through relays, so that one machine can be cut off from etcd.
        .replace(
          /hosts: .*/,
          `hosts: ${etcd.map(({ port }) => `127.0.0.1:${port}`).join(',')}\n  use_proxies: true`,
        )
        .replace(/^( *)wal_keep_size.*\n/m, (line, indent: string) => line + archivingOf(indent, backup))
        .replace('synchronous_mode: true', `synchronous_mode: ${isSynchronous}`)
        .replace('/var/lib/postgresql/15/shop', join(folder, 'data'))
        .replace('/usr/lib/postgresql/15/bin', programs.postgres)
        // Else all three write the passwords of the one that each follows into one file of the account's
        // home.
        .replace('data_dir:', `pgpass: ${join(folder, 'pgpass')}\n  data_dir:`)
        .replace('/var/run/postgresql', folder),
    );
    let part: Part;
    const start = (): void => {
      part = stage.start(`patroni-${name}`, programs.patroni, [config], {
        ...account,
        cwd: folder,
        env: ENV,
      });
    };
    const kill = async (): Promise<void> => {
      const postmaster = postmasterOf(folder);
      for (const pid of [part.child.exitCode === null ? part.child.pid : null, postmaster])
        if (pid) killTree(pid);
      await part.ended;
    };
    stage.later(kill);
    start();
    machines.push({
      name,
      address,
      config,
      data: join(folder, 'data'),
      start,
      kill,
      freeze: () => {
        part.child.kill('SIGSTOP');
        const resume = etcd.map((each) => each.stall());
        return async () => {
          part.child.kill('SIGCONT');
          await pause(LATE_MS);
          for (const each of resume) each();
        };
      },
      cutFromEtcd: () => {
        isCut = true;
        for (const each of etcd) each.cut();
        return () => (isCut = false);
      },
    });
  }
  return { machines, network };
}

/** The page's settings of the archive; a rehearsal does not wait a minute for a segment that is not full. */
function archivingOf(indent: string, backup: string | null): string {
  if (backup === null) return '';
  const shown = blocksOf(PAGE, 'Backups', 'text')[0] ?? '';
  return shown
    .replaceAll('/backup', backup)
    .replace('archive_timeout: 60s', 'archive_timeout: 2s')
    .replace(/^(?=.)/gm, indent);
}

/** What the page shows, as it is on a machine here. */
export function pageOn(
  network: string,
  heading: string,
  language: string,
  { name, address }: { name: string; address: string },
): string {
  return (
    blocksOf(PAGE, heading, language)
      .join('')
      .replace(/\bNAME\b/g, name)
      .replace(/\bADDRESS\b/g, address)
      .replace(/\bPASSWORD\b/g, PASSWORD)
      // Every connection within loopback comes from 127.0.0.1.
      .replaceAll('10.0.0.0/24', '127.0.0.0/8')
      .replaceAll('10.0.0.', network)
  );
}

/** Null when it does not run: the file stays behind a killed one, and its number may be somebody else's by now. */
function postmasterOf(folder: string): number | null {
  try {
    const pid = readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0] ?? '';
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder) ? Number(pid) : null;
  } catch {
    return null;
  }
}
