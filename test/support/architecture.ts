import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, sep } from 'node:path';

/** A source file: its path from the root of the project with forward slashes, and its text without comments. */
export type Source = { path: string; code: string };

/** Who stands below whom, the lowest first. Rooms of one floor do not know each other. */
const FLOORS: readonly (readonly string[])[] = [
  ['platform'],
  ['gateway', 'orders', 'cases'],
  ['fulfilment', 'reporting'],
  ['payments'],
  ['checkout', 'webhooks', 'reconciliation'],
  ['extensions.ts'],
  ['admin', 'api-docs', 'observability', 'demo-shop'],
  ['config', 'program.ts', 'compose.ts', 'app.ts'],
  // The processes hand it in: nothing below them knows what a shop has made of it.
  ['custom'],
  ['bootstrap'],
  ['server.ts', 'worker.ts', 'commands'],
  ['local'],
  ['tools'],
];
/** Parts of the top that know each other. */
const ONE_FLOOR = 'config';

/** Below what a file of the sandbox may know of the program: a stand-in that shared its code would share its errors. */
const OF_THE_SANDBOX = /^(local|src\/platform)\//;

/** A thing that only some files may contain, and why one finds it only there. */
type Ownership = { what: string; pattern: RegExp; owners: RegExp };

const SINGLE_OWNERS: readonly Ownership[] = [
  { what: 'the environment', pattern: /process\.env\b/, owners: /^src\/config\.ts$|^tools\/(chaos|nodes)\// },
  {
    what: 'Express',
    pattern: /^import (?!type)[^;]*from 'express'/m,
    owners: /(^|\/)(routes|app)\.ts$|^src\/platform\//,
  },
  {
    what: 'SQL or Prisma',
    pattern:
      /`\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|COPY)\s|'(SELECT|INSERT INTO|UPDATE|DELETE FROM) |\.prisma\b/,
    owners: /\.sql\.ts$|^src\/platform\/database\/|^local\/postgres\/|^tools\/(chaos|nodes)\//,
  },
  {
    what: 'outgoing HTTP to the service',
    pattern: /from 'undici'|\bfetch\(/,
    owners: /^src\/gateway\/http\/|^src\/fulfilment\/http-receiver\.ts$|^(local|tools)\//,
  },
  {
    what: 'the current time',
    pattern: /new Date\(\)|Date\.now\(|performance\.now\(|process\.hrtime/,
    owners: /^src\/platform\/clock\.ts$|^tools\/(chaos|nodes)\//,
  },
  {
    what: "the service's spellings",
    pattern: /x-api-key|['"`/]v1\/|localCurrency|amountCurrency/,
    owners: /^src\/gateway\/|^local\/sandbox\/|^tools\//,
  },
];

/** Every source of the program and of what stands beside it. @param root of the project */
export function readSources(root: string): Source[] {
  return ['src', 'local', 'tools'].flatMap((top) =>
    readdirSync(join(root, top), { recursive: true, encoding: 'utf8' })
      .map((path) => `${top}/${path.split(sep).join('/')}`)
      .filter((path) => /\.tsx?$/.test(path) && !path.startsWith('src/platform/prisma/'))
      // The shop's tests stand beside what they try, and start it as ours do.
      .filter((path) => !/^src\/custom\/.*\.test\.tsx?$/.test(path))
      .map((path) => ({ path, code: withoutComments(readFileSync(join(root, path), 'utf8')) })),
  );
}

/** One line per breach: what stands where it must not. */
export function breaches(sources: readonly Source[]): string[] {
  return [
    ...sources.flatMap((source) => [...wrongImports(source), ...wrongOwners(source)]),
    ...circlesIn(sources).map((circle) => `these import each other: ${circle.join(' > ')}`),
  ];
}

function wrongImports({ path, code }: Source): string[] {
  const room = roomOf(path);
  const floor = floorOf(room);
  if (floor === -1) return [`${path}: ${room} is not a room of the house`];
  return importsOf(code)
    .map((target) => posix.normalize(posix.join(dirname(path), target)))
    .filter((target) => {
      if (path.startsWith('local/sandbox/')) return !OF_THE_SANDBOX.test(target);
      const other = roomOf(target);
      // The tools drive what the tests drive.
      if (room === 'tools' && target.startsWith('test/support/')) return false;
      const theirs = floorOf(other);
      const isBelow = theirs < floor || (theirs === floor && floor === floorOf(ONE_FLOOR));
      return other !== room && (theirs === -1 || !isBelow);
    })
    .map((target) => `${path} must not import ${target}`);
}

/** What stands in a shop's own folder is the shop's business, but for what it imports. */
const OF_THE_SHOP = 'src/custom/';

function wrongOwners({ path, code }: Source): string[] {
  if (path.startsWith(OF_THE_SHOP)) return [];
  return SINGLE_OWNERS.filter(({ pattern, owners }) => pattern.test(code) && !owners.test(path)).map(
    ({ what }) => `${path} must not hold ${what}`,
  );
}

/** Files that reach themselves through what they import, types included: none of them can be read first. */
export function circlesIn(sources: readonly Source[]): string[][] {
  const known = new Set(sources.map(({ path }) => path));
  const imports = new Map(
    sources.map(({ path, code }) => [
      path,
      importsOf(code)
        .map((target) => posix.normalize(posix.join(dirname(path), target)))
        .filter((target) => known.has(target)),
    ]),
  );
  const done = new Set<string>();
  const circles: string[][] = [];
  const visit = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path]);
    if (done.has(path) || way.includes(path)) return;
    for (const target of imports.get(path) ?? []) visit(target, [...way, path]);
    done.add(path);
  };
  for (const path of known) visit(path, []);
  return circles;
}

function floorOf(room: string): number {
  return FLOORS.findIndex((rooms) => rooms.includes(room));
}

/** The first folder under src, or the file that stands there alone; local, tools and others are rooms of their own. */
function roomOf(path: string): string {
  const [top = '', first = ''] = path.split('/');
  if (top !== 'src') return top;
  return first === 'config.ts' ? 'config' : first;
}

function importsOf(code: string): string[] {
  return [...code.matchAll(/(?:from|import\()\s*'(\.{1,2}\/[^']+)'/g)].map(([, target = '']) => target);
}

// Doc comments may name what code must not contain.
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}
