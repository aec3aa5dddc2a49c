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

/** An answer that the probe received, without the key. `path` is that of a page of the history. */
export type Seen = {
  section: 'initialize' | 'verify' | 'history';
  status: number;
  answer: unknown;
  path: string;
  asked: Asked;
};
type Example = Record<string, unknown> & { name: string };
type File = Record<string, Example[]>;

/**
 * The command that checks the written examples, and shows for which other examples the adapter
 * differs.
 */
const CHECK = 'npm test -- test/rules/adapter.test.ts';

/**
 * Writes answers to src/custom/service.examples.json, each with what the adapter reads from it, and
 * without apparent personal data. Of several answers with the same name, the last one is kept.
 * @returns lines for people, and whether the file passes its test afterwards
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
    const notice = 'Read them before you commit them, because a free text may still name a person.';
    return { lines: [...lines, notice, verdict(differing)], isRead: differing === 0 };
  } finally {
    await reader.close();
  }
}

type Recording = { reader: Reader; written: ReadonlySet<Example> };

/**
 * Finds the examples that an earlier recording wrote about the same answer: they have the same
 * name, or the adapter now reads the same status word from them.
 * @returns the examples to keep, and the names of those that are removed without a replacement of
 * the same name
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

/** The status word of what was read, or its substitute: "not_found", "unreadable". */
function wordIn(reads: unknown): unknown {
  return typeof reads === 'object' && reads !== null && 'word' in reads ? reads.word : JSON.stringify(reads);
}

/** The number of examples in the file for which the adapter reads something else. */
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
 * A page of the history with only our row, because the other rows are payments of other people.
 * Lists at any depth lose the entries without our reference, because an adapter may build its rows
 * from any of them.
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

/** An e-mail address, in plain text or encoded for a URL. */
const ADDRESS = /[^\s@"'<>(),;:/?&=]+(?:@|%40)[^\s@"'<>(),;:/?&=]+/gi;

/** Replaces every e-mail address in an answer with the same one. */
function withoutAddresses<Tree>(tree: Tree): Tree {
  return JSON.parse(JSON.stringify(tree).replace(ADDRESS, 'payer@example.com')) as Tree;
}

/** Names of members that may tell who paid, by what means, or from where. */
const PERSON = new RegExp(
  [
    'mail|name|phone|mobile|msisdn|customer|payer|buyer|sender|holder|user|card|address|account|birth|metadata',
    'street|city|postal|zip|(^|[_-])(ip|pan|bin|bvn|nin|iban|bic|dob|last_?4)([_-]|$)|bvn|iban|last4|ip_?addr|Ip$|IP$',
  ].join('|'),
  'i',
);

/** Removes these members at any depth, unless the answer would then be read differently. */
async function withoutPersons(answer: unknown, read: (answer: unknown) => Promise<unknown>): Promise<unknown> {
  const before = JSON.stringify(await read(answer));
  let kept = answer;
  for (const path of pathsToPersons(answer)) {
    const shorter = without(kept, path);
    if (JSON.stringify(await read(shorter)) === before) kept = shorter;
  }
  return kept;
}

/** Outer members first, because removing them removes the inner ones. */
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

/** In the format that `npm run check` requires. */
function write(file: File): void {
  // Prettier keeps a line break after the first brace, so each example gets its own lines.
  writeFileSync(EXAMPLES_FILE, JSON.stringify(file).replaceAll('{"name":', '{\n"name":'));
  const prettier = createRequire(import.meta.url).resolve('prettier/bin/prettier.cjs');
  spawnSync(process.execPath, [prettier, '--write', fileURLToPath(EXAMPLES_FILE)], { stdio: 'ignore' });
}
