import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { ServiceAdapter } from '../../src/gateway/adapter.ts';
import {
  differencesIn,
  EXAMPLES_FILE,
  loadExamples,
  openReader,
  readOne,
  SECTIONS,
  type Asked,
  type Reader,
} from '../examples.ts';

/** An answer that the probe saw, without the key. `path`: of a page of the list. */
export type Seen = {
  section: 'initialize' | 'verify' | 'history';
  status: number;
  answer: unknown;
  path: string;
  asked: Asked;
};
type Example = Record<string, unknown> & { name: string };
type File = Record<string, Example[]>;

/** How the written examples are checked, and what shows in which others the adapter differs. */
const CHECK = 'npm test -- test/rules/adapter.test.ts';

/**
 * Writes answers into src/custom/service.examples.json, each with what the adapter reads from it,
 * and without what looks like a person's. Of several answers of one name the last one stays.
 * @returns lines for people, and whether the file then passes its test
 */
export async function record(
  adapter: ServiceAdapter,
  seen: readonly Seen[],
): Promise<{ lines: string[]; isRead: boolean }> {
  const file = JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8')) as File;
  const reader = await openReader(adapter);
  const written = new Set<Example>();
  const lines = new Set<string>();
  try {
    for (const one of seen) {
      const { section } = one;
      const example = await exampleOf(one, reader);
      const [kept, removed] = await withoutEarlier(section, file[section] ?? [], example, { reader, written });
      file[section] = [...kept, example];
      written.add(example);
      lines.add(`  ${section}: "${example.name}"`);
      for (const name of removed) lines.add(`  ${section}: "${name}" of an earlier recording is removed`);
    }
    write(file);
    const differing = await countDiffering(reader);
    const notice = 'Read them before you commit them: a free text may still name a person.';
    return { lines: [...lines, notice, verdict(differing)], isRead: differing === 0 };
  } finally {
    await reader.close();
  }
}

type Recording = { reader: Reader; written: ReadonlySet<Example> };

/**
 * Separates what an earlier recording wrote about the same answer: it has the same name, or the
 * adapter now reads the same status word from it.
 * @returns the examples that stay, and the names of those that go and are not replaced under their
 * own name
 */
async function withoutEarlier(
  section: Seen['section'],
  examples: Example[],
  example: Example,
  { reader, written }: Recording,
): Promise<[kept: Example[], removed: string[]]> {
  const kept: Example[] = [];
  const removed: string[] = [];
  for (const other of examples) {
    const asked = (other.asked ?? example.asked) as Asked;
    const isSame = async () =>
      wordIn(await readOne(section, { status: 200, ...other }, asked, reader)) === wordIn(example.reads);
    if (other.recorded === true && other.name === example.name) continue;
    if (other.recorded === true && !written.has(other) && (await isSame())) removed.push(other.name);
    else kept.push(other);
  }
  return [kept, removed];
}

/** The status word of what was read, or what stands in its place: "not_found", "unreadable". */
function wordIn(reads: unknown): unknown {
  return typeof reads === 'object' && reads !== null && 'word' in reads ? reads.word : JSON.stringify(reads);
}

/** Of how many examples in the file the adapter reads something else than they say. */
async function countDiffering(reader: Reader): Promise<number> {
  const examples = loadExamples();
  let count = 0;
  for (const section of SECTIONS) {
    const lines = await differencesIn(section, examples, reader);
    count += new Set(lines.map((line) => line.slice(0, line.indexOf(']')))).size;
  }
  return count;
}

function verdict(differing: number): string {
  if (differing === 0) return `All examples pass: ${CHECK}`;
  return differing === 1
    ? `1 other example differs: ${CHECK} shows it`
    : `${differing} other examples differ: ${CHECK} shows them`;
}

async function exampleOf(seen: Seen, reader: Reader): Promise<Example> {
  const { section, status, path, asked } = seen;
  const part = section === 'history' ? 'page' : 'answer';
  const rest = section === 'history' ? { path: withoutAddresses(path) } : { status };
  const read = (answer: unknown) => readOne(section, { ...rest, [part]: answer }, asked, reader);
  const ours = section === 'history' ? onlyOurs(seen) : seen.answer;
  const answer = await withoutPersons(withoutAddresses(ours), read);
  const reads = await read(answer);
  return { name: nameOf(section, reads), recorded: true, asked, ...rest, [part]: answer, reads };
}

