import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { openProgram } from '../src/compose.ts';
import { loadConfig } from '../src/config.ts';
import { applyMigrations } from '../src/platform/migrate.ts';
import type { Report } from '../src/reconciliation/report.ts';
import { reconcile } from '../src/reconciliation/run.ts';
import { KEY, startProgram } from './contestants.ts';
import type { Spread } from './list.ts';
import { msOf } from './load.ts';
import { psqlsWay, readList, writeList } from './psql.ts';
import { seedPaidOrders } from './seed.ts';

/*
 * npm run build && npm run bench -- reconcile [--count 1000000] [--planted 0.001 | --day]: compares
 * our reconciliation of a year of paid orders with the time that PostgreSQL needs for the same
 * rows. Both run alternately on one machine, so the ratios hold on any machine.
 */

const USAGE = '[--count 1000000] [--planted 0.001 | --day]';
const MINUTE_MS = 60_000;
const YEAR_MS = 365 * 1_440 * MINUTE_MS;
/** The newest row is older than the history's lag. */
const AGE_MS = 60 * MINUTE_MS;
const MAX_ROUNDS = 3;
const RUNS_A_DAY = 96;
const CLI = fileURLToPath(new URL('../dist/cli.js', import.meta.url));

type Setting = Spread & { databaseUrl: string; serviceUrl: string };
/**
 * In seconds: `run` is the time in the report, `whole` includes the start of the process. `peakMiB`
 * is the peak of resident memory.
 */
type Ours = { report: Report; run: number; whole: number; peakMiB: number };

const print = (line: string) => process.stdout.write(`${line}\n`);
const secondsOf = async (work: Promise<unknown>) => (await msOf(work)) / 1_000;

/**
 * @param server address of a PostgreSQL server that may be filled
 * @param words the options as typed
 */
export async function benchReconcile(server: string, words: string[]): Promise<void> {
  const options = { count: { type: 'string' }, planted: { type: 'string' }, day: { type: 'boolean' } } as const;
  const { values } = parseArgs({ args: words, options });
  const [count, share] = [Number(values.count ?? 1_000_000), Number(values.planted ?? 0)];
  if (!Number.isInteger(count) || count < 1 || !(share >= 0 && share <= 1)) throw new Error(USAGE);
  if (!existsSync(CLI)) throw new Error('The bench measures dist/cli.js. Run npm run build first.');
  const plantedEvery = share === 0 ? 0 : Math.max(1, Math.round(1 / share));
  const stepMs = Math.max(1, Math.floor(YEAR_MS / count));
  const spread = { count, newestMs: Date.now() - AGE_MS, stepMs, plantedEvery };
  const databaseUrl = await openBooks(server, spread);
  const { url: serviceUrl } = await startProgram('bench/list.ts', { SPREAD: JSON.stringify(spread) });
  await (values.day === true ? measureDay : compare)({ ...spread, databaseUrl, serviceUrl });
}

async function openBooks(server: string, spread: Spread): Promise<string> {
  const url = new URL(server);
  url.pathname = '/books';
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query('CREATE DATABASE books');
  await client.end();
  await applyMigrations(url.href);
  const seconds = await secondsOf(seedPaidOrders(url.href, spread));
  print(`${spread.count} paid orders of a year are written, in ${seconds.toFixed(0)} s`);
  return url.href;
}

/**
 * A run with findings changes the books, and a large one takes minutes. In these cases there is one
 * round.
 */
async function compare(setting: Setting): Promise<void> {
  const { count, plantedEvery, serviceUrl, databaseUrl } = setting;
  const file = join(tmpdir(), `bench-list-${process.pid}.txt`);
  const rounds: { list: number; copy: number; join: number; ours: Ours }[] = [];
  const wanted = plantedEvery > 0 || count > 1_000_000 ? 1 : MAX_ROUNDS;
  try {
    await writeList(serviceUrl, count, file);
    while (rounds.length < wanted) {
      const list = await secondsOf(readList(serviceUrl, count, () => undefined));
      rounds.push({ list, ...(await psqlsWay(databaseUrl, file)), ours: await runCommand(setting) });
    }
  } finally {
    rmSync(file, { force: true });
  }
  const best = (of: (round: (typeof rounds)[0]) => number): number => Math.min(...rounds.map(of));
  const base = best(({ copy, join }) => copy + join);
  const [copy, list] = [best((round) => round.copy), best((round) => round.list)];
  const [run, whole] = [best(({ ours }) => ours.run), best(({ ours }) => ours.whole)];
  const peakMiB = Math.max(...rounds.map(({ ours }) => ours.peakMiB));
  printRow(`${count} by ${count}, best of ${rounds.length}`, 'seconds', 'against psql', 'peak MiB');
  const line = (what: string, seconds: number, more = '') => {
    printRow(`  ${what}`, seconds.toFixed(2), (seconds / base).toFixed(2), more);
  };
  line(`COPY (${copy.toFixed(2)} s) and one full outer join`, base);
  line('the history alone, with a bare reader', list);
  line('reconcile, the run', run);
  line('reconcile, with the start of its process', whole, peakMiB.toFixed(0));
  const { verdict, matched = 0, verified = 0, findings } = rounds.at(-1)?.ours.report ?? {};
  print(`${verdict ?? ''}: ${matched} matched, ${verified} verified, found ${JSON.stringify(findings)}`);
}

