import { chmod, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../src/platform/logger.ts';
import { startEmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import {
  query,
  startIntegrator,
  startPlainSample,
  startStandIn,
  type Contestant,
  type IntegratorOptions,
  type StandIn,
} from './contestants.ts';

export type Stage = {
  /** A folder of one's own. */
  folder: string;
  standIn: StandIn;
  /** Its process and all below it. */
  databasePid: number;
  startIntegrator(options?: Partial<IntegratorOptions>): Promise<Contestant>;
  /** @param flags of Node.js */
  startPlainSample(flags?: readonly string[]): Promise<Contestant>;
  /** Creates an empty database. @returns its address */
  createDatabase(name: string): Promise<string>;
};

/** One PostgreSQL with its usual settings, one stand-in, and all that are measured; they end with `work`. */
export async function onStage(work: (stage: Stage) => Promise<void>): Promise<void> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'integrator-bench-')));
  await chmod(folder, 0o755);
  const logger = createLogger('warn');
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'data'),
    logger,
    purpose: 'npm run bench',
  });
  const standIn = await startStandIn();
  const running: Contestant[] = [];
  const createDatabase = async (name: string): Promise<string> => {
    await query(postgres.url, `CREATE DATABASE bench_${name}`);
    const url = new URL(postgres.url);
    url.pathname = `/bench_${name}`;
    return url.href;
  };
  const started = (one: Contestant): Contestant => {
    running.push(one);
    return one;
  };
  try {
    const pidFile = await readFile(join(folder, 'data/postgres/postmaster.pid'), 'utf8');
    await work({
      folder,
      standIn,
      databasePid: Number.parseInt(pidFile, 10),
      createDatabase,
      startPlainSample: async (flags = []) =>
        started(await startPlainSample(await createDatabase(`plain_${running.length}`), standIn.url, flags)),
      startIntegrator: async (options = {}) => {
        const databaseUrl = await createDatabase(`ours_${running.length}`);
        return started(await startIntegrator({ databaseUrl, serviceUrl: standIn.url, folder, ...options }));
      },
    });
  } finally {
    for (const one of running) await one.stop();
    await standIn.stop();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
