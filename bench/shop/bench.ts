import { chmod, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createLogger } from '../../src/platform/logger.ts';
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded-postgres.ts';
import { formatTable } from '../../src/platform/table.ts';
import {
  query,
  startIntegrator,
  startPlainSample,
  startStandIn,
  type Contestant,
  type StandIn,
} from './contestants.ts';
import { cpuMsOf } from './cpu.ts';
import { press, type Load } from './load.ts';

const HELP = `npm run bench -- shop [--shoppers 1,10,50] [--seconds 4] [--rounds 3] [--payments 2000] [--prof FOLDER]`;
const BASKET = JSON.stringify({ email: 'ada@example.com', items: [{ sku: 'ankara-tote', quantity: 1 }] });
const CONFIRM_CLIENTS = 50;
const PATIENCE_SEC = 120;

/** `serverMs` and `databaseMs`: processor time per operation. */
type Figures = {
  name: string;
  what: string;
  perSecond: number;
  p99Ms: number;
  serverMs: number;
  databaseMs: number;
};

/**
 * Checkouts created and payments confirmed per second, ours beside the plain sample's: one machine, one database
 * server, one stand-in, by turns in one run, so that what disturbs one disturbs the other. Ratios are of the medians.
 */
export async function benchShop(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      shoppers: { type: 'string', default: '1,10,50' },
      seconds: { type: 'string', default: '4' },
      rounds: { type: 'string', default: '3' },
      payments: { type: 'string', default: '2000' },
      prof: { type: 'string' },
    },
  });
  const shoppers = values.shoppers.split(',').map(Number);
  if (shoppers.some((count) => !Number.isInteger(count) || count < 1)) throw new RangeError(HELP);
  const flags = values.prof === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.prof}`];
  await withSurroundings(flags, async (contestants, standIn, databasePid) => {
    const figures: Figures[] = [];
    for (let round = 0; round <= Number(values.rounds); round += 1) {
      for (const one of contestants) {
        const measured = await measure(
          one,
          standIn,
          databasePid,
          shoppers,
          Number(values.seconds),
          Number(values.payments),
        );
        // The first round is for compilers and caches to warm up.
        if (round > 0) figures.push(...measured);
      }
    }
    process.stdout.write(`${describe(figures)}\n`);
    for (const one of contestants)
      process.stdout.write(
        `${one.name}: peak memory ${((await one.peakBytes()) / 2 ** 20).toFixed(0)} MiB\n`,
      );
  });
}

async function withSurroundings(
  flags: readonly string[],
  work: (contestants: Contestant[], standIn: StandIn, databasePid: number) => Promise<void>,
): Promise<void> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'integrator-bench-')));
  await chmod(folder, 0o755);
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'data'),
    logger: createLogger('warn'),
    purpose: 'npm run bench',
  });
  const standIn = await startStandIn();
  const running: Contestant[] = [];
  try {
    for (const name of ['plain', 'ours']) await query(postgres.url, `CREATE DATABASE bench_${name}`);
    running.push(await startPlainSample(urlOf(postgres.url, 'bench_plain'), standIn.url));
    running.push(await startIntegrator(urlOf(postgres.url, 'bench_ours'), standIn.url, folder, flags));
    const pidFile = await readFile(join(folder, 'data/postgres/postmaster.pid'), 'utf8');
    await work(running, standIn, Number.parseInt(pidFile, 10));
  } finally {
    for (const one of running) await one.stop();
    await standIn.stop();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function urlOf(adminUrl: string, name: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function measure(
  one: Contestant,
  standIn: StandIn,
  databasePid: number,
  shoppers: readonly number[],
  seconds: number,
  payments: number,
): Promise<Figures[]> {
  const figures: Figures[] = [];
  let opened: Load | null = null;
  for (const count of shoppers) {
    const meter = startMeter(one.pid, databasePid);
    opened = await press(one.origin, count, seconds, () => ({ path: '/checkout', body: BASKET }));
    if (opened.errors > 0) throw new Error(`${one.name} refused ${opened.errors} checkouts`);
    const { perSecond, p99Ms, answers } = opened;
    const what = `checkouts, ${count} shopper${count === 1 ? '' : 's'}`;
    figures.push({ name: one.name, what, perSecond, p99Ms, ...meter(answers.length) });
  }
  const paying = opened?.answers.slice(0, payments) ?? [];
  const meter = startMeter(one.pid, databasePid);
  const confirmed = await confirm(one, standIn, paying);
  figures.push({ ...confirmed, ...meter(paying.length) });
  return figures;
}

/** From the first webhook to the last order that says paid. */
async function confirm(
  one: Contestant,
  standIn: StandIn,
  checkouts: readonly string[],
): Promise<Omit<Figures, 'serverMs' | 'databaseMs'>> {
  const references = checkouts.map((text) => (JSON.parse(text) as { reference: string }).reference);
  await standIn.pay(references);
  const wanted = (await one.countPaid()) + references.length;
  const startMs = performance.now();
  const queue = references.values();
  const sent = await press(one.origin, CONFIRM_CLIENTS, PATIENCE_SEC, () => {
    const next = queue.next();
    if (next.done === true) return null;
    return {
      path: '/webhooks/payments',
      body: JSON.stringify({
        event: 'transaction.success',
        data: { reference: next.value, status: 'SUCCESS' },
      }),
    };
  });
  while ((await one.countPaid()) < wanted) {
    if (performance.now() - startMs > PATIENCE_SEC * 1_000) throw new Error(`${one.name} lost payments`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  const perSecond = (references.length / (performance.now() - startMs)) * 1_000;
  return {
    name: one.name,
    what: `payments confirmed, ${CONFIRM_CLIENTS} at once`,
    perSecond,
    p99Ms: sent.p99Ms,
  };
}

function startMeter(serverPid: number, databasePid: number) {
  const [server, database] = [cpuMsOf(serverPid), cpuMsOf(databasePid)];
  return (operations: number): Pick<Figures, 'serverMs' | 'databaseMs'> => ({
    serverMs: (cpuMsOf(serverPid) - server) / operations,
    databaseMs: (cpuMsOf(databasePid) - database) / operations,
  });
}

function describe(figures: readonly Figures[]): string {
  const whats = [...new Set(figures.map(({ what }) => what))];
  const of = (name: string, what: string, pick: (f: Figures) => number): number =>
    median(figures.filter((f) => f.name === name && f.what === what).map(pick));
  const rows = whats.map((what) => {
    const both = (pick: (f: Figures) => number, digits: number): string[] =>
      ['plain sample', 'integrator'].map((name) => of(name, what, pick).toFixed(digits));
    const ratio = of('integrator', what, (f) => f.perSecond) / of('plain sample', what, (f) => f.perSecond);
    return [
      what,
      ...both((f) => f.perSecond, 0),
      ratio.toFixed(2),
      ...both((f) => f.p99Ms, 1),
      ...both((f) => f.serverMs, 2),
      ...both((f) => f.databaseMs, 2),
    ];
  });
  const heading = ['', 'plain /s', 'ours /s', 'ratio', 'plain p99 ms', 'ours p99 ms'];
  return [
    formatTable([...heading, 'plain cpu', 'ours cpu', 'plain db', 'ours db'], rows),
    'cpu, db: milliseconds of processor time per operation, of the server process and of PostgreSQL',
  ].join('\n');
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
