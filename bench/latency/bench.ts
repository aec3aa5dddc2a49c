import { randomBytes } from 'node:crypto';
import { availableParallelism, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { median, type Row } from '../row.ts';
import { askedBySignal } from '../shop/asked-by-signal.ts';
import type { Contestant } from '../shop/contestants.ts';
import { onStage, type Stage } from '../shop/surroundings.ts';
import { orderEvenly, type Latencies } from './orders.ts';
import { startReceiver, type Receiver } from './receiver.ts';

const RATES = [30, 100];
const SERVICE_MS = [2, 300];
const STARTS = 3;
const WARM_UP = { perSecond: 100, seconds: 3 };
/** 100 orders a second at a service of 300 ms are 60 calls in flight on average. */
const CALLS_AT_ONCE = '256';
const PAUSES = ['--import', fileURLToPath(new URL('report-pauses.ts', import.meta.url))];
const PAUSE = /pause ([\d.]+)/;

type Entrant = { one: Contestant; receiver: Receiver | null };
type Sides<T> = { plain: T; ours: T };

/**
 * What one shopper waits for: checkout, and webhook to release, beside the plain sample, by turns. Then the
 * first order after a start, and the longest pause of a garbage collection.
 * @param argv `--seconds 8`: for each figure
 */
export async function benchLatency(argv: string[]): Promise<Row[]> {
  const { values } = parseArgs({ args: argv, options: { seconds: { type: 'string', default: '8' } } });
  const seconds = Number(values.seconds);
  if (!(seconds > 0)) throw new RangeError('npm run bench -- latency [--seconds 8]');
  const rows: Row[] = [];
  const receiver = await startReceiver();
  try {
    await onStage(async (stage) => {
      const first = await firstOrders(stage, receiver);
      const sides = await startSides(stage, receiver);
      for (const side of [sides.plain, sides.ours]) await warmUp(side, stage);
      for (const serviceMs of SERVICE_MS) {
        await stage.standIn.answerAfter(serviceMs);
        for (const perSecond of RATES) {
          const measured = await inTurn(sides, (side) =>
            orderEvenly(side.one, stage.standIn, side.receiver, { perSecond, seconds }),
          );
          rows.push(...rowsOf(measured, `${perSecond} orders a second, service ${serviceMs} ms`));
        }
      }
      const pauses = await inTurn(sides, ({ one }) => askedBySignal(one, PAUSE));
      rows.push(
        ...first,
        rowOf('longest pause of a garbage collection', pauses, (ms) => `${ms.toFixed(1)} ms`),
        {
          what: `load of the machine on ${availableParallelism()} cores`,
          ours: (loadavg()[1] ?? 0).toFixed(1),
        },
      );
    });
  } finally {
    await receiver.stop();
  }
  return rows;
}

async function startSides(stage: Stage, receiver: Receiver): Promise<Sides<Entrant>> {
  const env = {
    FULFILMENT_URL: receiver.url,
    FULFILMENT_SECRET: `whsec_${randomBytes(24).toString('base64')}`,
    GATEWAY_CONCURRENCY: CALLS_AT_ONCE,
  };
  return {
    plain: { one: await stage.startPlainSample(PAUSES), receiver: null },
    ours: { one: await stage.startIntegrator({ flags: PAUSES, env }), receiver },
  };
}

async function inTurn<T>(sides: Sides<Entrant>, measure: (side: Entrant) => Promise<T>): Promise<Sides<T>> {
  return { plain: await measure(sides.plain), ours: await measure(sides.ours) };
}

/** As after a day of work: compiled, every statement prepared, tables analysed. */
async function warmUp({ one, receiver }: Entrant, { standIn }: Stage): Promise<void> {
  await orderEvenly(one, standIn, receiver, WARM_UP);
  await one.query('VACUUM ANALYZE');
  await orderEvenly(one, standIn, receiver, WARM_UP);
  await askedBySignal(one, PAUSE);
}

/** One order alone, to servers that have just become ready on empty databases. */
async function firstOrders(stage: Stage, receiver: Receiver): Promise<Row[]> {
  const all: Sides<Latencies>[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    const sides = await startSides(stage, receiver);
    all.push(
      await inTurn(sides, (side) =>
        orderEvenly(side.one, stage.standIn, side.receiver, { perSecond: 1, seconds: 1 }),
      ),
    );
    await inTurn(sides, ({ one }) => one.stop());
  }
  return (['checkout', 'release'] as const).map((field) => {
    const middle = (side: keyof Sides<unknown>): number => median(all.flatMap((sides) => sides[side][field]));
    const sides = { plain: middle('plain'), ours: middle('ours') };
    return rowOf(`first ${WHAT[field]} after a start`, sides, (ms) => `${ms.toFixed(0)} ms`);
  });
}

const WHAT = { checkout: 'checkout', release: 'webhook to release' };

function rowsOf(measured: Sides<Latencies>, when: string): Row[] {
  return (['checkout', 'release'] as const).map((field) => {
    const { plain, ours } = measured;
    const sides = { plain: percentiles(plain[field]), ours: percentiles(ours[field]) };
    const ratios = [sides.ours.p50 / sides.plain.p50, sides.ours.p99 / sides.plain.p99];
    const isPromised = field === 'release' && when === '30 orders a second, service 2 ms';
    return {
      ...rowOf(`${WHAT[field]}, ${when}`, sides, ({ p50, p99 }) => `p50 ${inMs(p50)}, p99 ${inMs(p99)}`),
      ratio: ratios.map((ratio) => ratio.toFixed(2)).join(', '),
      ...(isPromised && { wanted: 'p50 15, p99 50 ms' }),
    };
  });
}

function inMs(ms: number): string {
  return Number.isFinite(ms) ? `${ms.toFixed(1)} ms` : 'refused';
}

function rowOf<T>(what: string, { plain, ours }: Sides<T>, words: (figure: T) => string): Row {
  return { what, plain: words(plain), ours: words(ours) };
}

function percentiles(ms: readonly number[]): { p50: number; p99: number } {
  const sorted = [...ms].sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
}
