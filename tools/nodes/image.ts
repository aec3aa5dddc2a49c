import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { printTable } from './load.ts';
import { freePort, needProgram, productionEnv, startService, until, type Stage } from './stage.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The two images that the Dockerfile begins from. They are made here, as no registry of images can be asked. */
const [BUILDER, RUNNER] = [
  'docker.io/library/node:22-bookworm-slim',
  'gcr.io/distroless/nodejs22-debian12:nonroot',
];
/** What the Dockerfile copies, and the Dockerfile. */
const SOURCES = [
  'Dockerfile',
  'package.json',
  'package-lock.json',
  'prisma.config.ts',
  'prisma',
  'tsconfig.json',
  'deploy',
  'src',
];
/** Authorities that the machine trusts: its npm registry may have a certificate of the company's own. */
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';
const SHELLS = /^(?:sh|bash|dash|busybox|npm|npx|apt|dpkg)$/;

/** What an image says about how it is run. */
type ImageConfig = { Env: string[]; Entrypoint: string[]; Cmd: string[]; WorkingDir: string };

/**
 * Builds the Dockerfile without a registry of images, on base images of Debian's packages and of Node.js from npm, and runs
 * the result as its worst host would: read-only, an ordinary user, no capability, nothing but the network.
 */
export async function image(stage: Stage): Promise<boolean> {
  if (process.getuid?.() !== 0) throw new Error('images are built by root: sudo npm run nodes -- image');
  for (const program of ['mmdebstrap', 'buildah', 'bwrap'])
    needProgram(program, 'mmdebstrap buildah bubblewrap');
  const storage = ['--root', join(stage.folder, 'images'), '--runroot', join(stage.folder, 'run')];
  const buildah = (...args: string[]): string =>
    run('buildah', [...storage, '--storage-driver', 'vfs', ...args], stage.folder);
  makeBaseImages(stage.folder, buildah);

  const context = join(stage.folder, 'context');
  mkdirSync(context);
  for (const name of SOURCES) run('cp', ['-r', join(ROOT, name), context], ROOT);
  const builtMs = performance.now();
  buildah('bud', '--isolation', 'chroot', '--pull-never', '--format', 'docker', '-t', 'integrator', context);
  const tookSec = (performance.now() - builtMs) / 1_000;
  const { OCIv1 } = JSON.parse(buildah('inspect', '--type', 'image', 'integrator')) as {
    OCIv1: { config: ImageConfig };
  };
  const files = buildah('mount', buildah('from', '--pull-never', 'integrator').trim()).trim();

  const { isGood, rows } = await runImage(stage, files, OCIv1.config);
  const holds = readdirSync(join(files, 'app')).sort().join(' ');
  const shells = programsIn(files).filter((name) => SHELLS.test(name));
  printTable('The image, built and run: read-only, uid 65532, no capabilities', {
    'built in, seconds': tookSec.toFixed(0),
    '/app holds': holds,
    'its packages, MB': megabytes(join(files, 'app/node_modules')),
    'all of it, MB': megabytes(join(files, 'app')),
    'shells and package managers': shells.join(' ') || 'none',
    ...rows,
  });
  return isGood && shells.length === 0 && holds === 'dist node_modules package.json prisma';
}

/** Debian with Node.js and npm to build in; to run in, Node.js and the libraries that it needs. */
function makeBaseImages(folder: string, buildah: (...args: string[]) => string): void {
  const [builder, runner, node] = [
    join(folder, 'builder.tar'),
    join(folder, 'runner.tar'),
    join(folder, 'node'),
  ];
  const npm = join(node, 'lib/node_modules/npm');
  run(
    'mmdebstrap',
    ['--quiet', '--variant=minbase', '--include=ca-certificates', 'bookworm', builder],
    folder,
  );
  const libraries = 'base-files,libc6,libstdc++6,libgcc-s1,netbase,tzdata';
  run('mmdebstrap', ['--quiet', '--variant=extract', `--include=${libraries}`, 'bookworm', runner], folder);
  unpack(`node-linux-${process.arch}@22`, node, folder);
  unpack('npm@10', npm, folder);
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(node, 'bin', name));
  const commit = (name: string, contents: [from: string, to: string][], ...settings: string[]): void => {
    const container = buildah('from', 'scratch').trim();
    for (const [from, to] of contents) buildah('add', container, from, to);
    buildah('add', container, AUTHORITIES, AUTHORITIES);
    buildah('config', ...settings, container);
    buildah('commit', '--rm', container, name);
  };
  const trust = ['--env', `NODE_EXTRA_CA_CERTS=${AUTHORITIES}`];
  commit(
    BUILDER,
    [
      [builder, '/'],
      [node, '/usr/local'],
    ],
    '--env',
    'PATH=/usr/local/bin:/usr/bin:/bin',
    ...trust,
  );
  const entry = ['--entrypoint', '["/nodejs/bin/node"]', '--user', '65532'];
  commit(
    RUNNER,
    [
      [runner, '/'],
      [join(node, 'bin/node'), '/nodejs/bin/node'],
    ],
    ...entry,
  );
}

function unpack(spec: string, to: string, folder: string): void {
  const archive = run('npm', ['pack', '--silent', spec], folder).trim();
  mkdirSync(to, { recursive: true });
  run('tar', ['-xzf', archive, '-C', to, '--strip-components=1'], folder);
}

