import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cloneDatabase, type TestDatabase } from './support/database.ts';
import { eventually } from './support/eventually.ts';
import { freePort } from './support/ports.ts';
import { startProcess } from './support/process.ts';
import { copyProject } from './support/project-copy.ts';
import { TEST_KEY } from './support/shop.ts';

// Tests what npm start prints first, and what npm run dev does when a file changes.

const ADAPTER = fileURLToPath(new URL('support/adapters/prompt.ts', import.meta.url));
const SERVICE = { GATEWAY_URL: 'http://127.0.0.1:9', GATEWAY_SECRET_KEY: TEST_KEY };

/** For a busy machine. */
const START_MS = 60_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.drop());

test.each<[string, string, Record<string, string>]>([
  [
    'beside the sandbox',
    'local/sandbox-adapter.ts, because GATEWAY_URL is not set and the sandbox answers; set GATEWAY_URL to use src/custom/service.ts',
    {},
  ],
  ['with GATEWAY_URL', 'src/custom/service.ts, because GATEWAY_URL is set', SERVICE],
  ['with GATEWAY_ADAPTER', `${ADAPTER}, because GATEWAY_ADAPTER names it`, { ...SERVICE, GATEWAY_ADAPTER: ADAPTER }],
  [
    'with GATEWAY_ADAPTER beside the sandbox',
    `${ADAPTER}, because GATEWAY_ADAPTER names it`,
    { GATEWAY_ADAPTER: ADAPTER },
  ],
])('npm start names its adapter and the reason: %s', async (_, adapter, env) => {
  const started = startProcess('local/start.ts', { DATABASE_URL: database.url, PORT: '0', ...env });
  const told = await eventually(
    () => /^The server is at [^]*\n\n/m.exec(started.stderr())?.[0] ?? started.ended(),
    START_MS,
  );
  await started.kill('SIGTERM');
  expect(told).toContain(`\nAdapter   ${adapter}\n`);
});

test('npm run dev restarts the server when a file changes, and shuts its database down cleanly each time', async () => {
  const project = await copyProject();
  const port = await freePort();
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, PORT: String(port), HOST: '127.0.0.1' };
  const dev = spawn('npm', ['run', 'dev'], {
    cwd: project.folder,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [dev.stdout, dev.stderr]) stream.on('data', (more: Buffer) => (said += more.toString()));
  const change = async (file: string, from: string, to: string) => {
    const path = join(project.folder, file);
    await writeFile(path, (await readFile(path, 'utf8')).replace(from, to));
  };
  /**
   * Waits until the server shows the change, and checks that its database had been shut down
   * cleanly.
   */
  const shows = async (path: string, text: string) => {
    await eventually(async () => {
      expect(await (await fetch(`http://127.0.0.1:${port}${path}`)).text()).toContain(text);
    }, START_MS);
    const log = await readFile(join(project.folder, '.data/postgres.log'), 'utf8');
    expect(log).toMatch(/was shut down at/);
    expect(log).not.toMatch(/interrupted|recovery/);
  };
  try {
    await shows('/shop', 'Three Markets');
    await change('src/shop-pages/words.json', 'Three Markets', 'Shop of JSON');
    await shows('/shop', 'Shop of JSON');
    await change('src/shop-pages/demo-shop.tsx', '<h1>', '<h1>Shop of TSX: ');
    await shows('/shop', 'Shop of TSX');
    const route = `Router().get('/mine', (_req, res) => void res.send('Shop of TypeScript'))`;
    await change('src/custom/routes.ts', '| null = null', `= () => ${route}`);
    await change('src/custom/routes.ts', 'import type { Router }', 'import { Router }');
    await shows('/mine', 'Shop of TypeScript');
    // The sandbox's adapter is in use, so no process has loaded this file.
    const starts = () => said.split('The server is at').length;
    const before = starts();
    await change('src/custom/service.ts', "'completed'", "'completed', 'settled'");
    await eventually(() => starts() > before, START_MS);
  } catch (error) {
    throw new Error(`npm run dev said:\n${said}`, { cause: error });
  } finally {
    process.kill(-(dev.pid ?? 0), 'SIGTERM');
    await once(dev, 'close');
    await eventually(async () => {
      expect(await readFile(join(project.folder, '.data/postgres.log'), 'utf8')).toMatch(/system is shut down/);
    }, START_MS);
    await project.remove();
  }
}, 300_000);
