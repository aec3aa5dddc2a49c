import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What a process of a test may be started from. Other tools start others by the path of their sources. */
const FOLDERS = ['src', 'local', 'prisma', 'tools/probe', 'tools/scenarios', 'test/support'];
// As with `default-extensions.ts`: whatever a shop has made of it.
const CUSTOM = 'src/custom/index.ts';
const DEFAULTS = `export { DEFAULTS as EXTENSIONS } from '../extensions.js'; export const areDefaults = true;`;

/**
 * Compiles the program into a folder, module by module: through tsx each start of a process takes a second
 * longer.
 */
export function compileTo(folder: string): void {
  for (const entry of FOLDERS.flatMap(filesIn)) {
    const [from, to] = [join(ROOT, entry), join(folder, entry)];
    mkdirSync(dirname(to), { recursive: true });
    if (entry === CUSTOM) writeFileSync(to.replace(/ts$/, 'js'), DEFAULTS);
    else if (/\.tsx?$/.test(entry))
      writeFileSync(to.replace(/tsx?$/, 'js'), compiled(readFileSync(from, 'utf8'), entry.endsWith('x')));
    else cpSync(from, to);
  }
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
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
