import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { z } from 'zod';
import { SCHEMAS } from '../../src/api-docs/openapi-schemas.ts';
import { pageOf, type Block, type Page } from '../../tools/smaller/blocks.ts';
import { anchorsOf, ROOT } from './markdown.ts';

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')));
const VARIABLES = new Set(
  [...readFileSync(`${ROOT}/.env.example`, 'utf8').matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name),
);
/** What npm itself brings. */
const OF_NPM = new Set(['ci', 'run', 'test', 'start', 'install', 'pkg']);
/** Paths that a page may name although nobody has them yet: what a reader makes while following it. */
const madeIn = (page: Page): Set<string> =>
  new Set(page.blocks.flatMap(({ info }) => /file=(\S+)/.exec(info)?.[1] ?? []));

/** One line for each thing that a page says and that is not so. */
export function faultsOf(page: Page): string[] {
  return [
    ...unknownCommands(page),
    ...deadLinks(page),
    ...missingPaths(page),
    ...unknownVariables(page),
    ...page.blocks.flatMap((block) => [...undecidedShell(block), ...wrongJson(block)]),
  ].map((fault) => `${page.path}: ${fault}`);
}

/** The commands that a reader adds to package.json while following the page. */
const addedIn = ({ blocks }: Page): string[] =>
  blocks
    .filter(({ info }) => info.includes('file=package.json'))
    .flatMap(({ code }) => [...code.matchAll(/^\+ *"([\w:-]+)": "node /gm)].map(([, name = '']) => name));

function unknownCommands(page: Page): string[] {
  const { text } = page;
  const added = addedIn(page);
  const run = [...text.matchAll(/\bnpm run (?:--?[a-z]+ )*([a-z][\w:-]*)/g)].map(([, name = '']) => name);
  const short = [...text.matchAll(/\bnpm (?!run\b)([a-z][\w:-]*)(?=[`\s)|;&]|$)/gm)]
    .map(([, name = '']) => name)
    // In a sentence npm is a word like any other; as a command it stands in code.
    .filter(
      (name) => text.includes(`\`npm ${name}`) || new RegExp(`^.*npm ${name}\\b.*$`, 'm').test(codeOf(text)),
    );
  return [
    ...run
      .filter((name) => !Object.hasOwn(scripts, name) && !added.includes(name))
      .map((name) => `there is no "npm run ${name}"`),
    ...short
      .filter((name) => !OF_NPM.has(name) && !Object.hasOwn(scripts, name))
      .map((name) => `there is no "npm ${name}"`),
  ];
}

function codeOf(text: string): string {
  return pageOf('', text)
    .blocks.map(({ code }) => code)
    .join('\n');
}

function deadLinks(page: Page): string[] {
  const targets = [...page.prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets.flatMap((target) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path = '', anchor] = target.split('#');
    const file = posix.normalize(posix.join(posix.dirname(page.path), path));
    if (path !== '' && !existsSync(`${ROOT}/${file}`)) return [`"${target}" leads nowhere`];
    if (anchor === undefined) return [];
    const other = path === '' ? page : pageOf(file, readFileSync(`${ROOT}/${file}`, 'utf8'));
    return anchorsOf(other).has(anchor) ? [] : [`"${target}" names a heading that is not there`];
  });
}

function missingPaths(page: Page): string[] {
  const made = madeIn(page);
  // What a link leads to is looked for by deadLinks, from where the page stands.
  const text = page.text.replace(/\]\([^)]*\)/g, ']');
  return [...text.matchAll(/(?<![\w./:-])((?:src|local|tools|test|docs|prisma)\/[\w./-]*\w)/g)]
    .map(([, path = '']) => path)
    .filter((path) => !made.has(path) && !existsSync(`${ROOT}/${path}`))
    .map((path) => `there is no ${path}`);
}

/** A name in capitals is a variable of ours, or a constant of a source that the page links. */
function unknownVariables({ path, prose }: Page): string[] {
  const linked = [...prose.matchAll(/\]\(([^)\s#:]+\.ts)\)/g)]
    .map(([, target = '']) => `${ROOT}/${posix.join(posix.dirname(path), target)}`)
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'utf8'));
  const isConstant = (name: string): boolean => linked.some((source) => source.includes(`const ${name} =`));
  return [...prose.matchAll(/`([A-Z]{2,}(?:_[A-Z]+)+)(?:=[^`]*)?`/g)]
    .map(([, name = '']) => name)
    .filter((name) => !VARIABLES.has(name) && !NOT_OURS.has(name) && !isConstant(name))
    .map((name) => `${name} is no variable of .env.example, nor a constant of a linked source`);
}

/** Words in capitals that are no variables of ours. */
const NOT_OURS = new Set(['SKIP_LOCKED']);

/** Every shell block is played by `walk.test.ts`, or says why it is not. */
function undecidedShell({ language, info, line }: Block): string[] {
  if (!['sh', 'bash', 'shell', 'console'].includes(language)) return [];
  if (/^(run|start|eventually)\b/.test(info) || /^not run: \S+/.test(info)) return [];
  return [
    `line ${line}: say behind \`\`\`sh what the test does: "run", "start", "eventually", or "not run: why"`,
  ];
}

function wrongJson({ language, info, line, code }: Block): string[] {
  if (language !== 'json') return [];
  let value: unknown;
  try {
    value = JSON.parse(code);
  } catch {
    return [`line ${line}: is not JSON`];
  }
  const [, name, list] = /(?:^| )schema=(\w+)(\[\])?/.exec(info) ?? [];
  if (name === undefined) return [];
  if (!Object.hasOwn(SCHEMAS, name)) return [`line ${line}: there is no schema ${name}`];
  const schema: z.ZodType = SCHEMAS[name as keyof typeof SCHEMAS];
  const read = (list === undefined ? schema : z.array(schema)).safeParse(value);
  return read.success ? [] : [`line ${line}: is no ${name}: ${z.prettifyError(read.error)}`];
}
