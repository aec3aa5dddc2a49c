import { visible, wrapped } from '../../src/platform/terminal.ts';
import { createInterface } from 'node:readline';
import type { Person } from './person.ts';

export type PersonAtTerminal = Person & { close(): void };

/** Whoever types into this process; nobody, once its input has ended. Talks on standard error: the table is the output. */
export function personAtTerminal(input: NodeJS.ReadableStream, output: NodeJS.WriteStream): PersonAtTerminal {
  const lines = createInterface({ input });
  const waiting: ((line: string | null) => void)[] = [];
  const typed: string[] = [];
  let isGone = false;
  lines.on('line', (line) => {
    const next = waiting.shift();
    if (next === undefined) typed.push(line);
    else next(line);
  });
  lines.on('close', () => {
    isGone = true;
    for (const next of waiting.splice(0)) next(null);
  });
  const hear = (signal?: AbortSignal): Promise<string | null> => {
    const line = typed.shift();
    if (line !== undefined || isGone) return Promise.resolve(line ?? null);
    return new Promise((resolve) => {
      waiting.push(resolve);
      signal?.addEventListener('abort', () => {
        const at = waiting.indexOf(resolve);
        if (at !== -1) waiting.splice(at, 1);
        resolve(null);
      });
    });
  };
  let last = '';
  const say = (text: string): void => {
    last = '';
    output.write(
      `${text
        .split('\n')
        .map((line) => wrapped(visible(line), 2))
        .join('\n')}\n`,
    );
  };
  return {
    pays: async ({ address, amount }, signal) => {
      say(
        `\nPay ${amount} here, then press Enter:\n\n  ${address ?? 'the answer shows no address; look into the samples'}\n`,
      );
      return (await hear(signal)) !== null;
    },
    tells: ({ key, question, choices = [] }, fault) => {
      const oneOf = choices.length === 0 ? 'words, separated by commas' : choices.join(' or ');
      const text = fault === null ? `\n${key}: ${question}` : `  not taken: ${fault}`;
      if (!isGone) say(`${text}\n  ${oneOf}; Enter if you do not know`);
      return hear();
    },
    sees: (progress) => {
      // On a terminal one line that changes; elsewhere one line for each new thing.
      const [what = ''] = progress.split(',');
      if (output.isTTY) output.write(`\r\x1b[K${progress}`);
      else if (what !== last) output.write(`${progress}\n`);
      last = what;
    },
    close: () => {
      lines.close();
    },
  };
}
