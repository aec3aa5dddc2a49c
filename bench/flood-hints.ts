import { Pool } from 'undici';
import { startFlood, type FloodKind } from './flood-process.ts';
import { median, type Row } from './row.ts';
import type { Contestant } from './shop/contestants.ts';
import { onStage, type Stage } from './shop/surroundings.ts';
import { BASKET } from './shop/turn.ts';

const REFERENCES = 600;
/** Honest ones, five a second, quiet and flooded alike. */
const CHECKOUTS = 50;
const PATIENCE_MS = 60_000;
/** The flood has filled every queue by now. */
const WARM_UP_MS = 5_000;

/** What a stranger does, at how many a second, and how many calls a second the service takes. */
type Flood = { what: string; kind: FloodKind; perSecond: number; calls: number };
const FLOODS: readonly Flood[] = [
  { what: '60 true webhooks a second from one address', kind: 'webhook', perSecond: 60, calls: 50 },
  { what: '60 returns a second from 12 addresses', kind: 'return', perSecond: 60, calls: 50 },
  { what: '40 true webhooks a second, a service of 20 calls', kind: 'webhook', perSecond: 40, calls: 20 },
];

/**
 * Hints at payments that exist, from strangers who opened them: what do honest checkouts notice, and how long does an
 * honest payment wait for its confirmation, by webhook and by return?
 */
export async function benchHintFlood(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const flood of FLOODS)
    await onStage(async (stage) => void rows.push(...(await measure(stage, flood))));
  return rows;
}

async function measure(stage: Stage, { what, kind, perSecond, calls }: Flood): Promise<Row[]> {
  const env = { GATEWAY_CALLS_PER_SECOND: String(calls), WEBHOOK_SECRETS: '' };
  const one = await stage.startIntegrator({ env });
  const theirs = await openMany(one, calls);
  const quiet = await shop(one);
  const flood = await startFlood(one.origin, kind, perSecond, theirs);
  await sleep(WARM_UP_MS);
  const flooded = await shop(one);
  const byWebhook = await confirmMs(stage, one, 'webhook');
  const byReturn = await confirmMs(stage, one, 'return');
  const { answers } = await flood.stop();
  return [
    {
      what: `${what}: honest checkouts`,
      ours: `${flooded.opened} of ${CHECKOUTS}`,
      wanted: 'all',
    },
    {
      what: '… their p99 (and median)',
      ours: `${times(flooded)} ms, quiet ${times(quiet)} ms`,
      ratio: (flooded.p99Ms / quiet.p99Ms).toFixed(2),
      wanted: 'at most 2.0 times',
    },
    {
      what: '… an honest payment is confirmed',
      ours: `${seconds(byWebhook)} by webhook, ${seconds(byReturn)} by return`,
      wanted: 'within 5 s',
    },
    { what: '… answers to the flood', ours: answers },
  ];
}

/** Slower than the budget, so that none waits. */
async function openMany({ origin }: Contestant, calls: number): Promise<string[]> {
  const pool = new Pool(origin, { connections: 20 });
  const references: string[] = [];
  for (let at = 0; at < REFERENCES; at += 1) {
    references.push((await checkOut(pool)).reference ?? '');
    await sleep(1_000 / calls);
  }
  await pool.close();
  return references;
}

type Opened = { status: number; ms: number; reference?: string | undefined };
async function checkOut(pool: Pool): Promise<Opened> {
  const startMs = performance.now();
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.7' };
  const answer = await pool.request({ method: 'POST', path: '/checkout', body: BASKET, headers });
  const { reference } = (await answer.body.json()) as { reference?: string };
  return { status: answer.statusCode, ms: performance.now() - startMs, reference };
}

/** Up to five honest checkouts a second. */
async function shop({ origin }: Contestant): Promise<{ opened: number; p50Ms: number; p99Ms: number }> {
  const pool = new Pool(origin, { connections: 10 });
  const all: Opened[] = [];
  for (let at = 0; at < CHECKOUTS; at += 1) {
    const [one] = await Promise.all([checkOut(pool), sleep(200)]);
    all.push(one);
  }
  await pool.close();
  const times = all.map(({ ms }) => ms).sort((a, b) => a - b);
  return {
    opened: all.filter(({ status }) => status === 201).length,
    p50Ms: median(times),
    p99Ms: times[Math.ceil(times.length * 0.99) - 1] ?? 0,
  };
}

/** A shopper pays on the hosted page after a while, and one hint follows. @returns null: not confirmed in a minute */
async function confirmMs({ standIn }: Stage, one: Contestant, kind: FloodKind): Promise<number | null> {
  const pool = new Pool(one.origin, { connections: 4 });
  const { reference = '' } = await checkOut(pool);
  await sleep(1_000);
  await standIn.pay([reference]);
  const startMs = performance.now();
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.8' };
  const answer = await pool.request(
    kind === 'return'
      ? { method: 'GET', path: `/checkout/return/${reference}`, headers }
      : {
          method: 'POST',
          path: '/webhooks/payments',
          body: JSON.stringify({ data: { reference } }),
          headers,
        },
  );
  await answer.body.dump();
  const isPaid = `SELECT FROM payments WHERE reference = '${reference}' AND status = 'paid'`;
  while ((await one.query(isPaid)).length === 0 && performance.now() - startMs < PATIENCE_MS) await sleep(10);
  await pool.close();
  const ms = performance.now() - startMs;
  return ms < PATIENCE_MS ? ms : null;
}

function times({ p50Ms, p99Ms }: { p50Ms: number; p99Ms: number }): string {
  return `${p99Ms.toFixed(1)} (${p50Ms.toFixed(1)})`;
}

function seconds(ms: number | null): string {
  return ms === null ? 'not in a minute' : `${(ms / 1_000).toFixed(2)} s`;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
