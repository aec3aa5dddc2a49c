/** A fenced block: the words behind its language are for the tests and are not shown on GitHub. */
export type Block = { page: string; line: number; language: string; info: string; code: string };

/** A page of the documentation. `prose` is its text without fenced blocks, line for line. */
export type Page = { path: string; text: string; prose: string; blocks: Block[] };

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

/** The file that a block is the text of, as `file=src/…` says; null for a block that is only read. */
export function fileOf({ info }: Block): string | null {
  return /(?:^| )file=(\S+)/.exec(info)?.[1] ?? null;
}

/** @returns the text after a `diff` block: each group of removed lines must stand there exactly once */
export function applyDiff(text: string, { code, page, line }: Block): string {
  const groups = [...code.matchAll(/((?:^-.*\n)+)((?:^\+.*\n)*)/gm)];
  const plain = (lines: string): string => lines.replace(/^[-+]/gm, '');
  if (groups.length === 0) throw new Error(`${page} line ${line}: the diff removes nothing`);
  return groups.reduce((changed, [, removed = '', added = '']) => {
    const parts = changed.split(plain(removed));
    if (parts.length !== 2)
      throw new Error(
        `${page} line ${line}: these lines stand ${parts.length - 1} times in the file:\n${removed}`,
      );
    return parts.join(plain(added));
  }, text);
}
