import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DOCS = fileURLToPath(new URL('../../docs', import.meta.url));

/**
 * The blocks of one language under a heading of a page of docs, in order: what the page shows is what is tried.
 * @throws when there is none
 */
export function blocksOf(page: string, heading: string, language = 'sh', docs = DOCS): string[] {
  const sections = readFileSync(join(docs, page), 'utf8').split(/^## /m);
  const section = sections.find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const blocks = section.matchAll(new RegExp(`^\`\`\`${language}\\b[^\\n]*\\n([^]*?)^\`\`\`$`, 'gm'));
  const codes = [...blocks].map(([, code = '']) => code);
  if (codes.length === 0) throw new Error(`docs/${page} has no ${language} under "${heading}"`);
  return codes;
}