function printRow(what: string, ...columns: string[]): void {
  print(`${what.padEnd(46)}${columns.map((column) => column.padStart(14)).join('')}`);
}

/**
 * Runs the compiled command in its own process, as it is deployed.
 * @throws if it did not read the complete history
 */
async function runCommand(setting: Setting): Promise<Ours> {
  const beganMs = performance.now();
  const child = spawn(process.execPath, [CLI, 'reconcile', '--json'], {
    // This folder has no .env file.
    cwd: import.meta.dirname,
    env: { PATH: process.env.PATH, ...variables(setting) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let peakMiB = NaN;
  const looking = setInterval(() => (peakMiB = peakOf(child.pid ?? 0) ?? peakMiB), 50);
  const [said, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  clearInterval(looking);
  const whole = (performance.now() - beganMs) / 1_000;
  if (said.trim() === '') throw new Error(`reconcile --json: ${errors.slice(-500)}`);
  const report = JSON.parse(said) as Report;
  refuseHalf(report, setting.count);
  return { report, run: secondsIn(report), whole, peakMiB };
}

function variables({ databaseUrl, serviceUrl }: Setting) {
  const names = { DATABASE_URL: databaseUrl, GATEWAY_URL: serviceUrl, GATEWAY_SECRET_KEY: KEY };
  return { ...names, GATEWAY_CALLS_PER_SECOND: '0', LOG_LEVEL: 'error' };
}

/** A fast but wrong result is not measured. */
function refuseHalf({ complete, reason, history: { records } }: Report, count: number): void {
  if (!complete || records !== count) throw new Error(`${records} rows of ${count} were read: ${reason ?? ''}`);
}

function secondsIn({ startedAt, finishedAt }: Report): number {
  return (Date.parse(finishedAt) - Date.parse(startedAt)) / 1_000;
}

/**
 * The peak of a process's resident memory. Null if the system does not report it, or if the process
 * has ended.
 */
function peakOf(pid: number): number | null {
  const status = `/proc/${pid}/status`;
  const peak = existsSync(status) ? /VmHWM:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1] : undefined;
  return peak === undefined ? null : Number(peak) / 1_024;
}

/**
 * Compares a day of the schedule with one full run, in one process like a worker: one full run, and
 * 95 runs that read the new rows since the previous one, a quarter of an hour apart in the
 * history's time.
 */
async function measureDay(setting: Setting): Promise<void> {
  const GATEWAY_ADAPTER = join(import.meta.dirname, 'filtering-service.ts');
  const program = await openProgram(loadConfig({ ...variables(setting), GATEWAY_ADAPTER }));
  const { lagMin } = program.policy;
  // The schedule's overlap. A history filters by the time when a payment was opened, which may be
  // long before it was paid.
  const backMs = (lagMin + program.gateway.adapter.checkoutLifetimeMin) * MINUTE_MS;
  const everyMs = (24 * 60 * MINUTE_MS) / RUNS_A_DAY;
  const run = async (since: Date | null, until: Date | null) => {
    const report = await reconcile(program, { since, until });
    if (since === null) refuseHalf(report, setting.count);
    return { seconds: secondsIn(report), calls: report.history.pages + report.verified };
  };
  try {
    const whole = await run(null, null);
    const day = { ...whole };
    for (let turn = 1; turn < RUNS_A_DAY; turn += 1) {
      const until = setting.newestMs - (RUNS_A_DAY - 1 - turn) * everyMs;
      const light = await run(new Date(until - everyMs - backMs), new Date(until));
      day.seconds += light.seconds;
      day.calls += light.calls;
    }
    printRow(`${setting.count} by ${setting.count}`, 'seconds', 'calls');
    printRow('  one whole run', whole.seconds.toFixed(2), `${whole.calls}`);
    printRow(`  a day of ${RUNS_A_DAY} runs`, day.seconds.toFixed(2), `${day.calls}`);
    const ratios = [day.seconds / whole.seconds, day.calls / whole.calls].map((ratio) => ratio.toFixed(2));
    printRow('  the day against one whole run', ...ratios);
  } finally {
    await program.close();
  }
}
