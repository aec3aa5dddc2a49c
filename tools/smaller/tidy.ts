import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import ts from 'typescript';

/** Deletes imports and declarations that nothing uses any more, and formats: the work of an editor. */
export async function tidy(root: string, paths: readonly string[]): Promise<void> {
  const files = new Map(paths.map((path) => [join(root, path), readFileSync(join(root, path), 'utf8')]));
  const sources = [...files.keys()].filter((path) => /\.tsx?$/.test(path));
  for (let round = 0; round < MOST_ROUNDS && deleteUnused(sources, files); round += 1);
  for (const [path, text] of files) {
    const options = { ...(await resolveConfig(path)), filepath: path };
    // Some have no format of their own: `.ci/run`.
    writeFileSync(path, await format(text, options).catch(() => text));
  }
}

/** A declaration falls when the last one that used it has. */
const MOST_ROUNDS = 12;
const FIX = 'unusedIdentifier_delete';
const FIX_IMPORT = 'unusedIdentifier_deleteImports';

function deleteUnused(paths: readonly string[], files: Map<string, string>): boolean {
  const service = ts.createLanguageService({
    getCompilationSettings: () => ({
      noUnusedLocals: true,
      noResolve: true,
      allowImportingTsExtensions: true,
    }),
    getScriptFileNames: () => [...paths],
    getScriptVersion: () => '0',
    getScriptSnapshot: (path) => {
      const text = files.get(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => process.cwd(),
    getDefaultLibFileName: () => '',
    fileExists: (path) => files.has(path),
    readFile: (path) => files.get(path),
  });
  let isChanged = false;
  for (const fileName of paths)
    for (const fixId of [FIX_IMPORT, FIX]) {
      const { changes } = service.getCombinedCodeFix({ type: 'file', fileName }, fixId, {}, {});
      for (const { textChanges } of changes) {
        const text = files.get(fileName) ?? '';
        files.set(fileName, [...textChanges].reverse().reduce(replaced, text));
        isChanged ||= textChanges.length > 0;
      }
      if (changes.length > 0) break;
    }
  service.dispose();
  return isChanged;
}

function replaced(text: string, { span: { start, length }, newText }: ts.TextChange): string {
  return `${text.slice(0, start)}${newText}${text.slice(start + length)}`;
}
