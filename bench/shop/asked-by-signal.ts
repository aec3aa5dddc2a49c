import type { Contestant } from './contestants.ts';

/**
 * What a module that was loaded before the server says on SIGUSR2.
 * @param said the number is its first group
 */
export function askedBySignal({ child }: Contestant, said: RegExp): Promise<number> {
  return new Promise((resolve) => {
    const hear = (text: string): void => {
      const number = said.exec(text)?.[1];
      if (number === undefined) return;
      child.stdout?.off('data', hear);
      resolve(Number(number));
    };
    child.stdout?.on('data', hear);
    child.kill('SIGUSR2');
  });
}
