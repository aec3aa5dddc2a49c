import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pageOf, type Page } from '../../tools/smaller/blocks.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const FOLDERS = ['docs', 'src', 'local', 'tools', 'test'];

/** Every page that a reader of the repository may open. */
export function readPages(): Page[] {
  const top = readdirSync(ROOT).filter((name) => name.endsWith('.md'));
  const deeper = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  );
  return [...top, ...deeper].sort().map((path) => pageOf(path, readFileSync(join(ROOT, path), 'utf8')));
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchorsOf({ prose }: Page): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of prose.matchAll(/^#{1,6} +(.+)$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
    const numbers = [slug, ...Array.from({ length: 20 }, (_each, at) => `${slug}-${at + 1}`)];
    anchors.add(numbers.find((name) => !anchors.has(name)) ?? slug);
  }
  return anchors;
}
