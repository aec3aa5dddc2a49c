/**
 * A process: so many webhooks or returns a second until its standard input ends; then says how many, and what was answered.
 * An empty line tells that all connections are open and the first ones were answered.
 */
import { randomBytes } from 'node:crypto';
import { Pool, type Dispatcher } from 'undici';

const [origin = '', kind = 'forged', perSecond = '2000', named = ''] = process.argv.slice(2);
const references = named.split(',').filter((each) => each !== '');
const TICK_MS = 10;
const RETURNING_FROM = 12;
const pool = new Pool(origin, { connections: 64, pipelining: 1 });
const answers = new Map<number, number>();
let sent = 0;

async function forge(): Promise<void> {
  const isNamed = kind !== 'forged' || sent % 2 === 0;
  const reference = isNamed ? references[sent % references.length] : randomBytes(12).toString('hex');
  // The server trusts this header from its own machine: one address sends webhooks, twelve come back.
  const address = `198.51.100.${kind === 'return' ? (sent % RETURNING_FROM) + 1 : 1}`;
  sent += 1;
  if (kind === 'return') {
    const path = `/checkout/return/${reference ?? ''}`;
    count(await pool.request({ method: 'GET', path, headers: { 'x-forwarded-for': address } }));
    return;
  }
  const body = JSON.stringify({ event: 'transaction.success', data: { reference, status: 'SUCCESS' }, sent });
  const headers = {
    'content-type': 'application/json',
    'x-signature': '0'.repeat(64),
    ...(kind === 'webhook' && { 'x-forwarded-for': address }),
  };
  count(await pool.request({ method: 'POST', path: '/webhooks/payments', body, headers }));
}

function count({ statusCode, body }: Dispatcher.ResponseData): void {
  answers.set(statusCode, (answers.get(statusCode) ?? 0) + 1);
  void body.dump();
}

await Promise.all(Array.from({ length: kind === 'forged' ? 64 : 1 }, forge));
sent = 0;
answers.clear();
process.stdout.write('\n');

const startMs = performance.now();
const flight = new Set<Promise<void>>();
const timer = setInterval(() => {
  const wanted = Math.floor(((performance.now() - startMs) * Number(perSecond)) / 1_000);
  while (sent < wanted) {
    const one = forge().finally(() => flight.delete(one));
    flight.add(one);
  }
}, TICK_MS);
process.stdin.resume().once('end', () => {
  clearInterval(timer);
  const seconds = (performance.now() - startMs) / 1_000;
  void Promise.all(flight).then(async () => {
    await pool.close();
    const words = [...answers].map(([status, count]) => `${count} × ${status}`).join(', ');
    process.stdout.write(JSON.stringify({ perSecond: sent / seconds, answers: words }));
  });
});
