import { Pool } from 'undici';

export type Load = { perSecond: number; p50Ms: number; p99Ms: number; errors: number; answers: string[] };

export type Request = {
  path: string;
  method?: 'GET' | 'POST';
  body?: string;
  headers?: Record<string, string>;
};

/**
 * So many clients, each sending its next request when the last one was answered, for `seconds`.
 * @param next the request to send; its answer counts as an error unless its status is below 400
 */
export async function press(
  origin: string,
  clients: number,
  seconds: number,
  next: () => Request | null,
): Promise<Load> {
  const pool = new Pool(origin, { connections: clients, pipelining: 1 });
  const times: number[] = [];
  const answers: string[] = [];
  let errors = 0;
  const startMs = performance.now();
  const untilMs = startMs + seconds * 1_000;
  async function client(): Promise<void> {
    while (performance.now() < untilMs) {
      const request = next();
      if (request === null) return;
      const sentMs = performance.now();
      const { statusCode, body } = await pool.request({
        method: request.method ?? 'POST',
        path: request.path,
        body: request.body ?? null,
        headers: { 'content-type': 'application/json', ...request.headers },
      });
      const text = await body.text();
      if (statusCode < 400) answers.push(text);
      else errors += 1;
      times.push(performance.now() - sentMs);
    }
  }
  await Promise.all(Array.from({ length: clients }, client));
  const tookSec = (performance.now() - startMs) / 1_000;
  await pool.close();
  times.sort((a, b) => a - b);
  const at = (share: number): number =>
    times[Math.min(Math.floor(times.length * share), times.length - 1)] ?? 0;
  return { perSecond: answers.length / tookSec, p50Ms: at(0.5), p99Ms: at(0.99), errors, answers };
}
