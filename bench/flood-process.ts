import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

/** Webhooks with a bad signature, half of which name a payment; unsigned webhooks or returns that all name one. */
export type FloodKind = 'forged' | 'webhook' | 'return';

/** In a process of its own, so that sending is not what the shoppers wait for; nor is its start: it has begun to send. */
export async function startFlood(
  origin: string,
  kind: FloodKind,
  perSecond: number,
  references: readonly string[],
) {
  const file = fileURLToPath(new URL('flood-sender.ts', import.meta.url));
  const args = ['--import', TSX, file, origin, kind, String(perSecond), references.join(',')];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  await once(child.stdout, 'data');
  return {
    stop: async () => {
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.stdin.end();
      await ended;
      return JSON.parse(said) as { perSecond: number; answers: string };
    },
  };
}
