import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { reachOf, readSources, type Source } from './support/sources.ts';

/**
 * The folders and files of `src/`, the lowest layer first. Folders of one layer do not import each
 * other.
 */
const FLOORS = [
  ['platform'],
  ['config-values.ts'],
  ['config-checks.ts'],
  ['config.ts'],
  ['gateway'],
  ['ledger'],
  ['cases', 'orders'],
  ['alerts'],
  ['fulfilment'],
  ['payments'],
  ['checkout', 'webhooks', 'shop-api', 'reconciliation'],
  // The shop's own code. The layers above pass it in, so that no layer below imports it. It may
  // import any type.
  ['custom'],
  ['reporting'],
  ['commands'],
  ['console', 'api-docs', 'shop-pages', 'metrics.ts', 'health.ts'],
  ['load-adapter.ts'],
  ['compose.ts'],
  ['app.ts'],
  ['http-server.ts', 'process.ts'],
  ['server.ts', 'worker.ts', 'cli.ts'],
  ['local'],
  ['tools', 'bench'],
];

/** Code that only some files may contain, so that it is easy to find. */
const OWNERS: [what: string, pattern: RegExp, owners: RegExp][] = [
  ['the environment', /\bprocess\.env\b/, /^src\/(config\.ts$|custom\/)/],
  ['the service key', /key\w*[?!]?\.reveal\(|x-api-key/i, /^src\/(gateway\/|config\.ts$)/],
  ['a write of a ledger', writes('ledger', 'ledgers'), /^src\/(payments\/|reconciliation\/compare\.ts$)/],
  ['a write of a proof of payment', writes('proof(Payment)?', 'proof(s|_payments)'), /^src\/payments\//],
  ['paid', /\bpaidReference:(?! true| null| string| \{)|SET\b[^;`]*\bpaid_reference\b/, /^src\/payments\//],
  [
    'SQL from fragments',
    /\bqueryRawUnsafe\b|\bexecuteRawUnsafe\b|\bPrisma\.(raw|join|sql)\b/,
    /^src\/payments\/write-rows\.ts$/,
  ],
  ['any', /\bas any\b|[:<|(] ?any\b|\bany\[\]/, /^$/],
];

/** Decisions. They get everything that they need as arguments. */
const PURE = [
  'ledger/books.ts',
  'ledger/history.ts',
  'ledger/ledger.ts',
  'ledger/position.ts',
  'ledger/sources.ts',
  'ledger/stored.ts',
  'payments/decide.ts',
  'cases/classes.ts',
  'cases/decisions.ts',
];
const DATABASE = /^(pg|@prisma\/.*|src\/platform\/(db\.ts|prisma\/client\.ts))$/;

const sources = readSources('src', 'local', 'tools', 'bench');
const program = sources.filter(({ path }) => path.startsWith('src/'));

function writes(model: string, table: string): RegExp {
  const sql = `\\b(INSERT INTO|UPDATE|DELETE FROM|COPY) "?${table}\\b`;
  return new RegExp(`\\.${model}\\.(create|update|upsert|delete)|${sql}`);
}

/**
 * Returns `payments` for src/payments/decide.ts, `app.ts` for src/app.ts, `local` for any file in
 * local.
 */
function roomOf(path: string): string {
  const [top = '', next = ''] = path.split('/');
  return top === 'src' ? next : top;
}

function isOurs(target: string): boolean {
  return /^(src|local|tools|bench|test)\//.test(target);
}

function floorOf(path: string): number {
  return FLOORS.findIndex((rooms) => rooms.includes(roomOf(path)));
}

/** One line for each import of a higher layer or of the same layer. */
function breaches({ path, imports }: Source): string[] {
  return imports
    .filter(({ target, isType }) => isOurs(target) && !(isType && roomOf(path) === 'custom'))
    .filter(({ target }) => roomOf(target) !== roomOf(path) && floorOf(target) >= floorOf(path))
    .map(({ target }) => `${path} imports ${target}`);
}

test('every file is in a layer, and each layer imports only lower layers', () => {
  expect(sources.filter(({ path }) => floorOf(path) === -1).map(({ path }) => path)).toEqual([]);
  expect(sources.flatMap(breaches)).toEqual([]);
});

test('no file imports itself in a circle', () => {
  const circles = program.filter(({ path, imports }) =>
    imports.some(({ target, isType }) => !isType && reachOf(target, program).has(path)),
  );
  expect(circles.map(({ path }) => path)).toEqual([]);
});

test('every npm import is in package.json, and production installs what the program needs', () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  const known = (path: string) => ({
    ...(path.startsWith('src/') ? {} : manifest.devDependencies),
    ...manifest.dependencies,
  });
  const unknown = [...sources, ...readSources('test')].flatMap(({ path, imports }) =>
    imports
      .filter(({ target }) => !isOurs(target) && !isBuiltin(target))
      .filter(({ target }) => !((/^(@[^/]+\/)?[^/]+/.exec(target) ?? [''])[0] in known(path)))
      .map(({ target }) => `${path} imports ${target}`),
  );
  expect(unknown).toEqual([]);
});

test.each(OWNERS)('%s is only in the files that may contain it', (_what, pattern, owners) => {
  const strangers = program.filter(({ path, code }) => !owners.test(path) && pattern.test(code));
  expect(strangers.map(({ path }) => path)).toEqual([]);
});

test('no lint or type rule is disabled', () => {
  const off = sources.filter(({ text }) => /eslint-disable|@ts-(ignore|nocheck|expect-error)/.test(text));
  expect(off.map(({ path }) => path)).toEqual([]);
});

test('decisions do not import the database', () => {
  const impure = program
    .filter(({ path }) => PURE.includes(path.slice('src/'.length)))
    .flatMap(({ path }) =>
      [...reachOf(path, program)]
        .filter((target) => DATABASE.test(target))
        .map((target) => `${path} reaches ${target}`),
    );
  expect(impure).toEqual([]);
});

test('the sandbox shares no code with the program, because it would share its errors', () => {
  const sandbox = sources.filter(({ path }) => path.startsWith('local/sandbox/'));
  const shared = sandbox.filter(({ imports }) => imports.some(({ target }) => target.startsWith('src/')));
  expect(shared.map(({ path }) => path)).toEqual([]);
});
