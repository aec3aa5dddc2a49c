import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyDiff, fileOf, pageOf, type Block } from './blocks.ts';

/** A part that a shop may delete, as `parts.md` says how. */
export type Part = {
  name: string;
  /** What of the tests goes with it. */
  tests: RegExp[];
  steps: Step[];
};

type Step = { also: string | null; removed: string[]; keys: string[]; diff: Block | null };

const PAGE = 'tools/smaller/parts.md';

export function readParts(root: string): Part[] {
  const [, ...sections] = readFileSync(join(root, PAGE), 'utf8').split(/^## /m);
  return sections.map((text) => {
    const { blocks } = pageOf(PAGE, text);
    const [name = ''] = text.split('\n');
    const tests = blocks.filter(({ language }) => language === 'tests').flatMap(({ code }) => linesOf(code));
    return {
      name,
      tests: tests.map((line) => new RegExp(line, 'm')),
      steps: blocks.filter(({ language }) => language !== 'tests').map(stepOf),
    };
  });
}

function stepOf(block: Block): Step {
  const isDiff = block.language === 'diff';
  const words = (command: string): string[] =>
    isDiff
      ? []
      : linesOf(block.code)
          .filter((line) => line.startsWith(`${command} `))
          .flatMap((line) => line.slice(command.length + 1).split(' '));
  return {
    also: /\balso=(\S+)/.exec(block.info)?.[1] ?? null,
    removed: words('rm -rf'),
    keys: words('npm pkg delete'),
    diff: isDiff ? block : null,
  };
}

function linesOf(code: string): string[] {
  return code.split('\n').filter((line) => line !== '');
}

export function isGone(root: string, { steps }: Part): boolean {
  const own = steps.filter(({ also }) => also === null).flatMap(({ removed }) => removed);
  return !own.some((path) => existsSync(join(root, path)));
}

/**
 * Deletes parts and changes the files that speak of them.
 * @returns the files that were changed and are still there
 */
export function deleteParts(root: string, all: readonly Part[], deleted: readonly Part[]): string[] {
  const goneBefore = all.filter((part) => isGone(root, part));
  const after = new Set([...goneBefore, ...deleted].map(({ name }) => name));
  const isDeleted = new Set(deleted.map(({ name }) => name));
  const stepsNow = (isPlain: boolean): Step[] =>
    all.flatMap(({ name, steps }) =>
      steps.filter(({ also }) => {
        if (isPlain || also === null) return isPlain && also === null && isDeleted.has(name);
        return after.has(name) && after.has(also) && (isDeleted.has(name) || isDeleted.has(also));
      }),
    );
  // What is done for two parts changes what the two have left.
  const steps = [...stepsNow(true), ...stepsNow(false)];
  const changed = new Set<string>();
  for (const { diff, removed, keys } of steps) {
    const file = diff && fileOf(diff);
    if (diff && file) {
      writeFileSync(join(root, file), applyDiff(readFileSync(join(root, file), 'utf8'), diff));
      changed.add(file);
    }
    for (const path of removed) rmSync(join(root, path), { recursive: true, force: true });
    if (keys.length > 0) deleteKeys(join(root, 'package.json'), keys);
  }
  return [...changed].filter((file) => existsSync(join(root, file)));
}

function deleteKeys(path: string, keys: readonly string[]): void {
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Record<string, Record<string, unknown>>;
  for (const key of keys) {
    const [group = '', ...name] = key.split('.');
    const entries = Object.entries(manifest[group] ?? {});
    manifest[group] = Object.fromEntries(entries.filter(([entry]) => entry !== name.join('.')));
  }
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
}
