import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, sep } from 'node:path';

/**
 * A source file: its path from the root of the project with forward slashes, and its text without comments.
 */
export type Source = { path: string; code: string };

/** Who stands below whom, the lowest first. Folders of one floor do not know each other. */
const FLOORS: readonly (readonly string[])[] = [
  ['platform'],
  ['gateway', 'orders', 'cases'],
  ['alerts'],
  ['fulfilment', 'reporting'],
  ['payments'],
  ['checkout', 'webhooks', 'reconciliation'],
  ['identity.ts', 'due-alerts.ts', 'retention.ts'],
  ['extensions.ts'],
  ['admin', 'api-docs', 'observability', 'health', 'demo-shop'],
  ['config', 'program.ts', 'connections.ts', 'compose.ts', 'app.ts'],
  // The processes hand it in: nothing below them knows what a shop has made of it.
  ['custom'],
  ['bootstrap'],
  ['server.ts', 'worker.ts', 'commands'],
  ['local'],
  ['tools'],
];
/** Parts of the top that know each other. */
const ONE_FLOOR = 'config';

/**
 * Folders that a shop may delete, each with the one file outside of it that imports it: there the deletion
 * ends.
 */
const OPTIONAL_FOLDERS: Readonly<Record<string, string>> = {
  'src/admin/': 'src/app.ts',
  'src/api-docs/': 'src/app.ts',
  'src/demo-shop/': 'src/app.ts',
  'src/observability/': 'src/compose.ts',
  'src/gateway/history/streaming/': 'src/gateway/history/row-reader.ts',
};

/**
 * Each table and the folder that writes it. Where more folders do, one statement has to write several tables,
 * so that all of it is there or none.
 */
export const WRITERS: Readonly<Record<string, readonly string[]>> = {
  products: ['orders'],
  // Checkout writes an order, its first payment and its idempotency key at once; payments marks it paid with
  // its release.
  orders: ['orders', 'checkout', 'payments'],
  order_lines: ['orders', 'checkout'],
  // Checkout creates a payment with its order; webhooks makes it due in the statement that keeps the webhook.
  payments: ['payments', 'checkout', 'webhooks'],
  verifications: ['payments'],
  acceptances: ['payments'],
  currency_stops: ['payments'],
  checkout_stops: ['payments'],
  // Payments releases with the evidence; fulfilment writes what becomes of the delivery.
  releases: ['fulfilment', 'payments'],
  webhooks: ['webhooks'],
  refused_webhooks: ['webhooks'],
  refunds: ['orders'],
  // Payments puts money that nobody has earned here together with its evidence.
  suspense_items: ['cases', 'payments'],
  suspense_notes: ['cases'],
  // A run raises and closes its findings as one set, from its temporary tables.
  findings: ['cases', 'reconciliation'],
  finding_notes: ['cases'],
  // Triggers write an event in the transaction that makes it true; fulfilment, what becomes of the delivery.
  events: ['fulfilment'],
  wanted_events: ['fulfilment'],
  // Append-only: every change writes its own line in its own statement.
  journal: ['cases', 'checkout', 'fulfilment', 'orders', 'payments', 'reconciliation'],
  idempotency_keys: ['checkout'],
  reconciliation_runs: ['reconciliation'],
  reconciliation_items: ['reconciliation'],
  transfers: ['reconciliation'],
  history_sentinels: ['reconciliation'],
  history_checkpoints: ['reconciliation'],
  confirmed_payments: ['reconciliation'],
  reconciliation_begins: ['reconciliation'],
  before_begin: ['reconciliation'],
  confirmed_hours: ['reporting'],
  confirmed_until: ['reporting'],
  integrity_checks: ['reporting'],
  disclosures: ['reporting'],
  worker_heartbeats: ['platform'],
  alert_states: ['alerts'],
  // Its migration does, once.
  installation: [],
};

