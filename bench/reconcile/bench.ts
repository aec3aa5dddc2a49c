import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { applyMigrations } from '../../src/platform/database/migrations.ts';
import { formatTable } from '../../src/platform/terminal.ts';
import { fillBooks } from '../../test/support/formula-books.ts';
import { runReconcile, startService, type Measured } from './command.ts';
import { measureFloor } from './floor.ts';
import { paidOf } from '../../test/support/formula.ts';

const HELP = `npm run bench -- reconcile [--sizes 10000,100000,1000000] [--shape list|page] [--rounds 3] [--prof FOLDER]`;
const SIZES = '10000,100000,1000000';

type Line = { count: number; best: Measured; floor: number; databaseBytes: number };

/**
 * Reconciles ever more transactions with as many payments by the real command, and compares the time with what psql
 * needs for the same rows in the same minute. Of each, the best of some rounds: others use this machine, too.
 */
export async function benchReconcile(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      sizes: { type: 'string', default: SIZES },
      shape: { type: 'string', default: 'list' },
      rounds: { type: 'string', default: '3' },
      prof: { type: 'string' },
    },
  });
  const sizes = values.sizes.split(',').map(Number);
  if (sizes.some((size) => !Number.isInteger(size) || size < 1)) throw new RangeError(HELP);
  const flags = values.prof === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.prof}`];
  const { shape, rounds } = values;
  await withPostgres(async (url, folder) => {
    const lines: Line[] = [];
    for (const count of sizes) {
      const databaseUrl = await newDatabase(url, count);
      lines.push(await measure({ databaseUrl, folder, count, shape, rounds: Number(rounds), flags }));
      await drop(url, databaseUrl);
    }
    process.stdout.write(`${describe(lines, shape)}\n`);
  });
}

/** Gives the address of a PostgreSQL of its own, and a folder. */
export async function withPostgres<T>(work: (url: string, folder: string) => Promise<T>): Promise<T> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'integrator-bench-')));
  // The database runs as an account of its own when we are root.
  await chmod(folder, 0o755);
  const logger = createLogger('warn');
  const dataDir = join(folder, 'data');
  const postgres = await startEmbeddedPostgres({ dataDir, logger, purpose: 'npm run bench' });
  try {
    return await work(postgres.url, folder);
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

type Setting = {
  databaseUrl: string;
  folder: string;
  count: number;
  shape: string;
  rounds: number;
  flags: string[];
};

async function measure({ databaseUrl, folder, count, shape, rounds, flags }: Setting): Promise<Line> {
  process.stderr.write(`${count} payments are written\n`);
  await fillBooks(databaseUrl, count);
  const databaseBytes = await sizeOf(databaseUrl);
  const service = await startService(shape, count);
  try {
    let best: Measured | null = null;
    let floor = Infinity;
    for (let round = 1; round <= rounds; round += 1) {
      floor = Math.min(floor, await measureFloor(databaseUrl, count, folder));
      const measured = await runReconcile({ databaseUrl, serviceUrl: service.url, folder }, flags);
      refuseWrong(measured, count);
      process.stderr.write(
        `  round ${round}: ${measured.seconds} s (process ${measured.processSeconds.toFixed(2)} s, its processor time ${measured.cpuSeconds.toFixed(2)} s), floor so far ${floor.toFixed(2)} s\n`,
      );
      if (best === null || measured.seconds < best.seconds) best = measured;
    }
    if (best === null) throw new RangeError(HELP);
    return { count, best, floor, databaseBytes };
  } finally {
    service.stop();
  }
}

/** A fast answer that is wrong is not measured. */
function refuseWrong({ report }: Measured, count: number): void {
  const { verdict, matched, history, payments } = report;
  const isRight =
    verdict === 'agreed' && matched === paidOf(count) && history.references === count && payments === count;
  if (!isRight) throw new Error(`the reconciliation is wrong: ${JSON.stringify(report)}`);
}

function describe(lines: readonly Line[], shape: string): string {
  const rows = lines.map(({ count, best, floor, databaseBytes }) => [
    count.toLocaleString('en'),
    best.seconds.toFixed(2),
    Math.round(count / best.seconds).toLocaleString('en'),
    floor.toFixed(2),
    (best.seconds / floor).toFixed(2),
    best.processSeconds.toFixed(2),
    `${(best.peakBytes / 2 ** 20).toFixed(0)} MiB`,
    `${(databaseBytes / 2 ** 20).toFixed(0)} MiB`,
  ]);
  const heading = [
    'transactions',
    'seconds',
    'rows/s',
    'floor s',
    'ratio',
    'process s',
    'peak memory',
    'database',
  ];
  const [first, last] = [lines[0], lines.at(-1)];
  const exponent =
    first !== undefined && last !== undefined && first !== last
      ? `growth exponent ${(Math.log(last.best.seconds / first.best.seconds) / Math.log(last.count / first.count)).toFixed(2)} from ${first.count} to ${last.count}`
      : 'growth exponent: give at least two sizes';
  return [
    formatTable(heading, rows),
    exponent,
    `seconds: from the first look at the database to the report, the service's answer (${shape}) included; process: with the start of Node.js`,
    'floor: psql \\copy of the same rows into a temporary table and one full outer join with the payments',
  ].join('\n');
}

const MIGRATIONS = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));

export async function newDatabase(adminUrl: string, count: number): Promise<string> {
  const url = new URL(adminUrl);
  url.pathname = `/bench_${count}`;
  await query(adminUrl, `CREATE DATABASE ${url.pathname.slice(1)}`);
  await applyMigrations({ url: url.href, dir: MIGRATIONS, logger: createLogger('warn') });
  return url.href;
}

async function drop(adminUrl: string, url: string): Promise<void> {
  await query(adminUrl, `DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`);
}

async function sizeOf(url: string): Promise<number> {
  const rows = await query(url, 'SELECT pg_database_size(current_database())::float8 AS bytes');
  return (rows[0] as { bytes: number }).bytes;
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows as unknown[];
  } finally {
    await client.end();
  }
}
