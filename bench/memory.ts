import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Row } from './row.ts';
import { askedBySignal } from './shop/asked-by-signal.ts';
import type { Contestant } from './shop/contestants.ts';
import { press } from './shop/load.ts';
import { onStage, type Stage } from './shop/surroundings.ts';
import { BASKET, webhookAbout } from './shop/turn.ts';

const AT_ONCE = 10;
const PARTS = 10;
const MIB = 2 ** 20;

/**
 * What an hour leaves behind in the server's memory. An hour's worth of load is 3,600 purchases, one for each second of
 * it: a checkout, a webhook about its payment, the shopper's return, and a look at the order. They are made as fast as
 * the machine goes, ten at once. The heap is read after a full collection.
 * @param argv `--purchases 3600`
 */
export async function benchMemory(argv: string[]): Promise<Row[]> {
  const { values } = parseArgs({ args: argv, options: { purchases: { type: 'string', default: '3600' } } });
  const purchases = Number(values.purchases);
  if (!(purchases >= PARTS)) throw new RangeError('npm run bench -- memory [--purchases 3600]');
  const heaps: number[] = [];
  let resident = { now: 0, peak: 0 };
  await onStage(async (stage) => {
    const reporter = fileURLToPath(new URL('report-heap.ts', import.meta.url));
    const one = await stage.startIntegrator({ flags: ['--expose-gc', '--import', reporter] });
    for (let part = 0; part < PARTS; part += 1) {
      await purchase(one, stage, Math.ceil(purchases / PARTS));
      heaps.push(await askedBySignal(one, /heap (\d+)/));
    }
    resident = await one.residentBytes();
  });
  // The first parts fill caches, prepare statements and compile; what goes on growing after them is a leak.
  const [half = 0, last = 0] = [heaps[PARTS / 2 - 1], heaps[PARTS - 1]];
  const growth = ((last - half) / (purchases / 2)) * 1_000;
  return [
    {
      what: `memory after ${purchases} purchases`,
      ours: `${(resident.now / MIB).toFixed(0)} MiB resident, ${(resident.peak / MIB).toFixed(0)} MiB at most`,
    },
    {
      what: '… heap after a collection',
      ours: `${(last / MIB).toFixed(1)} MiB, ${(growth / 1_024).toFixed(0)} KiB more per 1,000 in the second half`,
    },
  ];
}

async function purchase(one: Contestant, { standIn }: Stage, count: number): Promise<void> {
  let begun = 0;
  const { answers } = await press(one.origin, AT_ONCE, 600, () =>
    (begun += 1) > count ? null : { path: '/checkout', body: BASKET },
  );
  const opened = answers.map((text) => JSON.parse(text) as { reference: string; orderId: string });
  const references = opened.map(({ reference }) => reference);
  await standIn.pay(references);
  const steps = [
    ({ reference }: { reference: string }) => webhookAbout(reference),
    ({ reference }: { reference: string }) => ({
      method: 'GET' as const,
      path: `/checkout/return/${reference}`,
    }),
    ({ orderId }: { orderId: string }) => ({ method: 'GET' as const, path: `/orders/${orderId}` }),
  ];
  for (const step of steps) {
    const queue = opened.values();
    await press(one.origin, AT_ONCE, 600, () => {
      const next = queue.next();
      return next.done === true ? null : step(next.value);
    });
  }
  await one.untilPaid(references);
}
