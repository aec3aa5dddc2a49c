import { fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { startOf } from './programs.ts';

export type Ran = { exit: number | string; out: string; err: string };
export type Terminal = {
  /** Runs a command after all earlier commands have ended. @returns its exit code and its output */
  run(words: readonly string[]): Promise<Ran>;
  close(): Promise<void>;
};

/**
 * One process for all commands of a test file, because each process takes half a second to start.
 */
export function openTerminal(env: Record<string, string>): Terminal {
  const flags = startOf('test/support/command-loop.ts', 'GATEWAY_ADAPTER' in env);
  const { PATH = '' } = process.env;
  const terminal = fork(flags.pop() ?? '', startOf('src/cli.ts', false).slice(-1), {
    cwd: tmpdir(),
    execArgv: flags,
    env: { PATH, HOME: tmpdir(), ...env },
  });
  const ended = once(terminal, 'exit');
  let typed: Promise<unknown> = Promise.resolve();
  return {
    run: (words) => {
      const ran = typed.then(async () => {
        if (terminal.connected) terminal.send(words);
        const said = await Promise.race([ended.then(() => null), once(terminal, 'message')]);
        if (said === null) throw new Error('the terminal has ended');
        return said[0] as Ran;
      });
      typed = ran.catch(() => undefined);
      return ran;
    },
    close: async () => {
      terminal.kill();
      await ended;
    },
  };
}
