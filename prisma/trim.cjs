const { readdirSync, rmSync } = require('node:fs');
const { join } = require('node:path');

/*
 * Deletes from node_modules what nothing here ever loads, a third of it: Prisma's compilers of queries for other databases
 * and its Studio, the forms of `effect` and OpenTelemetry that are for other loaders, and what only debuggers read.
 */

const PACKAGES = join(__dirname, '../node_modules');
const NEVER_LOADED =
  /(^|\/)(@prisma\/client\/runtime|prisma\/build)\/query_compiler_(?!fast_bg\.postgresql\.)|^prisma\/build\/studio\.js$|^effect\/(src|dist\/(esm|dts))\/|^@opentelemetry\/[^/]+\/build\/(esm|esnext)\/|\.map$/;

for (const entry of readdirSync(PACKAGES, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name)
    .slice(PACKAGES.length + 1)
    .replaceAll('\\', '/');
  if (entry.isFile() && NEVER_LOADED.test(path)) rmSync(join(PACKAGES, path));
}
