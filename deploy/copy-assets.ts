import { cpSync, rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

// What the compiler leaves behind: styles, pictures, pages, and scripts that browsers run as they are.

const SOURCES = fileURLToPath(new URL('../src/', import.meta.url));

const { values } = parseArgs({
  options: { clean: { type: 'boolean', default: false }, to: { type: 'string', default: 'dist' } },
});
if (values.clean) {
  // A file that was renamed must not live on beside its successor.
  rmSync(resolve(values.to), { recursive: true, force: true });
} else {
  cpSync(SOURCES, resolve(values.to), {
    recursive: true,
    filter: (path) => statSync(path).isDirectory() || !/\.tsx?$|jsconfig\.json$|\.md$/.test(path),
  });
}
