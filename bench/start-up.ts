import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { spawn, type ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Row } from './row.ts';
import { end, freePort } from './shop/contestants.ts';
import { onStage } from './shop/surroundings.ts';

const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const PATIENCE_MS = 60_000;

/** From `npm start` (its command, without npm's own quarter of a second) to the first 200 of `/readyz`. */
export async function benchStartUp(): Promise<Row[]> {
  const rows: Row[] = [];
  await onStage(async (stage) => {
    const folder = join(stage.folder, 'start');
    await mkdir(folder);
    const external = {
      DATABASE_URL: await stage.createDatabase('start'),
      GATEWAY_URL: stage.standIn.url,
      GATEWAY_SECRET_KEY: 'sk_test_bench',
    };
    const kinds: [string, Record<string, string>][] = [
      ['own database and sandbox, the first time', {}],
      ['own database and sandbox, again', {}],
      ['a database that is there, empty', external],
      ['a database that is there, again', external],
    ];
    for (const [what, env] of kinds)
      rows.push({ what: `start to ready: ${what}`, ours: `${(await startOnce(folder, env)).toFixed(0)} ms` });
  });
  return rows;
}

async function startOnce(folder: string, env: Record<string, string>): Promise<number> {
  const port = await freePort();
  const startedMs = performance.now();
  const child: ChildProcess = spawn(
    process.execPath,
    ['--import', TSX, pathOf('../local/start.ts'), 'server'],
    {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        TSX_TSCONFIG_PATH: pathOf('../tsconfig.json'),
        PORT: String(port),
        LOG_LEVEL: 'error',
        ...env,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  try {
    for (;;) {
      const tookMs = performance.now() - startedMs;
      const status = await fetch(`http://127.0.0.1:${port}/readyz`).then(
        (answer) => answer.status,
        () => 0,
      );
      if (status === 200) return performance.now() - startedMs;
      if (tookMs > PATIENCE_MS || child.exitCode !== null) throw new Error('the server does not get ready');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } finally {
    await end(child);
  }
}
