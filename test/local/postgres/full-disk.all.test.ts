import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { createLogger } from '../../../src/platform/logger.ts';
import { claimDataFolder, readDataFolderOwner } from '../../../local/postgres/data-folder.ts';
import { startEmbeddedPostgres } from '../../../local/postgres/embedded-postgres.ts';

// Only root can make a disk that is soon full; for an ordinary user a folder without leave to write is much the same.

const isRoot = process.getuid?.() === 0 && process.platform === 'linux';
const purpose = 'npm test';
const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

function tempFolder(): string {
  const dir = fs.mkdtempSync(join(tmpdir(), 'full-disk-'));
  cleanups.push(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

/** A folder on a disk of its own. */
function smallDisk(size: string): { dir: string; fill(): void; free(): void; freeze(): void } {
  const dir = tempFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=755`, 'tmpfs', dir]);
  cleanups.push(() => execFileSync('umount', ['--lazy', dir]));
  return {
    dir,
    fill: () => {
      const page = Buffer.alloc(4_096);
      const to = fs.openSync(join(dir, 'filler'), 'a');
      expect(() => {
        for (;;) if (fs.writeSync(to, page) < page.length) throw new Error('ENOSPC');
      }).toThrow('ENOSPC');
      fs.closeSync(to);
    },
    free: () => {
      fs.rmSync(join(dir, 'filler'));
    },
    freeze: () => execFileSync('mount', ['-o', 'remount,ro', dir]),
  };
}

(isRoot ? test.skip : test)('a folder without leave to write is given up', async () => {
  const dir = tempFolder();
  const lock = await claimDataFolder(dir, { purpose });
  fs.chmodSync(dir, 0o500);
  lock.release();
  fs.chmodSync(dir, 0o700);
  expect(readDataFolderOwner(dir)).toBeUndefined();
  (await claimDataFolder(dir, { purpose })).release();
});

(isRoot ? describe : describe.skip)('a disk that is full', () => {
  test('keeps nobody from giving the folder up, and the next one has it at once', async () => {
    const { dir, fill } = smallDisk('64k');
    const lock = await claimDataFolder(dir, { purpose });
    fill();
    lock.release();
    lock.release();
    expect(readDataFolderOwner(dir)).toBeUndefined();
    expect(fs.readdirSync(dir)).toEqual(['filler', 'owner-1.json']);
  });

  test('or takes no writes any more: giving up does not throw', async () => {
    const { dir, freeze } = smallDisk('64k');
    const lock = await claimDataFolder(dir, { purpose });
    freeze();
    lock.release();
    expect(readDataFolderOwner(dir)).toMatchObject({ pid: process.pid });
  });

  test('lets a database stop; with room again it starts, and has what was committed', async () => {
    const { dir, fill, free } = smallDisk('200m');
    const start = () =>
      startEmbeddedPostgres({ dataDir: join(dir, 'data'), logger: createLogger('silent'), purpose });
    const first = await start();
    await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS n');
    fill();
    await expect(
      query(first.url, 'CREATE TABLE lost AS SELECT repeat(n::text, 99) FROM generate_series(1, 99999) n'),
    ).rejects.toThrow(/No space left|could not|terminat/i);
    // What the statement had written is free again.
    fill();
    await first.stop();
    free();
    const second = await start();
    expect(await query(second.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
    await second.stop();
  }, 300_000);
});

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<object>(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
