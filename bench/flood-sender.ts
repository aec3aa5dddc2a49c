/**
 * A process: so many forged webhooks a second until its standard input ends; then says how many, and what was answered.
 * An empty line tells that all connections are open and the first ones were answered.
 */
import { randomBytes } from 'node:crypto';
import { Pool } from 'undici';

const [origin = '', perSecond = '2000', named = ''] = process.argv.slice(2);
const references = named.split(',').filter((each) => each !== '');
const TICK_MS = 10;
const pool = new Pool(origin, { connections: 64, pipelining: 1 });
const answers = new Map<number, number>();
let sent = 0;

async function forge(): Promise<void> {
  const reference = sent % 2 === 0 ? references[sent % references.length] : randomBytes(12).toString('hex');
  sent += 1;
  const body = JSON.stringify({ event: 'transaction.success', data: { reference, status: 'SUCCESS' }, sent });
  const headers = { 'content-type': 'application/json', 'x-signature': '0'.repeat(64) };
  const answer = await pool.request({ method: 'POST', path: '/webhooks/payments', body, headers });
  await answer.body.dump();
  answers.set(answer.statusCode, (answers.get(answer.statusCode) ?? 0) + 1);
}

await Promise.all(Array.from({ length: 64 }, forge));
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
