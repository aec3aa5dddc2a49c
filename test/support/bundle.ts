import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * What `npm run bundle` writes, in a folder of a test, and of whatever shop: with the defaults. That the
 * types are right takes the compiler most of its time, and is not seen in what it builds.
 *
 * @returns its folder
 */
export function bundleIn(folder: string, { areTypesChecked = false } = {}): string {
  const [built, bundle] = [join(folder, 'dist'), join(folder, 'bundle')];
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  run(compiler, '-p', 'deploy', '--outDir', built, ...(areTypesChecked ? [] : ['--noCheck']));
  run('--import', 'tsx', 'deploy/copy-assets.ts', '--to', built);
  const defaults = `export { DEFAULTS as EXTENSIONS } from '../extensions.js';\n`;
  writeFileSync(join(built, 'custom/index.js'), defaults);
  run('--import', 'tsx', 'deploy/bundle.ts', '--built', built, '--to', bundle);
  return bundle;
}

/**
 * What an operator is told to type where a bundle is installed, each line once, as it stands on the pages.
 */
export function commandsOfPages(): string[] {
  const pages = ['operations', 'runbook', 'debian'].map((page) => join(ROOT, `docs/${page}.md`));
  // The table of all commands only names them: test/commands/help asks each of them.
  const named = /^## All commands\n[^]*?(?=^## )/m;
  const lines = pages.flatMap(
    (page) =>
      readFileSync(page, 'utf8')
        .replace(named, '')
        .match(/npm (?:start|run (?:"[^"\n]*"|[^`|),"\n])*)/g) ?? [],
  );
  const ours = lines
    .map((line) => line.trim())
    .filter((line) => !/^npm run (?:bench|build|bundle|nodes|probe|sandbox)/.test(line));
  return [...new Set(ours)].sort();
}

function run(...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')}\n${stdout}${stderr}`);
}
