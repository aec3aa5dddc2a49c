import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A fenced block: the words behind its language are for the tests and are not shown on GitHub. */
export type Block = { page: string; line: number; language: string; info: string; code: string };

/** A page of the documentation. `prose` is its text without fenced blocks, line for line. */
export type Page = { path: string; text: string; prose: string; blocks: Block[] };

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

export function pageOf(path: string, text: string): Page {
  const blocks: Block[] = [];
  let open: { block: Block; fence: string; indent: number } | null = null;
  const prose = text.split('\n').map((line, at) => {
    if (open !== null) {
      if (line.trim() === open.fence) {
        blocks.push(open.block);
        open = null;
      } else open.block.code += `${line.slice(Math.min(open.indent, line.search(/\S|$/)))}\n`;
      return '';
    }
    const [, indent = '', fence, language = '', info = ''] = /^( *)(`{3,})(\S*) *(.*)$/.exec(line) ?? [];
    if (fence === undefined) return line;
    const block = { page: path, line: at + 1, language, info: info.trim(), code: '' };
    open = { block, fence, indent: indent.length };
    return '';
  });
  return { path, text, prose: prose.join('\n'), blocks };
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

/** The file that a block is the text of, as `file=src/…` says; null for a block that is only read. */
export function fileOf({ info }: Block): string | null {
  return /(?:^| )file=(\S+)/.exec(info)?.[1] ?? null;
}
