import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SANDBOX_TEST_KEY, SANDBOX_WEBHOOK_SECRET } from '../../local/sandbox/keys.ts';
import { blocksOf } from './page.ts';
import { needProgram, until, type Stage } from './stage.ts';

const LIMIT_MS = 180_000;
/** This checkout. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const DOMAIN = 'shop.example.com';
/** What every installed Debian has; docs/debian.md installs the rest. */
const BASE = 'ca-certificates,dbus,libpam-systemd,systemd-sysv';
/** While packages are installed, a PostgreSQL of this machine may have the port. */
const OWN_PORT = `sed -i 's/^port = .*/port = 5432/' /etc/postgresql/*/main/postgresql.conf`;

export type Shell = {
  child: ChildProcess;
  /** Types a block and waits for its end. @returns what all blocks said so far @throws when a command of it fails */
  type(block: string): Promise<string>;
};

/**
 * A root folder of Debian 13 with the packages of docs/debian.md. Needs root. The first round makes the
 * folder; the second, in namespaces of its own, has every port for itself and boots the folder's systemd.
 * @param prepare puts into the folder what is copied to the machine
 */
export async function onDebian(
  stage: Stage,
  prepare: (root: string) => void,
  follow: (stage: Stage, root: string) => Promise<boolean>,
): Promise<boolean> {
  if (process.getuid?.() !== 0) throw new Error('a machine is made by root: sudo npm run nodes -- …');
  const made = process.env.MADE_ROOT;
  if (made !== undefined) {
    run('ip', ['link', 'set', 'lo', 'up'], made);
    return follow(stage, made);
  }
  needProgram('mmdebstrap', 'mmdebstrap debian-archive-keyring');
  needProgram('systemd-nspawn', 'systemd-container');
  const root = join(stage.folder, 'debian');
  prepare(stage.folder);
  run('mmdebstrap', ['--quiet', '--variant=minbase', `--include=${BASE}`, 'trixie', root], stage.folder);
  cpSync('/etc/resolv.conf', join(root, 'etc/resolv.conf'));
  // Nothing starts by itself while packages are installed.
  writeFileSync(join(root, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  const packages = [...blocksOf('debian.md', 'Packages'), OWN_PORT].join('\n');
  run('chroot', [root, 'env', 'DEBIAN_FRONTEND=noninteractive', 'bash', '-ec', packages], stage.folder);
  const apart = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const env = { ...process.env, MADE_ROOT: root };
  const part = stage.start('follow', 'unshare', [...apart, ...again], { cwd: ROOT, env, stdio: 'inherit' });
  return (await part.ended) === 0;
}

/** Copies `bundle` and `deploy` of a checkout to the machine, in the place of older ones. */
export function copyTo(root: string, checkout: string): void {
  for (const part of ['bundle', 'deploy']) {
    rmSync(join(root, 'root', part), { recursive: true, force: true });
    cpSync(join(checkout, part), join(root, 'root', part), { recursive: true });
  }
}

/** What the page calls yours, and the certificate that it asks for. */
export function answers(serviceUrl: string): string {
  return `
    domain=${DOMAIN} gateway_url=${serviceUrl} gateway_key=${SANDBOX_TEST_KEY} webhook_secret=${SANDBOX_WEBHOOK_SECRET}
    echo "127.0.0.1 localhost $domain" > /etc/hosts
    openssl req -x509 -newkey rsa:2048 -noenc -days 1 -subj "/CN=$domain" -addext "subjectAltName=DNS:$domain" \\
      -keyout "/etc/ssl/private/$domain.key" -out "/etc/ssl/$domain.pem" 2>/dev/null
    cat "/etc/ssl/$domain.pem" >> /etc/ssl/certs/ca-certificates.crt
    tell() { echo "told $1=$2"; }
  `;
}

/** What the machine says about itself on the way, by `tell`. */
export function toldIn(said: string): Record<string, string> {
  return Object.fromEntries(
    [...said.matchAll(/^told (.+?)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
}

/** Boots the folder's systemd. @returns how a command is typed on that machine */
export async function boot(stage: Stage, root: string): Promise<string[]> {
  const options = ['--quiet', '--register=no', '--keep-unit', '--boot', '--directory', root];
  const env = { PATH: process.env.PATH, SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: '1' };
  const { pid = 0 } = stage.start('machine', 'systemd-nspawn', options, { env }).child;
  const init = (): string => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0] ?? '';
  const typed = (): string[] => ['-t', init(), '--mount', '--uts', '--ipc', '--net', '--pid', '--cgroup'];
  const asked = ['systemctl', 'is-system-running'];
  await until(
    'systemd runs',
    () => Promise.resolve(spawnSync('nsenter', [...typed(), ...asked]).status === 0),
    LIMIT_MS,
  );
  return typed();
}

/** A terminal of root on the machine: variables and the folder stay from block to block, and the first failure ends it. */
export function openShell(root: string, machine: readonly string[]): Shell {
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' };
  const child = spawn('nsenter', [...machine, 'bash', '-e', '-o', 'pipefail'], { env });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  let blocks = 0;
  return {
    child,
    type: async (block) => {
      const end = `block ${++blocks} is done`;
      writeFileSync(join(root, 'root/block.sh'), block);
      child.stdin.write(`. /root/block.sh </dev/null\necho '${end}'\n`);
      await until(end, () => Promise.resolve(child.exitCode !== null || said.includes(end)), LIMIT_MS).catch(
        () => child.kill('SIGKILL'),
      );
      if (!said.includes(end))
        throw new Error(`${block}\n--- ended, and said at last:\n${said.slice(-4_000)}`);
      return said;
    },
  };
}

/** @throws with what it said when it fails */
export function run(program: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (status === 0) return;
  throw error ?? new Error(`${program} ${args.join(' ')}\n${stdout.slice(-2_000)}${stderr.slice(-2_000)}`);
}
