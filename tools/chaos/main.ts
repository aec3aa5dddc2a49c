import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readOptions, refuse, usageText } from '../../src/platform/usage.ts';
import { planOf, type Plan } from './plan.ts';
import { startChaosPostgres } from './postgres.ts';
import { openDatabaseClock } from './database-clock.ts';
import { openDisk } from './disk.ts';
import { runPlan, type Outcome } from './run.ts';
import { createTally, type Tally } from './tally.ts';
import { takePreviousTree } from './tree.ts';

/* A whole shop in processes of its own, everything that may befall it, and the question whether any promise was broken. */

// A plan follows from its seed; what meets what in a run also depends on the machine, so a seed that failed may need
// a few replays. A full disk needs root and Linux, an upgrade git and its history, another clock of the database
// Debian's libfaketime: what cannot be made is named and left out.
const HELP = usageText('npm run chaos', {
  does: 'A whole shop in processes, faults from a seed, then every promise checked.',
  forms: ['[options]'],
  options: {
    '--seed': 'the first seed (1)',
    '--runs': 'how many seeds, one after the other (1)',
    '--seconds': 'begins no further seed after so long',
    '--beats': 'groups of shoppers and faults in a run (3)',
    '--replay': 'a file: plays a plan that a failed run has kept',
  },
  exits: '0 every promise was kept, 1 one was broken',
  example: '--seed 7 --runs 2',
});
const KEPT_IN = join('.data', 'chaos');

const given = readOptions(HELP, process.argv.slice(2), () =>
  parseArgs({
    options: {
      seed: { type: 'string', default: '1' },
      runs: { type: 'string', default: '1' },
      seconds: { type: 'string', default: '86400' },
      beats: { type: 'string', default: '3' },
      replay: { type: 'string' },
    },
  }),
);
if (given === null) process.exit();
const { values } = given;
const [seed, runs, seconds, beats] = [values.seed, values.runs, values.seconds, values.beats].map(
  wholeNumber,
);
if (seed === null || runs === null || seconds === null || beats === null)
  refuse('--seed, --runs, --seconds and --beats take whole numbers', HELP);
else {
  const plans =
    values.replay === undefined
      ? Array.from({ length: runs ?? 1 }, (_none, at) => planOf((seed ?? 1) + at, beats ?? 3))
      : [JSON.parse(readFileSync(values.replay, 'utf8')) as Plan];
  process.exitCode = await runAll(plans, seconds ?? 0);
}

async function runAll(plans: readonly Plan[], forSeconds: number): Promise<number> {
  const tally = createTally();
  const totals = { seeds: 0, orders: 0, paid: 0, verified: 0, failed: [] as number[], violations: 0 };
  const started = performance.now();
  const disk = ifPossible('no disk will be full', openDisk);
  const clock = ifPossible('the clock of the database will not jump', openDatabaseClock);
  const postgres = await startChaosPostgres({ disk, clock });
  let taken: ReturnType<typeof takePreviousTree> | undefined;
  const previous = (): typeof taken & object => (taken ??= takePreviousTree());
  try {
    for (const plan of plans) {
      const began = performance.now();
      if (began - started > forSeconds * 1_000) break;
      const outcome = await runPlan({ postgres, previous, tally, keepIn: KEPT_IN }, plan);
      totals.seeds += 1;
      totals.orders += outcome.orders;
      totals.paid += outcome.paid;
      totals.verified += outcome.verified;
      totals.violations += outcome.violations.length;
      if (outcome.violations.length > 0) totals.failed.push(plan.seed);
      process.stdout.write(story(plan, outcome, (performance.now() - began) / 1_000));
    }
  } finally {
    await postgres.stop();
    for (const made of [disk, clock]) if (typeof made !== 'string') made.remove();
    taken?.remove();
  }
  process.stdout.write(`\n${JSON.stringify(totals)}\n${table(tally)}`);
  return totals.failed.length === 0 ? 0 : 1;
}

/** @returns why there is none when there is none, which is told as what follows from it */
function ifPossible<T>(otherwise: string, make: () => T): T | string {
  try {
    return make();
  } catch (error) {
    process.stderr.write(`${otherwise} in these runs: ${(error as Error).message}\n`);
    return (error as Error).message;
  }
}

function story(plan: Plan, { violations, orders, paid, kept }: Outcome, took: number): string {
  const head = `seed ${plan.seed}: ${orders} orders, ${paid} paid, ${took.toFixed(0)} s, ${violations.length} violations\n`;
  if (kept === null) return head;
  return `${head}${violations.map((line) => `  ${line.slice(0, 600)}\n`).join('')}  its plan, logs and rows are in ${kept}
  again: npm run chaos -- --seed ${plan.seed} --beats ${plan.beats.length}
     or: npm run chaos -- --replay ${join(kept, 'plan.json')}
  plan: ${JSON.stringify(plan.beats.map(({ faults }) => faults))}\n`;
}

function table({ fired, points, misses, reasons }: Tally): string {
  const kinds = [...new Set([...fired.keys(), ...misses.keys()])].sort();
  const rows = kinds.map(
    (kind) =>
      `  ${kind.padEnd(32)}${String(fired.get(kind) ?? 0).padStart(6)}${String(misses.get(kind) ?? 0).padStart(10)}\n`,
  );
  const of = (...names: string[]): number => names.reduce((sum, name) => sum + (fired.get(name) ?? 0), 0);
  return `
  fault                            fired  not met
${rows.join('')}
  named points at which something happened: ${points.size}
  kills: ${of('kill', 'kill-at-point')}, pauses beyond a lease: ${of('pause', 'pause-at-point', 'pause-for-a-minute')}, rolling restarts: ${of('deploy')}, upgrades: ${of('upgrade')}
  database crashes: ${of('postgres-crash', 'backend-killed')}, restarts: ${of('postgres-restart')}
  why some were not met, the first of them:
${reasons
  .slice(0, 12)
  .map((reason) => `    ${reason}\n`)
  .join('')}`;
}

function wholeNumber(text: string): number | null {
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}
