import { build, stop, type Metafile, type Plugin } from 'esbuild';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/*
 * Builds the programs that tests start, each with all its packages in a few files. Loading TypeScript and a thousand
 * small modules would make a start five times as long. Each run builds the programs once, from the current sources.
 */

const ROOT = new URL('../../', import.meta.url);
const FOLDER = fileURLToPath(ROOT);
const PROGRAMS = ['src/server.ts', 'src/worker.ts', 'src/cli.ts', 'tools/probe.ts', 'test/support/command-loop.ts'];
/** The modules that tests use as adapters. */
const ADAPTER = /\/adapters\/\w+\.ts$|\/till\.ts$/;
const HOOKS = 'hooks.js';
/**
 * Prisma's WebAssembly is compiled only once. The second, optimising compilation takes longer than
 * a test.
 */
const FLAGS = ['--liftoff-only'];
const require = createRequire(import.meta.url);
const TYPESCRIPT = pathToFileURL(require.resolve('tsx')).href;

/**
 * Our tests use the sandbox's adapter, so that they still pass when a shop changes its own adapter.
 */
const SHOPS_OWN = /\/custom\/service\.ts$/;
/** A test may put its own receiver here. */
const SHOPS_RECEIVER = /\/custom\/fulfilment\.ts$/;

/** A module finds the files beside its source, and a program knows that it was started directly. */
const places: Plugin = {
  name: 'places',
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: SHOPS_OWN }, () => ({ path: join(FOLDER, 'local/sandbox-adapter.ts') }));
    onResolve({ filter: SHOPS_RECEIVER }, () => ({ path: join(FOLDER, 'test/support/own-receiver.ts') }));
    onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const place = PROGRAMS.includes(relative(FOLDER, path)) ? 'import.meta.url' : `"${pathToFileURL(path).href}"`;
      return { contents: text.replaceAll('import.meta.url', place), loader: path.endsWith('x') ? 'tsx' : 'ts' };
    });
  },
};

/**
 * Builds the programs into a folder that TEST_PROGRAMS names.
 * @returns a function that removes it
 */
export async function buildPrograms(): Promise<() => Promise<void>> {
  const out = await mkdtemp(join(tmpdir(), 'integrator-programs-'));
  const remove = () => rm(out, { recursive: true, force: true });
  try {
    await writeFile(join(out, 'package.json'), '{ "type": "module" }');
    await writeFile(join(out, HOOKS), hooksFor(await bundle(out)));
  } catch (error) {
    await remove();
    throw error;
  }
  process.env.TEST_PROGRAMS = out;
  return remove;
}

async function bundle(outdir: string): Promise<Metafile> {
  const files = await readdir(new URL('test', ROOT), { recursive: true });
  const adapters = files.filter((file) => ADAPTER.test(file)).map((file) => join('test', file));
  const { metafile } = await build({
    entryPoints: [...PROGRAMS, ...adapters],
    absWorkingDir: FOLDER,
    outbase: '.',
    outdir,
    chunkNames: 'chunks/[hash]',
    // A program and its adapter share their modules, as in production.
    ...{ bundle: true, splitting: true, metafile: true, logLevel: 'warning' },
    ...{ platform: 'node', format: 'esm', target: 'node20', external: ['pg-native'], plugins: [places] },
    // Globals that CommonJS packages expect.
    banner: { js: `const require = process.getBuiltinModule('module').createRequire(import.meta.url);` },
  }).finally(stop);
  return metafile;
}

/**
 * The arguments of Node.js that start a program, as `src/server.ts`.
 * @param isExtended whether it loads an adapter
 */
export function startOf(program: string, isExtended: boolean): string[] {
  const out = process.env.TEST_PROGRAMS ?? '';
  if (!PROGRAMS.includes(program)) return [...FLAGS, '--import', TYPESCRIPT, fileURLToPath(new URL(program, ROOT))];
  const hooks = isExtended ? ['--import', pathToFileURL(join(out, HOOKS)).href] : [];
  return [...FLAGS, ...hooks, join(out, program.replace(/ts$/, 'js'))];
}

/**
 * A module that maps the source path of an adapter to its build, for a variable and for an import
 * of another adapter.
 */
function hooksFor({ outputs }: Metafile): string {
  const built = Object.entries(outputs).flatMap(([file, { entryPoint }]) =>
    entryPoint === undefined ? [] : [[new URL(entryPoint, ROOT).href, new URL(file, ROOT).href]],
  );
  const table = JSON.stringify(Object.fromEntries(built));
  const hooks = `const built = ${table}; export const resolve = (name, at, next) => next(built[name] ?? name, at);`;
  const module = JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`);
  return `import { register } from 'node:module'; register(${module});`;
}