const WRITES_SQL = /\b(?:INSERT INTO|UPDATE|DELETE FROM|TRUNCATE|MERGE INTO|COPY)\s+(?:ONLY\s+)?([a-z_]+)/g;
const WRITES_PRISMA =
  /\.([a-z]\w*)\s*\.(?:create|createMany|update|updateMany|upsert|delete|deleteMany)(?:AndReturn)?\(/g;

/** The tables of the schema, by the names that Prisma's client has for them. */
export const TABLES: ReadonlyMap<string, string> = new Map(
  [
    ...readFileSync(new URL('../../prisma/schema.prisma', import.meta.url), 'utf8').matchAll(
      /^model (\w)(\w*) \{.*?@@map\("(\w+)"\)/gms,
    ),
  ].map(([, first = '', rest = '', table = '']) => [first.toLowerCase() + rest, table]),
);

/**
 * Below what a file of the sandbox may know of the program: a stand-in that shared its code would share its
 * errors.
 */
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
    what: 'outgoing HTTP',
    pattern: /from 'undici'|\bfetch\(/,
    owners:
      /^src\/gateway\/http\/|^src\/(platform\/signed-post|commands\/doctor\/go-live)\.ts$|^(local|tools)\//,
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

/**
 * Every source of the program and of what stands beside it, as far as a shop has kept it. @param root of the
 * project
 */
export function readSources(root: string): Source[] {
  return ['src', 'local', 'tools']
    .filter((top) => existsSync(join(root, top)))
    .flatMap((top) =>
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
    ...sources.flatMap((source) => [
      ...wrongImports(source),
      ...sideDoors(source),
      ...wrongWriters(source),
      ...wrongOwners(source),
    ]),
    ...circlesIn(sources).map((circle) => `these import each other: ${circle.join(' > ')}`),
  ];
}

function wrongImports({ path, code }: Source): string[] {
  const folder = folderOf(path);
  const floor = floorOf(folder);
  if (floor === -1) return [`${path}: ${folder} is not a folder of the program`];
  return targetsOf({ path, code })
    .filter((target) => {
      if (path.startsWith('local/sandbox/')) return !OF_THE_SANDBOX.test(target);
      const other = folderOf(target);
      // The tools drive what the tests drive.
      if (folder === 'tools' && target.startsWith('test/support/')) return false;
      const theirs = floorOf(other);
      const isBelow = theirs < floor || (theirs === floor && floor === floorOf(ONE_FLOOR));
      return other !== folder && (theirs === -1 || !isBelow);
    })
    .map((target) => `${path} must not import ${target}`);
}

function sideDoors(source: Source): string[] {
  return targetsOf(source).flatMap((target) =>
    Object.entries(OPTIONAL_FOLDERS)
      .filter(
        ([folder, door]) =>
          target.startsWith(folder) && ![folder, door].some((of) => source.path.startsWith(of)),
      )
      .map(
        ([folder, door]) =>
          `${source.path} must not import ${target}: only ${door} may, so that ${folder} can go`,
      ),
  );
}

/** The tables that a source of the program writes, in SQL or through Prisma's client. */
export function writtenBy({ path, code }: Source): string[] {
  if (!path.startsWith('src/')) return [];
  const bySql = [...code.matchAll(WRITES_SQL)].map(([, table = '']) => table);
  const byPrisma = [...code.matchAll(WRITES_PRISMA)].map(([, model = '']) => TABLES.get(model) ?? '');
  return [...new Set([...bySql, ...byPrisma])].filter((table) => Object.hasOwn(WRITERS, table));
}

function wrongWriters(source: Source): string[] {
  return writtenBy(source)
    .filter((table) => WRITERS[table]?.includes(folderOf(source.path)) !== true)
    .map((table) => `${source.path} must not write ${table}: ${WRITERS[table]?.[0] ?? ''} does`);
}

/**
 * What stands in a shop's own folder is the shop's business, but for what it imports and the tables it
 * writes.
 */
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
    sources.map((source) => [source.path, targetsOf(source).filter((target) => known.has(target))]),
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

function floorOf(folder: string): number {
  return FLOORS.findIndex((folders) => folders.includes(folder));
}

/** The first folder under src, or the file that stands there alone; of what is not in src, the top folder. */
export function folderOf(path: string): string {
  const [top = '', first = ''] = path.split('/');
  if (top !== 'src') return top;
  return first === 'config.ts' ? 'config' : first;
}

/** The files that a source imports, as paths from the root of the project. */
export function targetsOf({ path, code }: Source): string[] {
  return [...code.matchAll(/(?:from|import\()\s*'(\.{1,2}\/[^']+)'/g)].map(([, target = '']) =>
    posix.normalize(posix.join(dirname(path), target)),
  );
}

// Doc comments may name what code must not contain.
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}
