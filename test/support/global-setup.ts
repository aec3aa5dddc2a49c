import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../local/postgres.ts';
import { applyMigrations } from '../../src/platform/migrate.ts';
import { beside, nameOf } from './database.ts';
import { buildPrograms } from './programs.ts';

declare global {
  var tearDownTests: () => Promise<void>;
}

/**
 * Starts one real PostgreSQL for the run, or uses the one of TEST_DATABASE_URL, and migrates a
 * template database there. Tests clone the template, so that they share no rows. Also builds the
 * programs that the tests start.
 */
export default async function setUp(): Promise<void> {
  const removePrograms = await buildPrograms();
  const server = await openServer();
  const template = new URL(server.url);
  template.pathname = `/template_${randomBytes(8).toString('hex')}`;
  globalThis.tearDownTests = async () => {
    await beside(template, `DROP DATABASE IF EXISTS ${nameOf(template)} WITH (FORCE)`);
    await server.stop();
    await removePrograms();
  };
  try {
    await beside(template, `CREATE DATABASE ${nameOf(template)}`);
    await applyMigrations(template.href);
  } catch (error) {
    await globalThis.tearDownTests();
    throw error;
  }
  process.env.TEST_TEMPLATE_URL = template.href;
}

async function openServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const url = process.env.TEST_DATABASE_URL ?? '';
  if (url !== '') return { url, stop: () => Promise.resolve() };
  const folder = await mkdtemp(join(tmpdir(), 'integrator-test-'));
  // The test data need not survive a crash.
  const postgres = await startPostgres({ folder: join(folder, 'database'), durable: false });
  return {
    url: postgres.url,
    stop: async () => {
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
