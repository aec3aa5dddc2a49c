import { execFile, type ExecFileException } from 'node:child_process';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../dist/commands/cli.js', import.meta.url));
const LIMIT_MS = 120_000;
const BY = ['--by', 'Ngozi'];

type Item = { id: string; reference: string };

/** A person at the commands of the built program. All of them throw when a command does not end with 0. */
export type Hands = {
  type(...args: string[]): Promise<string>;
  /** Ends with 1, and does not throw, when there are findings. */
  reconcile(): Promise<{ verdict: string; repaired: number }>;
  list(list: string, ...args: string[]): Promise<Item[]>;
  adopt(reference: string, order?: string): Promise<unknown>;
  /** Decides about what is in suspense under one of these references, or all of it. @returns whose money that was */
  decide(decision: 'refund' | 'keep', references?: readonly string[]): Promise<string[]>;
  resolveFindings(): Promise<void>;
};

export function handsOf(env: Record<string, string>): Hands {
  const type = async (...args: string[]): Promise<string> => {
    const options = { env: { PATH: process.env.PATH, ...env, LOG_LEVEL: 'silent' }, timeout: LIMIT_MS };
    return (await promisify(execFile)(process.execPath, [CLI, ...args], options)).stdout;
  };
  const list = async (name: string, ...args: string[]): Promise<Item[]> =>
    JSON.parse(await type(name, 'list', '--json', ...args)) as Item[];
  return {
    type,
    list,
    reconcile: async () => {
      const said = await type('reconcile', '--json').catch((error: unknown) => {
        const { code, stdout } = error as ExecFileException;
        if (code === 1 && stdout !== undefined) return stdout;
        throw error;
      });
      return JSON.parse(said) as { verdict: string; repaired: number };
    },
    adopt: (reference, order = '') =>
      type('after-restore', 'adopt', reference, '--order', order, '--note', 'named in her mail', ...BY),
    decide: async (decision, references) => {
      const items = (await list('suspense')).filter((item) => references?.includes(item.reference) ?? true);
      for (const { id, reference } of items) {
        const number = decision === 'refund' ? ['--refund', `bank ${reference}`] : [];
        await type(
          'suspense',
          'resolve',
          id,
          '--decision',
          decision,
          ...number,
          '--note',
          'as in the mail',
          ...BY,
        );
      }
      return items.map(({ reference }) => reference);
    },
    resolveFindings: async () => {
      for (const { id } of await list('findings'))
        await type('findings', 'resolve', id, '--note', 'its money is decided', ...BY);
    },
  };
}
