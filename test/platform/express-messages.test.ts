import type { IncomingMessage, ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';
import { createExpressMessages, listen, type RunningServer } from '../../src/platform/http-server.ts';

setFlagsFromString('--allow-natives-syntax');
const haveSameShape = runInThisContext('(one, other) => %HaveSameMap(one, other)') as (
  one: object,
  other: object,
) => boolean;

type Exchange = { req: IncomingMessage; res: ServerResponse };

const app = express();
/** Requests that have come as far as the route, and are answered two at a time. */
const waiting: Exchange[] = [];
const shapes: { req: boolean; res: boolean }[] = [];
let server: RunningServer;

app.use(express.json());
app.post('/here', (req, res) => {
  const other = waiting.pop();
  if (other === undefined) {
    waiting.push({ req, res });
    return;
  }
  shapes.push({ req: haveSameShape(other.req, req), res: haveSameShape(other.res, res) });
  for (const answer of [other.res, res]) (answer as typeof res).status(202).json({ by: req.app === app });
});

beforeAll(async () => {
  const messages = createExpressMessages();
  messages.adopt(app);
  server = await listen(app as never, '127.0.0.1', 0, messages);
});
afterAll(() => server.close());

async function ask(): Promise<unknown> {
  const address = `http://127.0.0.1:${server.port}/here`;
  const answer = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  return answer.json();
}

test('Express finds messages of one shape, and its application through them', async () => {
  // The first ones still teach V8 what such an object holds.
  for (let pair = 0; pair < 20; pair += 1)
    expect(await Promise.all([ask(), ask()])).toEqual([{ by: true }, { by: true }]);
  expect(shapes.slice(-5)).toEqual(Array.from({ length: 5 }, () => ({ req: true, res: true })));
});
