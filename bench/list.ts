import { isMain } from '../src/process.ts';
import { startListService } from '../test/support/list-service.ts';

/*
 * The history of a bench and the service that shows it, in its own process. It contains paid
 * transactions at equal intervals, as SPREAD defines, a thousand per page. The seed describes the
 * same transaction `i` in SQL.
 */

export type Spread = {
  count: number;
  /** Epoch milliseconds of transaction `count`, and milliseconds between two transactions. */
  newestMs: number;
  stepMs: number;
  /** One of this many transactions differs from the books; 0: none. */
  plantedEvery: number;
};

export const PAGE_SIZE = 1_000;
/**
 * Multiplied by an odd number modulo 2^32, each transaction gets a different number, in no order,
 * like references.
 */
const MIX = 2_654_435_761;
/** The inverse of MIX modulo 2^32. */
const UNMIX = 244_002_641;
const TAIL = 'benchbenchbenchb';

/** The same as SQL expressions of `i`. */
export const SQL = {
  reference: `lpad((i * ${MIX} % 4294967296)::text, 10, '0') || '${TAIL}'`,
  orderId: `lpad((i * ${MIX} % 4294967296)::text, 10, '0') || 'BenchBenchBenc'`,
  amount: `850000 + i % 1000 * 100`,
  serviceId: `'txn_' || i`,
};

/**
 * The record of transaction `i`. A planted record in the history has an unmatched reference
 * instead, or less money.
 */
function recordOf(i: number, { count, newestMs, stepMs }: Spread, planted: 'stranger' | 'less' | null = null): object {
  const at = new Date(newestMs - (count - i) * stepMs).toISOString();
  const reference = `${String(Math.imul(i, MIX) >>> 0).padStart(10, '0')}${planted === 'stranger' ? 'strange' : TAIL}`;
  return {
    id: `txn_${i}`,
    reference,
    status: 'SUCCESS',
    amount: 8_500 + (i % 1_000) - (planted === 'less' ? 1 : 0),
    currency: 'NGN',
    customer: { email: `shopper-${i}@example.com` },
    createdAt: at,
    paidAt: at,
    mode: 'test',
  };
}

async function serve(): Promise<void> {
  const spread = JSON.parse(process.env.SPREAD ?? '') as Spread;
  const { count, plantedEvery: every } = spread;
  const row = (index: number) => {
    const i = count - index;
    const isPlanted = every > 0 && i % every === 0;
    return recordOf(i, spread, isPlanted ? ((i / every) % 2 === 0 ? 'less' : 'stranger') : null);
  };
  const verify = (reference: string) => {
    const i = Math.imul(Number(reference.slice(0, 10)), UNMIX) >>> 0;
    return reference.endsWith(TAIL) && i >= 1 && i <= count ? recordOf(i, spread) : undefined;
  };
  await startListService({ rows: { count, row }, pageSize: PAGE_SIZE, verify, port: Number(process.env.PORT) });
}

if (isMain(import.meta.url)) await serve();
