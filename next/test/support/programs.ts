import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/*
 * The programs that tests start, each with all its packages in a few files: TypeScript and a thousand small modules cost
 * a start five times as long. They are built once for a run, out of the sources as they are.
 */

const ROOT = new URL('../../', import.meta.url);
const PROGRAMS = ['src/server.ts', 'src/worker.ts', 'src/cli.ts', 'tools/probe.ts', 'test/reconciliation/terminal.ts'];
/** The modules that tests name as adapters. */
const ADAPTER = /\/adapters\/\w+\.ts$|\/till\.ts$/;
const HOOKS = 'hooks.js';
/** WebAssembly of Prisma is compiled once only: the second time, for speed, takes longer than a test lives. */
const FLAGS = ['--liftoff-only'];
const require = createRequire(import.meta.url);
const TYPESCRIPT = pathToFileURL(require.resolve('tsx')).href;

type Built = { outputs: Record<string, { entryPoint?: string }> };
type Bundler = { build(options: object): Promise<{ metafile: Built }>; stop(): Promise<void> };

/** Builds them, in a folder that TEST_PROGRAMS names. @returns removes it */
export async function buildPrograms(): Promise<() => Promise<void>> {
  const { build, stop } = createRequire(require.resolve('tsx'))('esbuild') as Bundler;
  const folder = await mkdtemp(join(tmpdir(), 'integrator-programs-'));
  const out = join(folder, 'programs');
  await mkdir(out);
  // Where a program looks for what is beside it.
  for (const name of ['prisma', 'node_modules']) await symlink(fileURLToPath(new URL(name, ROOT)), join(folder, name));
  await writeFile(join(out, 'package.json'), '{ "type": "module" }');
  const files = await readdir(new URL('test', ROOT), { recursive: true });
  const adapters = files.filter((file) => ADAPTER.test(file)).map((file) => join('test', file));
  const { metafile } = await build({
    entryPoints: [...PROGRAMS, ...adapters],
    absWorkingDir: fileURLToPath(ROOT),
    outbase: '.',
    outdir: out,
    chunkNames: 'chunks/[hash]',
    // A program and its adapter share their modules, as they do in production.
    ...{ bundle: true, splitting: true, metafile: true, logLevel: 'warning' },
    ...{ platform: 'node', format: 'esm', target: 'node20', external: ['pg-native'] },
    // What packages of CommonJS expect to find.
    banner: { js: `const require = process.getBuiltinModule('module').createRequire(import.meta.url);` },
  });
  await stop();
  await writeFile(join(out, HOOKS), hooksFor(metafile));
  process.env.TEST_PROGRAMS = out;
  return () => rm(folder, { recursive: true, force: true });
}

/** How Node.js starts a program, as `src/server.ts`. @param isExtended whether it loads an adapter */
export function startOf(program: string, isExtended: boolean): string[] {
  const out = process.env.TEST_PROGRAMS ?? '';
  if (!PROGRAMS.includes(program)) return [...FLAGS, '--import', TYPESCRIPT, fileURLToPath(new URL(program, ROOT))];
  const hooks = isExtended ? ['--import', pathToFileURL(join(out, HOOKS)).href] : [];
  return [...FLAGS, ...hooks, join(out, program.replace(/ts$/, 'js'))];
}

/** A module that lets an adapter be found by the name of its source, be it named by a variable or by another adapter. */
function hooksFor({ outputs }: Built): string {
  const built = Object.entries(outputs).flatMap(([file, { entryPoint }]) =>
    entryPoint === undefined ? [] : [[new URL(entryPoint, ROOT).href, new URL(file, ROOT).href]],
  );
  const table = JSON.stringify(Object.fromEntries(built));
  const hooks = `const built = ${table}; export const resolve = (name, at, next) => next(built[name] ?? name, at);`;
  const module = JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`);
  return `import { register } from 'node:module'; register(${module});`;
}
