import { isAnswered, refuse, usageText } from '../src/platform/usage.ts';
import { benchFlood } from './flood.ts';
import { benchLatency } from './latency/bench.ts';
import { benchMemory } from './memory.ts';
import { benchOperations } from './operations.ts';
import { benchRatchet } from './ratchet.ts';
import { benchReconcile } from './reconcile/bench.ts';
import { benchDay } from './reconcile/day.ts';
import { soakReconcile } from './reconcile/soak.ts';
import { benchRetention } from './retention.ts';
import { describeRows, type Row } from './row.ts';
import { benchShop } from './shop/bench.ts';
import { benchStartUp } from './start-up.ts';

/** Each measures one promise about speed and gives rows for the table; the last two print tables of their own. */
const BENCHES: Record<string, (argv: string[]) => Promise<Row[]>> = {
  shop: benchShop,
  latency: benchLatency,
  flood: benchFlood,
  memory: benchMemory,
  'start-up': benchStartUp,
  operations: benchOperations,
  retention: benchRetention,
  ratchet: benchRatchet,
  'reconcile-day': benchDay,
  reconcile: (argv) => benchReconcile(argv).then(() => []),
  'reconcile-soak': (argv) => soakReconcile(argv).then(() => []),
};

/** What `npm run bench` does: everything small, some minutes in all. */
const SMALL: [name: string, argv: string[]][] = [
  ['shop', ['--seconds', '2', '--rounds', '2', '--payments', '1000']],
  ['flood', ['--seconds', '10']],
  ['memory', []],
  ['start-up', []],
  ['operations', ['20000']],
];

const HELP = usageText('npm run bench', {
  does: 'Measures the promises about speed; all small ones without a name.',
  forms: [`[${Object.keys(BENCHES).join(' | ')}]`],
  options: {},
  exits: '0 measured, 1 a promise was broken or it could not be measured',
  example: 'reconcile',
});

const typed = process.argv.slice(2);
const [name, ...rest] = typed;
const isHelp = typed.includes('--help') || name?.startsWith('-') === true;
const chosen = isHelp && isAnswered(HELP, typed) ? [] : name === undefined ? SMALL : [[name, rest] as const];
const rows: Row[] = [];
for (const [each, argv] of chosen) {
  const bench = BENCHES[each];
  if (bench === undefined) {
    refuse(`There is no "${each}".`, HELP);
    break;
  }
  rows.push(...(await bench([...argv])));
}
if (rows.length > 0) process.stdout.write(`${describeRows(rows)}\n`);
