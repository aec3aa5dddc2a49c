import { cpSync, rmSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// What the compiler leaves behind: styles, pictures, pages, and scripts that browsers run as they are.

const SOURCES = fileURLToPath(new URL('../src/', import.meta.url));
const BUILT = fileURLToPath(new URL('../dist/', import.meta.url));

if (process.argv.includes('--clean')) {
  // A file that was renamed must not live on beside its successor.
  rmSync(BUILT, { recursive: true, force: true });
} else {
  cpSync(SOURCES, BUILT, {
    recursive: true,
    filter: (path) => statSync(path).isDirectory() || !/\.tsx?$|jsconfig\.json$/.test(path),
  });
}
