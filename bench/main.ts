import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '../local/postgres.ts';
import { endPrograms, enter, ourProgram, residentMiB, startProgram, type Contestant } from './contestants.ts';
import { atRate, createShoppers, inTurns, msOf, quantile, startReceiver } from './load.ts';
import { benchReconcile } from './reconcile.ts';

/*
 * npm run bench -- reconcile …: see reconcile.ts. npm run bench -- shop [--quick]: compares our
 * server with two samples without guarantees. They run alternately on one machine, so the ratios
 * hold on any machine. --quick only checks that everything runs: its figures are meaningless.
 */

const PAID_WITHIN_MS = 60_000;
const SHOPPERS = [10, 50];
const ORDERS_PER_SEC = 30;
const [what, ...options] = process.argv.slice(2);
/** The number of rounds, the orders per turn, and the duration of the load of ORDERS_PER_SEC. */
const SIZE = options[0] === '--quick' ? { rounds: 1, orders: 50, seconds: 2 } : { rounds: 5, orders: 500, seconds: 20 };
const WARM_UP = SIZE.orders / 2;
/** Median, minimum and maximum. */
const SPREAD = [0.5, 0, 1];

const print = (line: string) => process.stdout.write(`${line}\n`);

if (what === 'shop') await run(benchShop, 360_000);
else if (what === 'reconcile') await run((database) => benchReconcile(database, options), 3 * 3_600_000);
else
  process.stderr.write(
    'There are two: npm run bench -- shop [--quick], npm run bench -- reconcile [--count 1000000]\n',
  );

/**
 * Runs a bench with its own PostgreSQL.
 * @param limitMs the bench is aborted after this time
 */
async function run(bench: (database: string) => Promise<void>, limitMs: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'integrator-bench-'));
  const postgres = await startPostgres({ folder: join(folder, 'database'), durable: false });
  const stopped = new Promise<never>((_resolve, reject) => {
    setTimeout(reject, limitMs, `it was not finished after ${limitMs / 1_000} s`);
    process.once('SIGINT', reject).once('SIGTERM', reject);
  });
  await Promise.race([bench(postgres.url), stopped]).catch((error: unknown) => {
    process.stderr.write(`The bench was aborted: ${String(error)}\n`);
    process.exitCode = 1;
  });
  endPrograms();
  await postgres.stop();
  rmSync(folder, { recursive: true });
  process.exit();
}

async function benchShop(database: string): Promise<void> {
  const program = ourProgram();
  print(`ours is ${program}${program === 'src/server.ts' ? ', by tsx: npm run build compiles it' : ''}`);
  const { url: serviceUrl } = await startProgram('local/sandbox/main.ts', {});
  const env = { GATEWAY_URL: serviceUrl };
  const ours = await enter('ours', program, database, env);
  const contestants = [
    ours,
    await enter('sample_pg', 'bench/sample-pg.ts', database, env),
    await enter('sample_prisma', 'bench/sample-prisma.ts', database, env),
  ];
  for (const contestant of contestants) await takeTurn(serviceUrl, contestant, 10, WARM_UP);
  for (const shoppers of SHOPPERS) await compare(serviceUrl, contestants, shoppers);
  print(`\nresident memory of ours: ${residentMiB(ours.pid).toFixed(0)} MiB`);
  endPrograms();
  await measureLatency(program, database);
}

/** Rounds in rotating order. A ratio compares values of the same round. */
async function compare(serviceUrl: string, contestants: Contestant[], shoppers: number): Promise<void> {
  const rounds: Map<string, { checkouts: number; confirmations: number }>[] = [];
  while (rounds.length < SIZE.rounds) {
    const first = rounds.length % contestants.length;
    const turns: (typeof rounds)[0] = new Map();
    for (const contestant of [...contestants.slice(first), ...contestants.slice(0, first)])
      turns.set(contestant.name, await takeTurn(serviceUrl, contestant, shoppers, SIZE.orders));
    rounds.push(turns);
  }
  const [ours = '', ...samples] = contestants.map(({ name }) => name);
  for (const measure of ['checkouts', 'confirmations'] as const) {
    const rates = (name: string) => rounds.map((turns) => turns.get(name)?.[measure] ?? NaN);
    const ratios = (name: string) => rates(name).map((rate, round) => (rates(ours)[round] ?? NaN) / rate);
    print(`\n${`${measure} a second, ${shoppers} shoppers`.padEnd(38)}  median   least    most`);
    for (const name of [ours, ...samples]) printRow(name, rates(name), SPREAD, 0);
    for (const name of samples) printRow(`${ours} / ${name}`, ratios(name), SPREAD, 2);
  }
}

