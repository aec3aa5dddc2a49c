import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../src/platform/logger.ts';
import { applyMigrations } from '../../src/platform/database/migrations.ts';
import { startChild } from './child.ts';
import { THIS_TREE } from './tree.ts';
import type { World } from './world.ts';

/* Several versions on one database, as in every deploy without a pause. */

const MIGRATES_IN_TRIES = 3;

/** A command of ours beside the running processes. @returns how it ended */
export async function command(
  world: World,
  ...args: string[]
): Promise<{ code: number | null; said: string }> {
  const child = startChild('src/commands/cli.ts', { cwd: world.folder, env: world.env, args });
  const code = await child.ended;
  return { code, said: child.said() };
}

/** From the version before to these sources: migrated first, then one process after the other, as docs/deployment.md says. */
export async function upgrade(world: World): Promise<void> {
  const behind = Object.values(world.nodes).filter((node) => node.tree() !== THIS_TREE);
  if (behind.length === 0) throw new Error('every process runs these sources already');
  for (let tries = 1; ; tries += 1) {
    const { code, said } = await command(world, 'migrate');
    if (code === 0) break;
    if (tries === MIGRATES_IN_TRIES)
      throw new Error(`the migration did not come through: ${said.slice(-300)}`);
  }
  for (const node of behind) await node.deploy(THIS_TREE);
}

/** What a version to come may do while this one serves: add a column to a busy table, a table, and an index. */
const NEXT: Record<string, string> = {
  '29990101000000_next_column': `
    ALTER TABLE payments ADD COLUMN next_version_note text;
    ALTER TABLE orders ADD COLUMN next_version_note text;
    CREATE TABLE next_version (order_id text PRIMARY KEY REFERENCES orders (id));`,
  '29990101000001_next_index': `
    CREATE INDEX CONCURRENTLY next_version_created ON payments (created_at, next_version_note);`,
};

/** Applies them from a folder of their own: the sources never have them. */
export async function migrateToNext(url: string): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'integrator-chaos-next-'));
  try {
    cpSync(THIS_TREE.migrations, dir, { recursive: true });
    for (const [name, sql] of Object.entries(NEXT)) {
      mkdirSync(join(dir, name));
      writeFileSync(join(dir, name, 'migration.sql'), sql);
    }
    await applyMigrations({ url, dir, logger: createLogger('silent') });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
