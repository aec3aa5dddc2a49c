import { parseArgs } from 'node:util';
import { formatTable } from '../../src/platform/terminal.ts';
import { median, type Row } from '../row.ts';
import { onStage } from './surroundings.ts';
import { partsOf, type Figures, type Sizes } from './turn.ts';

const HELP = `npm run bench -- shop [--shoppers 1,10,50] [--seconds 3] [--rounds 5] [--payments 4000]
  [--prof FOLDER]`;
const PLAIN = 'plain sample';
const OURS = 'integrator';

/**
 * Checkouts, webhooks, confirmed payments and returns per second, ours beside the plain sample's: one
 * machine, one database server, one stand-in, by turns in one run, so that what disturbs one disturbs the
 * other. All rounds count but the first, in which compilers and caches warm up.
 */
export async function benchShop(argv: string[]): Promise<Row[]> {
  const { values } = parseArgs({
    args: argv,
    options: {
      shoppers: { type: 'string', default: '1,10,50' },
      seconds: { type: 'string', default: '3' },
      rounds: { type: 'string', default: '5' },
      payments: { type: 'string', default: '4000' },
      prof: { type: 'string' },
    },
  });
  const [seconds, rounds, payments] = [values.seconds, values.rounds, values.payments].map(Number);
  const shoppers = values.shoppers.split(',').map(Number);
  if ([...shoppers, seconds, rounds, payments].some((count) => !(Number(count) > 0)))
    throw new RangeError(HELP);
  const flags = values.prof === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.prof}`];
  const sizes = { shoppers, seconds: seconds ?? 0, payments: payments ?? 0 };
  const figures = await measureRounds(sizes, rounds ?? 0, flags);
  process.stdout.write(`${describeCost(figures)}\n\n`);
  return rowsOf(figures);
}

export async function measureRounds(
  sizes: Sizes,
  rounds: number,
  flags: readonly string[] = [],
): Promise<Figures[]> {
  const figures: Figures[] = [];
  await onStage(async (stage) => {
    const contestants = [await stage.startPlainSample(), await stage.startIntegrator({ flags })];
    for (let round = 0; round <= rounds; round += 1) {
      for (const measure of partsOf(sizes)) {
        for (const one of contestants) {
          const measured = await measure(one, stage);
          if (round > 0) figures.push(...measured);
        }
      }
    }
  });
  return figures;
}

/** What was measured, in the order of a turn. */
export function whatsOf(figures: readonly Figures[]): string[] {
  return [...new Set(figures.map(({ what }) => what))];
}

function medianOf(
  figures: readonly Figures[],
  name: string,
  what: string,
  pick: (f: Figures) => number,
): number {
  return median(figures.filter((f) => f.name === name && f.what === what).map(pick));
}

/**
 * The median over all rounds of one contestant's figure divided by the other's of the same round: a machine
 * may be half as fast a minute later, and the other's turn was seconds ago.
 */
function medianRatio(
  figures: readonly Figures[],
  what: string,
  [over, under]: readonly [string, string],
  pick: (f: Figures) => number,
): number {
  const of = (name: string): number[] => figures.filter((f) => f.name === name && f.what === what).map(pick);
  const divisors = of(under);
  return median(of(over).map((figure, round) => figure / (divisors[round] ?? 0)));
}

function rowsOf(figures: readonly Figures[]): Row[] {
  return whatsOf(figures).map((what) => {
    const [plain, ours] = [PLAIN, OURS].map((name) => medianOf(figures, name, what, (f) => f.perSecond));
    const [plainP99, oursP99] = [PLAIN, OURS].map((name) => medianOf(figures, name, what, (f) => f.p99Ms));
    const words = (perSecond = 0, p99 = 0): string => `${perSecond.toFixed(0)}/s, p99 ${p99.toFixed(0)} ms`;
    const isPromised = /^(checkouts, (10|50)|payments)/.test(what);
    return {
      what,
      plain: words(plain, plainP99),
      ours: words(ours, oursP99),
      ratio: medianRatio(figures, what, [OURS, PLAIN], (f) => f.perSecond).toFixed(2),
      ...(isPromised && { wanted: 'ratio at least 1.0' }),
    };
  });
}

/** Processor time per operation of the plain sample, server and database, divided by ours: more is better. */
export function costRatio(figures: readonly Figures[], what: string): number {
  return medianRatio(figures, what, [PLAIN, OURS], (f) => f.serverMs + f.databaseMs);
}

function describeCost(figures: readonly Figures[]): string {
  const rows = whatsOf(figures).map((what) => [
    what,
    ...[PLAIN, OURS].flatMap((name) =>
      (['serverMs', 'databaseMs'] as const).map((field) =>
        medianOf(figures, name, what, (f) => f[field]).toFixed(2),
      ),
    ),
    costRatio(figures, what).toFixed(2),
    medianOf(figures, OURS, what, (f) => f.verifications).toFixed(0),
  ]);
  const headings = [
    'ms of processor per operation',
    'plain',
    'its database',
    'ours',
    'its database',
    'ratio',
  ];
  return formatTable([...headings, 'verify calls of ours'], rows);
}
