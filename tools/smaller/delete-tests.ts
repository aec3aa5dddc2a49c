import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import ts from 'typescript';

type File = {
  path: string;
  tree: ts.SourceFile;
  /** Names in the file that belong to what is gone: declared here, or imported. */
  gone: Set<string>;
  /** Whether an import's path leads to a file that is not there. */
  isLost: (specifier: string) => boolean;
};

/**
 * Deletes the tests of what is gone: each that matches a pattern, imports what is not there any more, or uses a
 * declaration that does, in whichever file of `test` that stands.
 * @returns the changed files that are still there, and the names of the tests
 */
export function deleteTests(
  root: string,
  patterns: readonly RegExp[],
): { changed: string[]; tests: string[] } {
  const paths = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .map((path) => `test/${path.replaceAll('\\', '/')}`)
    .filter((path) => /\.tsx?$/.test(path));
  const files = new Map(paths.map((path) => [path, parse(root, path)]));
  for (let isChanged = true; isChanged;)
    isChanged = [...files.values()].map((file) => spread(file, files, patterns)).includes(true);
  const changed: string[] = [];
  const tests: string[] = [];
  for (const file of files.values()) {
    if (!/\.test\.tsx?$/.test(file.path)) continue;
    const cut = testsOf(file.tree.statements, file, patterns);
    if (cut.ranges.length === 0) continue;
    tests.push(...cut.ranges.map((node) => `${file.path}: ${nameOf(node)}`));
    const path = join(root, file.path);
    if (cut.left === 0) rmSync(path);
    else {
      writeFileSync(path, without(file.tree, cut.ranges));
      changed.push(file.path);
    }
  }
  return { changed, tests };
}

function parse(root: string, path: string): File {
  const text = readFileSync(join(root, path), 'utf8');
  const isLost = (specifier: string): boolean =>
    /^\.\.?\/.*\.tsx?$/.test(specifier) && !existsSync(join(root, dirname(path), specifier));
  return {
    path,
    tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true),
    gone: new Set(),
    isLost,
  };
}

/** Marks the names of a file whose import or declaration leads to what is gone. @returns whether one is new */
function spread(file: File, files: ReadonlyMap<string, File>, patterns: readonly RegExp[]): boolean {
  const before = file.gone.size;
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      const target = posix.join(posix.dirname(file.path), node.moduleSpecifier.text);
      const isLocal = node.moduleSpecifier.text.startsWith('.');
      const bindings = node.importClause?.namedBindings;
      if (isLocal && bindings && ts.isNamedImports(bindings))
        for (const { name, propertyName } of bindings.elements)
          if (
            file.isLost(node.moduleSpecifier.text) ||
            files.get(target)?.gone.has((propertyName ?? name).text)
          )
            file.gone.add(name.text);
      return;
    }
    for (const name of declaredBy(node)) if (isOfGone(node, file, patterns)) file.gone.add(name);
    if (ts.isSourceFile(node) || isDescribe(node)) ts.forEachChild(bodyOf(node), visit);
  };
  visit(file.tree);
  return file.gone.size > before;
}

function declaredBy(node: ts.Node): string[] {
  if (ts.isVariableStatement(node))
    return node.declarationList.declarations.flatMap(({ name }) =>
      ts.isIdentifier(name) ? [name.text] : [],
    );
  return (ts.isFunctionDeclaration(node) || ts.isTypeAliasDeclaration(node)) && node.name
    ? [node.name.text]
    : [];
}

function isOfGone(node: ts.Node, { tree, gone, isLost }: File, patterns: readonly RegExp[]): boolean {
  const text = node.getText(tree);
  if (patterns.some((pattern) => pattern.test(text))) return true;
  let isFound = false;
  const visit = (child: ts.Node): void => {
    if (ts.isIdentifier(child) && gone.has(child.text)) isFound = !isMemberName(child);
    if (ts.isStringLiteral(child) && isLost(child.text)) isFound = true;
    if (!isFound) ts.forEachChild(child, visit);
  };
  visit(node);
  return isFound;
}

/** A name that only looks like a variable's: `x.name`, `{ name: 1 }`. */
function isMemberName(node: ts.Identifier): boolean {
  const { parent } = node;
  return (
    (ts.isPropertyAccessExpression(parent) && parent.name === node) ||
    (ts.isPropertyAssignment(parent) && parent.name === node)
  );
}

type Cut = { ranges: ts.Node[]; left: number };

/** The statements to cut out of a file or a `describe`, and how many tests it then has. */
function testsOf(statements: readonly ts.Statement[], file: File, patterns: readonly RegExp[]): Cut {
  const isCut = (node: ts.Node): boolean => isOfGone(node, file, patterns);
  const called = statements.filter(ts.isExpressionStatement);
  const whole = called.some((node) => /^(before|after)(All|Each)\b/.test(node.getText()) && isCut(node));
  const cut: Cut = { ranges: [], left: 0 };
  for (const node of called) {
    const text = node.getText();
    if (isDescribe(node)) {
      const inner = testsOf(bodyOf(node).statements, file, patterns);
      const rest = node.getText().slice(0, bodyOf(node).pos - node.getStart());
      if (whole || inner.left === 0 || patterns.some((pattern) => pattern.test(rest))) cut.ranges.push(node);
      else {
        cut.ranges.push(...inner.ranges);
        cut.left += inner.left;
      }
    } else if (/^test\w*\b/.test(text)) {
      if (whole || isCut(node)) cut.ranges.push(node);
      else cut.left += 1;
    }
  }
  return cut;
}

function isDescribe(node: ts.Node): node is ts.ExpressionStatement {
  return ts.isExpressionStatement(node) && /^describe\b/.test(node.getText());
}

/** The statements within a `describe`, or the file itself. */
function bodyOf(node: ts.Node): ts.SourceFile | ts.Block {
  if (ts.isSourceFile(node)) return node;
  const call = ts.isExpressionStatement(node) ? node.expression : node;
  const last = ts.isCallExpression(call) ? call.arguments.at(-1) : undefined;
  if (last && (ts.isArrowFunction(last) || ts.isFunctionExpression(last)) && ts.isBlock(last.body))
    return last.body;
  return ts.factory.createBlock([]);
}

function nameOf(node: ts.Node): string {
  return /['"`]([^'"`\n]*)/.exec(node.getText())?.[1] ?? '';
}

function without(tree: ts.SourceFile, nodes: readonly ts.Node[]): string {
  return [...nodes]
    .sort((a, b) => b.pos - a.pos)
    .reduce((text, { pos, end }) => `${text.slice(0, pos)}${text.slice(end)}`, tree.text);
}
