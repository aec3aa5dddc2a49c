import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

const ROOT = new URL('../../', import.meta.url);
const GENERATED = 'src/platform/prisma/';
const IMPORT = /^(?:import|export)(?<type> type)?\b[^;'"]*?\bfrom '(?<from>[^']+)'|\bimport(?: |\()'(?<bare>[^']+)'/gm;

/**
 * One import: a path from the root, or the name of a package. A type import does not exist at run
 * time.
 */
export type Import = { target: string; isType: boolean };

export type Source = {
  /** From the root. */
  path: string;
  text: string;
  /** The text without comment lines. */
  code: string;
  imports: Import[];
};

/**
 * Every source file below the existing ones of these folders, except for Prisma's generated files.
 */
export function readSources(...folders: string[]): Source[] {
  return folders
    .filter((folder) => existsSync(new URL(folder, ROOT)))
    .flatMap((folder) =>
      readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
        .map((name) => posix.join(folder, name.replaceAll('\\', '/')))
        .filter((path) => /\.tsx?$/.test(path) && !path.startsWith(GENERATED))
        .sort()
        .map(readSource),
    );
}

function readSource(path: string): Source {
  const text = readFileSync(new URL(path, ROOT), 'utf8');
  const code = text.replace(/^\s*(\/\/|\/?\*).*$/gm, '');
  const imports = [...code.matchAll(IMPORT)].map(({ groups = {} }) => {
    const { type, from = groups.bare ?? '' } = groups;
    const target = from.startsWith('.') ? posix.join(posix.dirname(path), from) : from;
    return { target, isType: type !== undefined };
  });
  return { path, text, code, imports };
}

/** The paths and packages that load with this file, itself included. */
export function reachOf(path: string, sources: readonly Source[], seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  const source = sources.find((one) => one.path === path);
  for (const { target, isType } of source?.imports ?? []) if (!isType) reachOf(target, sources, seen);
  return seen;
}
