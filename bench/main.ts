import { benchReconcile } from './reconcile/bench.ts';
import { soakReconcile } from './reconcile/soak.ts';
import { benchShop } from './shop/bench.ts';

/** Each measures one promise about speed, as a ratio inside one run, and prints a table; or proves one at length. */
const BENCHES: Record<string, (argv: string[]) => Promise<void>> = {
  reconcile: benchReconcile,
  'reconcile-soak': soakReconcile,
  shop: benchShop,
};

const [name = '', ...rest] = process.argv.slice(2);
const bench = BENCHES[name];
if (bench === undefined) {
  process.stderr.write(`npm run bench -- ${Object.keys(BENCHES).join(' | ')}\n`);
  process.exitCode = 64;
} else await bench(rest);
