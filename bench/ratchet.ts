import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { Row } from './row.ts';
import { costRatio, measureRounds, whatsOf } from './shop/bench.ts';

const FILE = new URL('ratchet.json', import.meta.url);
const SIZES = { shoppers: [10, 50], seconds: 2, payments: 1_500 };
const ROUNDS = 5;
/** Below this share of what was recorded, something has become slower. */
const TOLERANCE = 0.9;

/**
 * Has a change made us slower? Ratios to the plain sample of the same run, in processor time of server and database:
 * that does not depend on who else is on the machine, as requests per second do. Medians of rounds taken by turns.
 * @param argv `--record`: writes what is measured into `ratchet.json`, for a change that is meant
 */
export async function benchRatchet(argv: string[]): Promise<Row[]> {
  const { values } = parseArgs({ args: argv, options: { record: { type: 'boolean', default: false } } });
  const figures = await measureRounds(SIZES, ROUNDS);
  const measured = new Map(
    // Acknowledging is measured together with confirming.
    whatsOf(figures)
      .filter((what) => !what.startsWith('webhooks'))
      .map((what) => [what, costRatio(figures, what)]),
  );
  if (values.record) {
    const rounded = [...measured].map(([what, ratio]) => [what, Number(ratio.toFixed(2))] as const);
    await writeFile(FILE, `${JSON.stringify(Object.fromEntries(rounded), null, 2)}\n`);
  }
  const recorded = JSON.parse(await readFile(FILE, 'utf8')) as Record<string, number>;
  return [...measured].map(([what, ratio]) => {
    const least = (recorded[what] ?? 0) * TOLERANCE;
    // Not Number.isFinite: without /proc there is no processor time, and nothing to compare.
    if (!(ratio >= least)) process.exitCode = 1;
    return {
      what: `processor time, ${what}`,
      ours: ratio >= least ? 'as fast as recorded' : 'slower than recorded',
      ratio: ratio.toFixed(2),
      wanted: `at least ${least.toFixed(2)} (recorded ${recorded[what] ?? 'nothing'})`,
    };
  });
}