/**
 * Shoppers open checkouts, each the next one when it has the address of the last one. Then all
 * orders are paid at the service, and the same number of connections sends the webhooks, until the
 * database has all orders as paid.
 * @returns the rates per second
 */
async function takeTurn(serviceUrl: string, contestant: Contestant, shoppers: number, orders: number) {
  const { name, url, unpaid } = contestant;
  const load = createShoppers(shoppers);
  const references: string[] = [];
  const openedMs = await msOf(inTurns(shoppers, orders, async () => references.push(await load.checkOut(url))));
  await inTurns(shoppers, orders, (index) => load.pay(serviceUrl, references[index] ?? ''));
  const confirm = async () => {
    await inTurns(shoppers, orders, (index) => load.notify(url, references[index] ?? ''));
    await until(async () => (await unpaid()) === 0, `${name} leaves orders unpaid`);
  };
  const paidMs = await msOf(confirm());
  await load.close();
  return { checkouts: (orders / openedMs) * 1_000, confirmations: (orders / paidMs) * 1_000 };
}

async function until(holds: () => Promise<boolean> | boolean, failure: string): Promise<void> {
  const deadline = Date.now() + PAID_WITHIN_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(failure);
    await sleep(20);
  }
}

/**
 * Measures only our server, at a steady rate below its maximum, with a receiver of its messages.
 */
async function measureLatency(program: string, database: string): Promise<void> {
  const { url: serviceUrl } = await startProgram('local/sandbox/main.ts', {});
  const { url: FULFILMENT_URL, releasedMs } = await startReceiver();
  const ours = await enter('ours_alone', program, database, { GATEWAY_URL: serviceUrl, FULFILMENT_URL });
  await takeTurn(serviceUrl, ours, 10, WARM_UP);
  const load = createShoppers(50);
  const [service, checkout]: [number[], number[]] = [[], []];
  const sentMs = new Map<string, number>();
  await atRate(ORDERS_PER_SEC, ORDERS_PER_SEC * SIZE.seconds, async (index) => {
    if (index % 6 === 0) service.push(await msOf(load.initialize(serviceUrl, `bench-${index}`)));
    const opening = load.checkOut(ours.url);
    checkout.push(await msOf(opening));
    const reference = await opening;
    await load.pay(serviceUrl, reference);
    sentMs.set(reference, performance.now());
    await load.notify(ours.url, reference);
  });
  const isReleased = () => [...sentMs.keys()].every((reference) => releasedMs.has(reference));
  await until(isReleased, 'ours leaves orders without a release message');
  const own = quantile(service, 0.5);
  print(`\n${`milliseconds at ${ORDERS_PER_SEC} orders a second, ours`.padEnd(38)}     p50     p99`);
  const release = [...sentMs].map(([reference, ms]) => (releasedMs.get(reference) ?? NaN) - ms);
  const beyond = checkout.map((ms) => ms - own);
  printRow(`checkout less the service’s own ${own.toFixed(1)}`, beyond, [0.5, 0.99], 1);
  printRow('webhook sent to release received', release, [0.5, 0.99], 1);
}

/** @param parts for each part, the value below which this share of all values lies */
function printRow(what: string, values: number[], parts: number[], digits: number): void {
  const columns = parts.map((part) => quantile(values, part).toFixed(digits).padStart(8));
  print(`  ${what.padEnd(36)}${columns.join('')}`);
}
