import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until, type Stage } from './stage.ts';

const LIMIT_MS = 180_000;

export type Shell = {
  child: ChildProcess;
  /** Types a block and waits for its end. @returns what all blocks said so far @throws when a command of it fails */
  type(block: string): Promise<string>;
};

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
