import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readOptions, usageText } from '../../src/platform/usage.ts';
import { copyTree, digestOf, type Copy } from './mutants/copy.ts';
import { MUTANTS } from './mutants/list.ts';
import type { Mutant } from './mutants/mutant.ts';
import { tryTests, type Suite, type Trial } from './mutants/trial.ts';

/* Plants each bug in a copy of the tree and runs the tests that should see it: with `npm test`, and if they pass, with
   `npm run test:all`. Results are kept, so that a run that was ended goes on where it was. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const KEPT = join(ROOT, '.data', 'mutants.json');
const HELP = usageText('npm run chaos:mutants', {
  does: 'Plants one bug after the other and names the test that catches it.',
  forms: ['[--only TEXT ...] [--list] [--fresh]'],
  options: {
    '--only': 'only bugs whose name or file contains the text',
    '--list': 'names them and plants nothing',
    '--fresh': 'forgets what earlier runs have found',
  },
  exits: '0 every bug was caught, 1 one was not, or could not be planted',
  example: '--only refund',
});

/** Results by the name of the bug, and which tests pass without any in which suite, all of one state of the tree. */
type Kept = { digest: string; honest: string[]; trials: Record<string, Trial> };

const given = readOptions(HELP, process.argv.slice(2), () =>
  parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: [] },
      list: { type: 'boolean', default: false },
      fresh: { type: 'boolean', default: false },
    },
  }),
);
if (given === null) process.exit();
const { values } = given;
const chosen = MUTANTS.filter(
  ({ bug, file }) => values.only.length === 0 || values.only.some((text) => `${bug} ${file}`.includes(text)),
);
if (values.list) process.stdout.write(chosen.map(({ bug, file }) => `${bug}  (${file})\n`).join(''));
else process.exitCode = await run(chosen);

async function run(mutants: readonly Mutant[]): Promise<number> {
  const digest = digestOf(ROOT);
  const kept = values.fresh ? null : recall(digest);
  const known: Kept = kept ?? { digest, honest: [], trials: {} };
  const copies = Array.from({ length: availableParallelism() }, () => copyTree(ROOT));
  const waiting = [...mutants];
  const tryWaiting = async (copy: Copy): Promise<void> => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      known.trials[nameOf(mutant)] ??= await tryMutant(copy, mutant, known);
      remember(known);
      process.stdout.write(`${line(mutant, known.trials[nameOf(mutant)])}\n`);
    }
  };
  try {
    // The tests of an unread list would all be red for its own fault.
    for (const mutant of mutants) copies[0]?.plant(mutant)();
    await Promise.all(copies.map(tryWaiting));
  } finally {
    for (const copy of copies) copy.remove();
  }
  const trialOf = (mutant: Mutant): Trial | undefined => known.trials[nameOf(mutant)];
  const missed = mutants.filter((mutant) => !isCaught(trialOf(mutant)));
  const late = mutants.filter((mutant) => isCaught(trialOf(mutant)) && trialOf(mutant)?.suite === 'test:all');
  process.stdout.write(`\n${mutants.length - missed.length} of ${mutants.length} planted bugs were caught\n`);
  for (const { bug, file } of late) process.stdout.write(`by npm run test:all alone: ${bug} (${file})\n`);
  for (const { bug, file } of missed) process.stdout.write(`not caught: ${bug} (${file})\n`);
  return missed.length === 0 ? 0 : 1;
}

/** A bug that was written anew has not been tried yet. */
function nameOf(mutant: Mutant): string {
  const text = JSON.stringify(mutant);
  return `${mutant.bug} ${createHash('sha256').update(text).digest('hex').slice(0, 8)}`;
}

async function tryMutant(copy: Copy, mutant: Mutant, known: Kept): Promise<Trial> {
  const trial = await tryIn('test');
  return trial.end === 'passed' ? tryIn('test:all') : trial;

  async function tryIn(suite: Suite): Promise<Trial> {
    const red = await whatIsRedHonestly(copy, mutant.tests, suite, known);
    if (red !== null) return red;
    const takeOut = copy.plant(mutant);
    try {
      return await tryTests(copy.folder, mutant.tests, suite);
    } finally {
      takeOut();
    }
  }
}

/** A test that is red without any bug catches nothing. */
async function whatIsRedHonestly(
  copy: Copy,
  tests: readonly string[],
  suite: Suite,
  known: Kept,
): Promise<Trial | null> {
  for (const file of tests.filter((test) => !known.honest.includes(`${suite} ${test}`))) {
    let trial = await tryTests(copy.folder, [file], suite);
    // Once more: a busy machine is no bug either.
    if (trial.end !== 'passed') trial = await tryTests(copy.folder, [file], suite);
    if (trial.end !== 'passed') return { ...trial, end: 'broken', by: `without any bug, ${trial.by}` };
    known.honest.push(`${suite} ${file}`);
    remember(known);
  }
  return null;
}

function isCaught(trial: Trial | undefined): boolean {
  return trial?.end === 'failed' || trial?.end === 'hung';
}

function line({ bug, breaks }: Mutant, trial: Trial | undefined): string {
  if (trial === undefined) return bug;
  const verdict = isCaught(trial) ? `caught by ${trial.suite}` : `NOT CAUGHT (${trial.end})`;
  return `${verdict.padEnd(18)}  ${trial.seconds.toFixed(1).padStart(6)} s  ${bug} (${breaks})\n                  ${trial.by}`;
}

function recall(digest: string): Kept | null {
  try {
    const kept = JSON.parse(readFileSync(KEPT, 'utf8')) as Kept;
    return kept.digest === digest ? kept : null;
  } catch {
    return null;
  }
}

function remember(known: Kept): void {
  mkdirSync(dirname(KEPT), { recursive: true });
  writeFileSync(KEPT, JSON.stringify(known, null, 2));
}
