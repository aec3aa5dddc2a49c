import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/*
 * `npm run bundle`: one folder with all that production needs, and nothing else. The image and every installed copy are
 * this folder. The checkout is only read, and neither npm nor a network is asked.
 */

const ROOT = fileURLToPath(new URL('../', import.meta.url));
/** What Prisma's client brings for other databases, and what only debuggers read. */
const LEFT_OUT = /^query_compiler(?!_fast_bg\.postgresql\.)|\.map$/;
/** What a checkout starts through tsx, with a database and a sandbox where none is configured. */
const IN_A_CHECKOUT = /^(node .*)--import tsx local\/start\.ts (\S+)$/;

type Manifest = {
  name: string;
  version: string;
  license: string;
  scripts: Record<string, string>;
  engines: object;
  dependencies: object;
};
type Lock = { packages: Record<string, Mark> };
type Mark = { dev?: true; optional?: true; devOptional?: true; peer?: true; link?: true };

const { values } = parseArgs({
  options: { built: { type: 'string', default: 'dist' }, to: { type: 'string', default: 'bundle' } },
});
const [built, bundle] = [resolve(values.built), resolve(values.to)];
if (!existsSync(join(built, 'server.js'))) {
  process.stderr.write(`there is no program in ${built}: npm run build\n`);
  process.exit(1);
}
// A file that was left out since the last time must not live on.
rmSync(bundle, { recursive: true, force: true });
mkdirSync(bundle, { recursive: true });
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
writeFileSync(join(bundle, 'package.json'), `${JSON.stringify(productionManifest(manifest), null, 2)}\n`);
cpSync(built, join(bundle, 'dist'), { recursive: true });
cpSync(join(ROOT, 'prisma/migrations'), join(bundle, 'prisma/migrations'), { recursive: true });
for (const path of productionPackages()) copyPackage(path);
process.stdout.write(
  `${values.to}: version ${manifest.version}, ${megabytes(bundle)} MB. docs/debian.md says how to install it.\n`,
);

/** The same commands under the same names, each with the flags that it has in a checkout. */
function productionManifest({ name, version, license, scripts, engines, dependencies }: Manifest): object {
  const ours = Object.entries(scripts).flatMap(([script, line]): [string, string][] => {
    const [, node = '', what = ''] = IN_A_CHECKOUT.exec(line) ?? [];
    if (node === '') return [];
    const isProcess = what === 'server' || what === 'worker';
    return [[script, `${node}${isProcess ? `dist/${what}.js` : `dist/commands/cli.js ${what}`}`]];
  });
  const rest = { private: true, license, type: 'module', engines, scripts: Object.fromEntries(ours) };
  return { name, version, ...rest, dependencies };
}

/** What `npm prune --omit=dev --omit=optional --omit=peer` would leave, by the same marks of the lock file. */
function productionPackages(): string[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .filter(
      ([, { dev, optional, devOptional, peer, link }]) => !(dev ?? optional ?? devOptional ?? peer ?? link),
    )
    .map(([path]) => path);
}

/** The package without those inside it: the lock file names each by itself. */
function copyPackage(path: string): void {
  const from = join(ROOT, path);
  cpSync(from, join(bundle, path), {
    recursive: true,
    filter: (file) => relative(from, file) !== 'node_modules' && !LEFT_OUT.test(basename(file)),
  });
}

function megabytes(folder: string): number {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((file) => file.isFile());
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  return Math.round(bytes / 2 ** 20);
}
