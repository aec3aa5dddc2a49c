import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';

/** A source file: its path under src with forward slashes, and its text without comments. */
export type Source = { path: string; code: string };

/** What each room may import beside itself. The house of the README, written down once. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  platform: [],
  gateway: ['platform'],
  orders: ['platform'],
  suspense: ['gateway', 'orders', 'platform'],
  fulfilment: ['gateway', 'orders', 'platform'],
  settlement: ['suspense', 'fulfilment', 'gateway', 'orders', 'platform'],
  checkout: ['settlement', 'suspense', 'fulfilment', 'gateway', 'orders', 'platform'],
  webhooks: ['settlement', 'suspense', 'fulfilment', 'gateway', 'orders', 'platform'],
  reconciliation: ['settlement', 'suspense', 'fulfilment', 'gateway', 'orders', 'platform'],
  operations: [
    'checkout',
    'webhooks',
    'reconciliation',
    'settlement',
    'suspense',
    'fulfilment',
    'gateway',
    'orders',
    'platform',
  ],
  shop: ['orders', 'platform'],
};

/** A thing that only some files may contain, and why one finds it only there. */
type Ownership = { what: string; pattern: RegExp; owners: RegExp };

const SINGLE_OWNERS: readonly Ownership[] = [
  { what: 'the environment', pattern: /process\.env\b/, owners: /^config\.ts$/ },
  {
    what: 'Express',
    pattern: /^import (?!type)[^;]*from 'express'/m,
    owners: /(^|\/)(routes|app)\.ts$|^platform\//,
  },
  {
    what: 'SQL or Prisma',
    pattern:
      /`\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|COPY)\s|'(SELECT|INSERT INTO|UPDATE|DELETE FROM) |\.prisma\b/,
    owners: /\/repository\.ts$|\.sql\.ts$|^platform\/(database\.ts|postgres\/)/,
  },
  {
    what: 'outgoing HTTP to the service',
    pattern: /from 'undici'|\bfetch\(/,
    owners: /^gateway\/(client|exchange)\.ts$|^demo-day\.ts$|^fulfilment\/http-receiver\.ts$|^sandbox\//,
  },
  {
    what: 'the current time',
    pattern: /new Date\(\)|Date\.now\(|performance\.now\(|process\.hrtime/,
    owners: /^platform\/clock\.ts$/,
  },
  {
    what: "the service's spellings",
    pattern: /x-api-key|['"`/]v1\/|localCurrency|amountCurrency/,
    owners: /^(gateway|sandbox)\//,
  },
];

export function readSources(root: string): Source[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => /\.tsx?$/.test(path) && !path.startsWith('platform/prisma/'))
    .map((path) => ({ path, code: withoutComments(readFileSync(join(root, path), 'utf8')) }));
}

/** One line per breach: what stands where it must not. */
export function breaches(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => [...wrongImports(source), ...wrongOwners(source)]);
}

function wrongImports({ path, code }: Source): string[] {
  const room = roomOf(path);
  if (room === null) return [];
  const allowed = MAY_IMPORT[room];
  if (allowed === undefined) return [`${path}: ${room}/ is not a room of the house`];
  return importsOf(code)
    .map((target) => posix.normalize(posix.join(dirname(path), target)))
    .filter((target) => {
      const other = roomOf(target);
      return other !== room && (other === null || !allowed.includes(other));
    })
    .map((target) => `${path} must not import ${target}`);
}

function wrongOwners({ path, code }: Source): string[] {
  return SINGLE_OWNERS.filter(({ pattern, owners }) => pattern.test(code) && !owners.test(path)).map(
    ({ what }) => `${path} must not hold ${what}`,
  );
}

/** Folders that only keep the top tidy: parts of one process each. */
const OF_THE_TOP = ['commands', 'rehearsal'];

/** The first folder; null for the top, which may import every room and is imported by none. */
function roomOf(path: string): string | null {
  const [first = '', ...rest] = relative('.', path).split('/');
  return rest.length === 0 || OF_THE_TOP.includes(first) ? null : first;
}

function importsOf(code: string): string[] {
  return [...code.matchAll(/(?:from|import\()\s*'(\.{1,2}\/[^']+)'/g)].map(([, target = '']) => target);
}

// Doc comments may name what code must not contain.
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}
