import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { copyTree, digestOf, type Copy } from './mutants/copy.ts';
import { MUTANTS } from './mutants/list.ts';
import type { Mutant } from './mutants/mutant.ts';
import { tryTests, type Trial } from './mutants/trial.ts';

/* Plants one bug after the other in a copy of the tree, and asks whether a test sees it: a promise whose breach nobody
   would notice is none. What was found is kept, so that a run that was ended goes on where it was. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const KEPT = join(ROOT, '.data', 'mutants.json');
const HELP = `npm run chaos:mutants -- [options]

  --only <text>   only bugs whose name or file holds the text; may be given again
  --list          names them and plants nothing
  --fresh         forgets what earlier runs have found

ends with 0 when every bug was caught, 1 when one was not, or when a planted text stands no longer in its source
`;

/** Results by the name of the bug, and whether the tests pass without any, all of one state of the tree. */
type Kept = { digest: string; honest: string[]; trials: Record<string, Trial> };

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    list: { type: 'boolean', default: false },
    fresh: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const chosen = MUTANTS.filter(
  ({ bug, file }) => values.only.length === 0 || values.only.some((text) => `${bug} ${file}`.includes(text)),
);
if (values.help) process.stdout.write(HELP);
else if (values.list) process.stdout.write(chosen.map(({ bug, file }) => `${bug}  (${file})\n`).join(''));
else process.exitCode = await run(chosen);

async function run(mutants: readonly Mutant[]): Promise<number> {
  const digest = digestOf(ROOT);
  const kept = values.fresh ? null : recall(digest);
  const known: Kept = kept ?? { digest, honest: [], trials: {} };
  const copy = copyTree(ROOT);
  try {
    // The tests of an unread list would all be red for its own fault.
    for (const mutant of mutants) copy.plant(mutant)();
    if (!(await passesHonestly(copy, mutants, known))) return 1;
    for (const mutant of mutants) {
      known.trials[nameOf(mutant)] ??= await tryMutant(copy, mutant);
      remember(known);
      process.stdout.write(`${line(mutant, known.trials[nameOf(mutant)])}\n`);
    }
  } finally {
    copy.remove();
  }
  const missed = mutants.filter((mutant) => !isCaught(known.trials[nameOf(mutant)]));
  process.stdout.write(`\n${mutants.length - missed.length} of ${mutants.length} planted bugs were caught\n`);
  for (const { bug, file } of missed) process.stdout.write(`not caught: ${bug} (${file})\n`);
  return missed.length === 0 ? 0 : 1;
}

/** A bug that was written anew has not been tried yet. */
function nameOf(mutant: Mutant): string {
  const text = JSON.stringify(mutant);
  return `${mutant.bug} ${createHash('sha256').update(text).digest('hex').slice(0, 8)}`;
}

async function tryMutant(copy: Copy, mutant: Mutant): Promise<Trial> {
  const takeOut = copy.plant(mutant);
  try {
    return await tryTests(copy.folder, mutant.tests);
  } finally {
    takeOut();
  }
}

/** A test that is red without any bug catches nothing. */
async function passesHonestly(copy: Copy, mutants: readonly Mutant[], known: Kept): Promise<boolean> {
  const files = [...new Set(mutants.flatMap(({ tests }) => tests))].filter(
    (file) => !known.honest.includes(file),
  );
  for (const file of files) {
    let { end, by } = await tryTests(copy.folder, [file]);
    // Once more: a busy machine is no bug either.
    if (end !== 'passed') ({ end, by } = await tryTests(copy.folder, [file]));
    if (end !== 'passed') {
      process.stdout.write(`without any bug, ${file} ${end}: ${by}\n`);
      return false;
    }
    known.honest.push(file);
    remember(known);
  }
  return true;
}

function isCaught(trial: Trial | undefined): boolean {
  return trial?.end === 'failed' || trial?.end === 'hung';
}

function line({ bug, breaks }: Mutant, trial: Trial | undefined): string {
  if (trial === undefined) return bug;
  const verdict = isCaught(trial) ? 'caught' : `NOT CAUGHT (${trial.end})`;
  return `${verdict}  ${trial.seconds.toFixed(1).padStart(6)} s  ${bug} (${breaks})\n                  ${trial.by}`;
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