/** Starts the image's command on a database and a service of its own, and buys. */
async function runImage(
  stage: Stage,
  files: string,
  { Env, Entrypoint, Cmd, WorkingDir }: ImageConfig,
): Promise<{ isGood: boolean; rows: Record<string, string | number> }> {
  const database = await startEmbeddedPostgres({
    dataDir: join(stage.folder, 'data'),
    logger: createLogger('warn'),
    purpose: 'npm run nodes',
  });
  stage.later(database.stop);
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const serviceUrl = await startService(stage, `${origin}/webhooks/payments`);
  const env = { ...productionEnv(database.url, serviceUrl), WORKER: 'inline', PORT: String(port) };
  const told = [...Env.map((line) => line.split(/=(.*)/s)), ...Object.entries(env)];
  const sandboxed = (...command: string[]): string[] => [
    ...['--ro-bind', files, '/', '--proc', '/proc', '--dev', '/dev', '--chdir', WorkingDir],
    ...[
      '--unshare-user',
      '--uid',
      '65532',
      '--gid',
      '65532',
      '--unshare-pid',
      '--unshare-ipc',
      '--unshare-uts',
    ],
    ...['--cap-drop', 'ALL', '--die-with-parent', '--clearenv'],
    ...told.flatMap(([name = '', value = '']) => ['--setenv', name, value]),
    ...command,
  ];
  const ask = (...command: string[]): { status: number | null; stdout: string } =>
    spawnSync('bwrap', sandboxed(...command), { encoding: 'utf8' });

  const migrated = ask(...Entrypoint, 'dist/commands/cli.js', 'migrate').status;
  const inside = ask(...Entrypoint, '-e', WHO_AM_I).stdout.trim();
  const [info, log] = [join(stage.folder, 'image.json'), openSync(join(stage.folder, 'image.log'), 'a')];
  const started = ['--info-fd', '3', '--as-pid-1', ...sandboxed(...Entrypoint, ...Cmd)];
  const server = stage.start('image', 'bwrap', started, { stdio: ['ignore', log, log, openSync(info, 'w')] });
  const status = async (path: string): Promise<number> => (await fetch(`${origin}${path}`)).status;
  await until('the image is ready', async () => (await status('/readyz')) === 200);
  const [healthz, readyz] = [await status('/healthz'), await status('/readyz')];
  const bought = await buy(origin, serviceUrl);
  const shell = ask('/bin/sh', '-c', 'true').status;
  process.kill((JSON.parse(readFileSync(info, 'utf8')) as { 'child-pid': number })['child-pid'], 'SIGTERM');
  const ended = await server.ended;
  return {
    isGood:
      migrated === 0 &&
      inside === 'uid 65532, capabilities 0, / and /app read-only' &&
      [healthz, readyz].every((code) => code === 200) &&
      bought === 'paid' &&
      shell !== 0 &&
      ended === 0,
    rows: {
      'inside it is': inside,
      'cli.js migrate ends with': migrated ?? 'a signal',
      '/healthz, /readyz': `${healthz}, ${readyz}`,
      'a purchase ends as': bought,
      '/bin/sh': shell === 0 ? 'runs' : 'is not there',
      'SIGTERM ends it with': ended ?? 'a signal',
    },
  };
}

async function buy(origin: string, serviceUrl: string): Promise<string> {
  const post = (url: string, body: object): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const answer = await post(`${origin}/checkout`, {
    email: 'shopper@example.com',
    items: [{ sku: 'ankara-tote', quantity: 1 }],
  });
  const { orderId, reference } = (await answer.json()) as { orderId: string; reference: string };
  await post(`${serviceUrl}/sandbox/transactions/${reference}/pay`, {});
  const read = async (): Promise<string> =>
    ((await (await fetch(`${origin}/orders/${orderId}`)).json()) as { status: string }).status;
  await until('the order is paid', async () => (await read()) === 'paid');
  return read();
}

/** Asked of Node.js inside: who it is, what it may do, and whether it can write anywhere. */
const WHO_AM_I = `
  const fs = require('node:fs');
  const isReadOnly = (path) => { try { fs.writeFileSync(path, ''); return false; } catch { return true; } };
  const capabilities = parseInt(/CapEff:\\s*(\\w+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1], 16);
  const closed = ['/x', '/app/x'].every(isReadOnly);
  console.log('uid ' + process.getuid() + ', capabilities ' + capabilities + ', / and /app ' + (closed ? 'read-only' : 'writable'));`;

/** @returns what it printed @throws with what it said when it fails */
function run(program: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (status === 0) return stdout;
  throw error ?? new Error(`${program} ${args.join(' ')}\n${stdout.slice(-2_000)}${stderr.slice(-2_000)}`);
}

function megabytes(folder: string): number {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) =>
    entry.isFile(),
  );
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  return Math.round(bytes / 2 ** 20);
}

/** Names in the folders where programs are. */
function programsIn(files: string): string[] {
  return ['bin', 'sbin', 'usr/bin', 'usr/sbin', 'usr/local/bin', 'nodejs/bin']
    .map((folder) => join(files, folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder));
}
