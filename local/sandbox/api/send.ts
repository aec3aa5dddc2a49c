import type { Response } from 'express';

import { sleep } from '../../../src/platform/clock.ts';
import type { Way } from '../faults/fault.ts';
import type { Answer } from './answer.ts';

/** Longer than an integrator waits for a whole answer. */
const SLOW_MS = 60_000;
const DRIP_MS = 250;

/** Sends an answer in its way. Stops when the caller has gone. */
export async function send(res: Response, answer: Answer, way: Way = 'at once'): Promise<void> {
  const { status, body, type = 'json', headers = {} } = answer;
  const gone = new AbortController();
  res.once('close', () => {
    gone.abort();
  });
  res.status(status).set(headers).type(type);
  if (way === 'slowly') await sleep(SLOW_MS, gone.signal);
  if (gone.signal.aborted) return;
  if (way === 'byte by byte') await drip(res, Buffer.from(body), gone.signal);
  else if (way === 'cut off') cut(res, Buffer.from(body));
  else res.send(body);
}

async function drip(res: Response, body: Buffer, gone: AbortSignal): Promise<void> {
  res.set('content-length', String(body.length));
  for (const byte of body) {
    if (gone.aborted) return;
    res.write(Buffer.of(byte));
    await sleep(DRIP_MS, gone);
  }
  res.end();
}

function cut(res: Response, body: Buffer): void {
  res.set('content-length', String(body.length));
  res.write(body.subarray(0, Math.ceil(body.length / 2)), () => {
    res.destroy();
  });
}
