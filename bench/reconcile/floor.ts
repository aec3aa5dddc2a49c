import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createWriter, LINE } from '../../test/support/formula.ts';

/**
 * What the same rows cost without any program of ours: psql copies them from a file into a temporary table, and joins
 * that with the payments once.
 * @returns seconds
 * @throws when psql is not installed
 */
export async function measureFloor(url: string, count: number, folder: string): Promise<number> {
  const file = join(folder, 'rows.txt');
  await writeRows(file, count);
  const script = [
    `SET work_mem = '64MB'`,
    `CREATE TEMPORARY TABLE history (id text, reference text, status text, amount numeric, currency text, channel text, email text, created_at timestamptz)`,
    `\\copy history FROM '${file}'`,
    `SELECT count(*), count(h.reference), count(p.reference), sum(h.amount), sum(p.amount) FROM history h FULL JOIN payments p USING (reference)`,
  ];
  const startedMs = performance.now();
  const commands = script.flatMap((line) => ['-c', line]);
  const psql = spawn('psql', ['-X', '-q', '-v', 'ON_ERROR_STOP=1', ...commands, url], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = (await once(psql, 'close')) as [number | null];
  if (code !== 0) throw new Error(`psql ended with ${code ?? 'a signal'}`);
  const seconds = (performance.now() - startedMs) / 1_000;
  await rm(file);
  return seconds;
}

async function writeRows(file: string, count: number): Promise<void> {
  const out = createWriteStream(file);
  const write = createWriter(LINE);
  for (let n = 1; n <= count; n += 1_000)
    if (!out.write(write(n, Math.min(n + 999, count)))) await once(out, 'drain');
  out.end();
  await once(out, 'close');
}
