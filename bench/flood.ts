import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { benchHintFlood } from './flood-hints.ts';
import { startFlood } from './flood-process.ts';
import type { Row } from './row.ts';
import { onStage } from './shop/surroundings.ts';
import { BASKET } from './shop/turn.ts';
import type { Contestant } from './shop/contestants.ts';

const PER_SECOND = 2_000;
const HONEST_PER_SECOND = 50;
/** Neither is measured while its code is compiled: a server that has just started stalls once for some 0.4 s under either. */
const WARM_UP_SEC = 5;

/**
 * Forged webhooks, 2,000 a second, beside honest shoppers, 50 checkouts a second: what does the shopper who waits
 * longest notice, and does anybody ask the service about what was forged? Half of them name payments that are open.
 * @param argv `--seconds 30`; `--unsigned`: no secret is set, so that no signature tells them apart; `--hints`: another
 *   flood, of hints that are true, see {@link benchHintFlood}
 */
export async function benchFlood(argv: string[]): Promise<Row[]> {
  const { values } = parseArgs({
    args: argv,
    options: {
      seconds: { type: 'string', default: '30' },
      unsigned: { type: 'boolean', default: false },
      hints: { type: 'boolean', default: false },
    },
  });
  if (values.hints) return benchHintFlood();
  const seconds = Number(values.seconds);
  if (!(seconds > 0)) throw new RangeError('npm run bench -- flood [--seconds 30] [--unsigned | --hints]');
  const rows: Row[] = [];
  await onStage(async (stage) => {
    const one = await stage.startIntegrator(values.unsigned ? { env: { WEBHOOK_SECRETS: '' } } : {});
    await shopHonestly(one, WARM_UP_SEC);
    const quiet = await shopHonestly(one, seconds);
    const flood = await startFlood(one.origin, 'forged', PER_SECOND, quiet.references.slice(-100));
    await shopHonestly(one, WARM_UP_SEC);
    const flooded = await shopHonestly(one, seconds);
    const sent = await flood.stop();
    // A question that was only put off would be asked by now.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const [asked] = await one.query<{ count: number }>(
      `SELECT count(*)::int FROM payments WHERE last_hinted_at IS NOT NULL`,
    );
    rows.push({
      what: `${sent.perSecond.toFixed(0)} forged webhooks a second for ${seconds} s${values.unsigned ? ', nothing is signed' : ''}: answers`,
      ours: sent.answers,
    });
    rows.push({
      what: '… payments that the service was asked about for it',
      ours: String(asked?.count),
      wanted: values.unsigned ? 'one per named payment at most' : '0',
    });
    const ratio = flooded.p99Ms / quiet.p99Ms;
    rows.push({
      what: `… p99 of ${HONEST_PER_SECOND} honest checkouts a second`,
      ours: `${flooded.p99Ms.toFixed(1)} ms, quiet ${quiet.p99Ms.toFixed(1)} ms`,
      ratio: ratio.toFixed(2),
      wanted: 'at most 2.0 times',
    });
  });
  return rows;
}

/** Evenly, and not slower because an answer is late: what waits is counted as waiting. */
async function shopHonestly(
  { origin }: Contestant,
  seconds: number,
): Promise<{ p99Ms: number; references: string[] }> {
  const pool = new Pool(origin, { connections: 100, pipelining: 1 });
  const times: number[] = [];
  const references: string[] = [];
  const startMs = performance.now();
  async function buy(at: number): Promise<void> {
    const dueMs = startMs + (at * 1_000) / HONEST_PER_SECOND;
    await new Promise((resolve) => setTimeout(resolve, dueMs - performance.now()));
    const headers = { 'content-type': 'application/json' };
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: '/checkout',
      body: BASKET,
      headers,
    });
    const answer = (await body.json()) as { reference: string };
    if (statusCode !== 201) throw new Error(`an honest checkout was answered ${statusCode}`);
    times.push(performance.now() - dueMs);
    references.push(answer.reference);
  }
  await Promise.all(Array.from({ length: seconds * HONEST_PER_SECOND }, (_none, at) => buy(at)));
  await pool.close();
  times.sort((a, b) => a - b);
  return { p99Ms: times[Math.floor(times.length * 0.99)] ?? 0, references };
}
