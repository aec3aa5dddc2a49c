import { describe, expect, test } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { load, loadAll } from 'js-yaml';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findAction } from '../src/commands/commands.ts';
import { VARIABLES } from '../src/config.ts';
import { SCREENSHOTS } from '../tools/screenshots.ts';

// The variables, scripts, commands, files and headings that the pages and deploy/ name must exist.

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const filesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, one = '']) => one);

const PAGES = ['README.md', ...filesIn('docs').filter((path) => path.endsWith('.md'))];
const DEPLOYED = filesIn('deploy');
const DEMO = 'compose.yaml';
const ALL = [...PAGES, ...DEPLOYED, DEMO, '.env.example'];

/**
 * Variables of other programs: PostgreSQL's image, systemd, OpenTelemetry, the sandbox, tests, and
 * the examples of a page.
 */
const OTHERS = /^(POSTGRES|AF|OTEL|SANDBOX|TEST|RECEIVER|SUDO|HTTPS?|NO)_/;
const OTHER_NAMES = ['CHROME_PATH', 'ON_ERROR_STOP', 'SOURCE_DATE_EPOCH'];

const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };

test.each(ALL)('%s spells each variable as config.ts does', (path) => {
  const known = [...Object.keys(VARIABLES.shape), ...OTHER_NAMES, ...constantsIn()];
  // A name in capitals with an underscore is a variable or a constant of the source.
  const names = found(textOf(path), /(?<![\w./$-])([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?![\w-])/g);
  expect(names.filter((name) => !known.includes(name) && !OTHERS.test(name))).toEqual([]);
});

/** Constants of the source, which pages may name. */
function constantsIn(): string[] {
  return filesIn('src').flatMap((path) =>
    /\.tsx?$/.test(path) && !path.includes('prisma/') ? found(textOf(path), /\bconst ([A-Z][A-Z0-9_]+)\b/g) : [],
  );
}

test.each(ALL)('%s names only scripts of package.json', (path) => {
  expect(
    found(textOf(path), /\bnpm (?:--silent )?run (?:--silent )?([\w:-]+)/g).filter((name) => !(name in scripts)),
  ).toEqual([]);
});

test.each(ALL)('%s names only existing commands', (path) => {
  const said = textOf(path).replace(/\s*\n\s*(?=[A-Za-z])/g, ' ');
  const typed = [
    ...found(said, /\bnpm run cli -- ([a-z-]+(?: [a-z-]+)?)/g),
    ...found(said, /\bdist\/cli\.js ([a-z-]+(?: [a-z-]+)?)/g),
    ...found(textOf(path), /(?:^|`)integrator ([a-z-]+(?: [a-z-]+)?)/gm),
  ];
  expect(typed.filter((words) => findAction(words.split(' ')) === null)).toEqual([]);
});

test.each([...PAGES, ...DEPLOYED, DEMO])('%s names only existing files', (path) => {
  const text = textOf(path);
  // The files of a recipe begin with their name.
  const made = found(text, /^(?:\/\/|--) (\S+)$/gm);
  const named = found(
    text,
    /(?<![\w./:@-])((?:[\w-]+\/)+[\w.@-]+\.(?:tsx?|cjs|js|json|md|ya?ml|conf|service|sql|css))\b/g,
  );
  const places = (name: string) => [
    ...['', 'src', 'docs', 'node_modules'].map((folder) => join(ROOT, folder, name)),
    join(dirname(join(ROOT, path)), name),
    join(ROOT, name.replace(/^.*\bdist\//, 'src/').replace(/\.js$/, '.ts')),
  ];
  const isThere = (name: string) => made.includes(name) || places(name).some(existsSync);
  expect(named.filter((name) => !isThere(name))).toEqual([]);
});

describe('links', () => {
  /** As GitHub makes them. */
  const anchorsOf = (path: string): string[] =>
    found(textOf(path).replace(/^```[^]*?^```/gm, ''), /^#+ (.+)$/gm).map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    );

  test.each(PAGES)('of %s lead to existing files and headings', (page) => {
    const links = found(textOf(page), /\]\(([^)\s]+)\)/g).filter((link) => !/^https?:/.test(link));
    const broken = links.filter((link) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? page : relative(ROOT, join(dirname(join(ROOT, page)), file));
      if (!existsSync(join(ROOT, target))) return true;
      return anchor !== undefined && !anchorsOf(target).includes(anchor);
    });
    expect(broken).toEqual([]);
  });
});

test.each(DEPLOYED.filter((path) => /\.ya?ml$/.test(path)))(
  '%s is valid YAML and starts programs of the build',
  (path) => {
    const documents = loadAll(textOf(path));
    expect(documents.filter((one) => typeof one !== 'object' || one === null)).toEqual([]);
    const programs = found(JSON.stringify(documents), /dist\/(\w+)\.js/g);
    expect(programs.filter((name) => !existsSync(join(ROOT, 'src', `${name}.ts`)))).toEqual([]);
    expect(programs).toContain('worker');
  },
);

describe('the demo of compose.yaml', () => {
  type Service = {
    image: string;
    build?: { dockerfile: string };
    command?: string[];
    environment: Record<string, string>;
    env_file?: unknown;
    ports?: string[];
    tmpfs?: string[];
    depends_on?: Record<string, unknown>;
  };
  type Compose = { name: string; services: Record<string, Service>; volumes?: unknown };
  const composeIn = (path: string) => load(textOf(path)) as Compose;
  const demo = composeIn(DEMO);
  const production = composeIn('deploy/docker-compose.yml');
  const { shop, postgres } = demo.services as { shop: Service; postgres: Service };
  const dockerfile = textOf(shop.build?.dockerfile ?? '');

  test('has one server and one database, in a project other than that of production', () => {
    expect(Object.keys(demo.services)).toEqual(['shop', 'postgres']);
    expect(demo.name).not.toBe(production.name);
    expect(shop.depends_on).toHaveProperty('postgres');
  });

  test('needs no setting, and keeps no data', () => {
    expect(textOf(DEMO)).not.toContain('${');
    expect(Object.values(demo.services).filter(({ env_file }) => env_file !== undefined)).toEqual([]);
    expect(demo.volumes).toBeUndefined();
    expect(postgres.tmpfs).toEqual(['/var/lib/postgresql']);
  });

  test('sets only variables of .env.example, and the database is the one that it starts', () => {
    const known = found(textOf('.env.example'), /^([A-Z_]+)=/gm);
    expect(Object.keys(shop.environment).filter((name) => !known.includes(name))).toEqual([]);
    const { username, password, hostname, port, pathname } = new URL(shop.environment.DATABASE_URL ?? '');
    expect(demo.services).toHaveProperty(hostname);
    expect({ POSTGRES_USER: username, POSTGRES_PASSWORD: password, POSTGRES_DB: pathname.slice(1) }).toEqual(
      postgres.environment,
    );
    expect(port).toBe('5432');
  });

  test('runs npm start, with a file that forwards its ports', () => {
    const [node, require, file, ...rest] = shop.command ?? [];
    expect([node, ...rest].join(' ')).toBe(scripts.start);
    expect({ require, isThere: existsSync(join(ROOT, file ?? '')) }).toEqual({ require: '--require', isThere: true });
  });

  test('listens on 127.0.0.1 only, at the ports that the forwarded programs have', () => {
    const forwarded = [...textOf('deploy/demo/ports.cjs').matchAll(/\b(\d{4}): (\d{4})\b/g)];
    // The server's own port, and the one after it, where local/start.ts puts the sandbox.
    const [, own = ''] = /^PORT=(\d+)$/m.exec(textOf('.env.example')) ?? [];
    expect(forwarded.map(([, , to]) => Number(to))).toEqual([Number(own), Number(own) + 1]);
    // Server and sandbox name these ports in their addresses, so the browser must find them there.
    expect(shop.ports).toEqual(forwarded.map(([, from, to]) => `127.0.0.1:${String(to)}:${String(from)}`));
    expect(postgres.ports).toBeUndefined();
  });

  test('uses the images of production', () => {
    expect(postgres.image).toBe(production.services.postgres?.image);
    const images = (text: string) => new Set(found(text, /^FROM (\S+)/gm));
    expect(images(dockerfile)).toEqual(images(textOf('deploy/Dockerfile')));
  });

  test('copies into its image only what Docker may read, and everything that the command needs', () => {
    const copied = found(dockerfile, /^COPY (.+) \S+$/gm).flatMap((sources) => sources.split(' '));
    const readable = found(textOf(`${String(shop.build?.dockerfile)}.dockerignore`), /^!(\S+)$/gm);
    expect(copied.sort()).toEqual(readable.sort());
    expect(copied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(copied).toEqual(expect.arrayContaining(['deploy/demo/ports.cjs', 'local', 'package.json', 'src']));
    expect(dockerfile).toMatch(/^USER 1000:1000$/m);
  });
});

test('deploy/ has at most 400 lines', () => {
  const lines = DEPLOYED.map((path) => textOf(path).split('\n').length - 1);
  expect(lines.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(400);
});

test.each(Object.entries(SCREENSHOTS))(
  'the README shows the screenshot %s, in the size of the script',
  (name, size) => {
    expect(textOf('README.md')).toContain(`(docs/images/${name})`);
    const bytes = readFileSync(join(ROOT, 'docs/images', name));
    // The header of a PNG file has the width and the height.
    expect({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }).toEqual(size);
  },
);