function nameOf(section: Seen['section'], reads: unknown): string {
  const outcome = typeof reads === 'object' && reads !== null && 'outcome' in reads ? reads.outcome : reads;
  if (section === 'verify') return `recorded: ${String(outcome)}`;
  return section === 'history' ? 'recorded: a page of the list' : 'recorded: initialize';
}

/**
 * A page of the list with our own row alone: the other rows are other people's payments. Lists at
 * any depth lose what does not name our reference, because an adapter may build its rows from any
 * of them.
 */
function onlyOurs({ answer, asked }: Seen): unknown {
  const isOurs = (one: unknown) => JSON.stringify(one).toLowerCase().includes(asked.reference.toLowerCase());
  const replaced = (tree: unknown): unknown => {
    if (Array.isArray(tree)) return tree.filter(isOurs).map(replaced);
    if (typeof tree !== 'object' || tree === null) return tree;
    return Object.fromEntries(Object.entries(tree).map(([name, one]) => [name, replaced(one)]));
  };
  return replaced(answer);
}

/** An e-mail address, also one that is written for a URL. */
const ADDRESS = /[^\s@"'<>(),;:/?&=]+(?:@|%40)[^\s@"'<>(),;:/?&=]+/gi;

/** Every e-mail address in the texts of an answer becomes the same one. */
function withoutAddresses<Tree>(tree: Tree): Tree {
  return JSON.parse(JSON.stringify(tree).replace(ADDRESS, 'payer@example.com')) as Tree;
}

/** Names of members that may say who paid, by what, or from where. */
const PERSON = new RegExp(
  [
    'mail|name|phone|mobile|msisdn|customer|payer|buyer|sender|holder|user|card|address|account|birth|metadata',
    'street|city|postal|zip|(^|[_-])(ip|pan|bin|bvn|nin|iban|bic|dob|last_?4)([_-]|$)|bvn|iban|last4|ip_?addr|Ip$|IP$',
  ].join('|'),
  'i',
);

/** Leaves out such members, at any depth, as far as the answer is then still read alike. */
async function withoutPersons(answer: unknown, read: (answer: unknown) => Promise<unknown>): Promise<unknown> {
  const before = JSON.stringify(await read(answer));
  let kept = answer;
  for (const path of pathsToPersons(answer)) {
    const shorter = without(kept, path);
    if (JSON.stringify(await read(shorter)) === before) kept = shorter;
  }
  return kept;
}

/** The outer ones first: with them go those inside. */
function pathsToPersons(tree: unknown): string[][] {
  if (typeof tree !== 'object' || tree === null) return [];
  return Object.entries(tree).flatMap(([name, value]) => [
    ...(!Array.isArray(tree) && PERSON.test(name) ? [[name]] : []),
    ...pathsToPersons(value).map((path) => [name, ...path]),
  ]);
}

function without(tree: unknown, [name = '', ...rest]: string[]): unknown {
  if (typeof tree !== 'object' || tree === null) return tree;
  if (Array.isArray(tree))
    return tree.map((one: unknown, index) => (String(index) === name ? without(one, rest) : one));
  const entries = Object.entries(tree).filter(([key]) => rest.length > 0 || key !== name);
  return Object.fromEntries(entries.map(([key, one]) => [key, key === name ? without(one, rest) : one]));
}

/** In the form that `npm run check` wants. */
function write(file: File): void {
  // Prettier keeps a line break after the first brace: each example gets lines of its own.
  writeFileSync(EXAMPLES_FILE, JSON.stringify(file).replaceAll('{"name":', '{\n"name":'));
  const prettier = createRequire(import.meta.url).resolve('prettier/bin/prettier.cjs');
  spawnSync(process.execPath, [prettier, '--write', fileURLToPath(EXAMPLES_FILE)], { stdio: 'ignore' });
}
