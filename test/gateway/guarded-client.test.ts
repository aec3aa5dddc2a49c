import { afterEach, describe, expect, test } from '@jest/globals';
import type { RequestListener, ServerResponse } from 'node:http';
import { GatewayNotAsked, GatewayUnavailable } from '../../src/gateway/errors.ts';
import { readHistory } from '../../src/gateway/history/history.ts';
import type { Urgency } from '../../src/gateway/traffic/rate-limiter.ts';
import type { VerifyDeadline } from '../../src/gateway/verify.ts';
import { defaultDialect } from '../support/dialect.ts';
import { asReference } from '../support/ids.ts';
import { hangUp, json, raw, startOddService, type OddService } from '../support/service.ts';

let service: OddService;
afterEach(() => service.close());

async function start(budget: { callsPerSecond?: number; concurrency?: number }): Promise<void> {
  service = await startOddService(defaultDialect, budget);
}

/** The same with a clock that stands still, and a way to move it: no pause ends while a busy machine takes its time. */
async function startInStillTime(
  budget: { callsPerSecond?: number; concurrency?: number } = {},
): Promise<{ later(ms: number): void }> {
  let nowMs = 1_000_000;
  const clock = { now: () => new Date(), elapsedMs: () => nowMs };
  service = await startOddService(defaultDialect, budget, clock);
  return { later: (ms) => (nowMs += ms) };
}
const verify = (name: string, urgency: Urgency = 'background', deadline?: VerifyDeadline): Promise<unknown> =>
  service.gateway.verify(asReference(name), 'NGN', urgency, deadline).catch((error: unknown) => error);
const initialize = () =>
  service.gateway.initialize({
    email: 'ada@example.com',
    money: { amount: 2_500n, currency: 'NGN' },
    reference: asReference('R'.repeat(24)),
    redirectUrl: 'http://localhost:3000/checkout/return/R',
  });
const times = (count: number, act: () => Promise<unknown>): Promise<unknown[]> =>
  Promise.all(Array.from({ length: count }, act));
const asked = (): string[] => service.requests.map(({ url }) => url.split('/').at(-1) ?? '');

/** Takes requests and answers none until `answerAll`. */
function holding(): { answer: RequestListener; answerAll: () => void } {
  const held: (() => void)[] = [];
  return {
    answer: (req, res) =>
      held.push(() => {
        json({}, 404)(req, res);
      }),
    answerAll: () => {
      held.splice(0).forEach((answer) => {
        answer();
      });
    },
  };
}

async function until(look: () => boolean): Promise<void> {
  while (!look()) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('a burst goes out as the budget allows, all kinds of calls together', async () => {
  await start({ callsPerSecond: 20, concurrency: 50 });
  service.answer = json({}, 404);
  const startedAtMs = performance.now();
  await Promise.all([times(15, () => verify('V')), times(15, initialize)]);
  expect(service.requests).toHaveLength(30);
  // Twenty at once, and ten more take half a second.
  expect(performance.now() - startedAtMs).toBeGreaterThan(450);
});

test('no more calls are in flight than agreed, and shoppers are next', async () => {
  await start({ concurrency: 2 });
  const { answer, answerAll } = holding();
  service.answer = answer;
  const all = [initialize(), verify('first', 'person-waits'), verify('third'), initialize()];
  all.push(
    service.gateway.verify(asReference('hinted'), 'NGN', 'webhook'),
    verify('returned', 'person-waits'),
  );
  await until(() => service.requests.length >= 2);
  expect(asked()).toEqual(['initialize', 'first']);
  answerAll();
  await until(() => service.requests.length === 4);
  expect(asked().slice(2).sort()).toEqual(['initialize', 'returned']);
  service.answer = json({}, 404);
  answerAll();
  await Promise.all(all);
  expect(asked().slice(4)).toEqual(['hinted', 'third']);
});

test('B1: a service that takes fewer calls than our budget is asked at a slower pace', async () => {
  await start({ callsPerSecond: 20, concurrency: 50 });
  service.answer = (_req, res) => res.writeHead(429, { 'retry-after': '1' }).end();
  await verify('V');
  service.answer = json({}, 404);
  const startedAtMs = performance.now();
  // Paused is verify alone. Of what was saved half is left, and ten more come at ten a second.
  await times(20, initialize);
  expect(performance.now() - startedAtMs).toBeGreaterThan(850);
});

test('a history that streams holds nobody up, and the schedule leaves room for a shopper', async () => {
  await start({ concurrency: 1 });
  let end = (): void => undefined;
  service.answer = (_req, res) => {
    res.writeHead(200, { 'content-type': 'application/json' }).write('[');
    end = () => res.end(']');
  };
  const reading = readHistory(service.gateway.client, defaultDialect).next();
  await until(() => service.requests.length === 1);
  service.answer = json({ data: 'https://pay.example.com/c/1' });
  expect((await initialize()).outcome).toBe('opened');
  end();
  await reading;

  const { answer, answerAll } = holding();
  service.answer = answer;
  const checks = times(3, () => verify('due'));
  await until(() => service.requests.length === 3);
  service.answer = json({ data: 'https://pay.example.com/c/1' });
  expect((await initialize()).outcome).toBe('opened');
  service.answer = json({}, 404);
  answerAll();
  await checks;
});

describe('a wait for a turn ends', () => {
  const waiting = (signal?: AbortSignal): Promise<unknown> =>
    readHistory(service.gateway.client, defaultDialect, { signal })
      .next()
      .catch((error: unknown) => error);

  test('when its caller gives up: nothing was sent', async () => {
    await start({});
    service.answer = (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).write('[');
    const giveUp = new AbortController();
    const first = waiting(giveUp.signal);
    await until(() => service.requests.length === 1);
    const second = new AbortController();
    const blocked = waiting(second.signal);
    second.abort();
    expect(await blocked).toMatchObject({ reason: 'caller-gave-up' });
    giveUp.abort();
    await first;
    expect(service.requests).toHaveLength(1);
  });

  test('when the gateway closes: nothing was sent, and nothing is after that', async () => {
    await start({ concurrency: 1 });
    const { answer, answerAll } = holding();
    service.answer = answer;
    const first = verify('first', 'person-waits');
    await until(() => service.requests.length === 1);
    const blocked = verify('second', 'person-waits');
    const closed = service.gateway.close();
    expect(await blocked).toMatchObject({ reason: 'shutting-down' });
    expect(await initialize()).toMatchObject({ outcome: 'not-sent', reason: 'shutting-down' });
    answerAll();
    await Promise.all([first, closed]);
    expect(asked()).toEqual(['first']);
  });
});

/** One page of the history, asked for once: whoever reads a list asks again by itself. */
const PAGE = {
  method: 'GET',
  path: '/v1/transactions/history',
  headersMs: 5_000,
  totalMs: 10_000,
  maxBytes: 65_536,
} as const;
const history = (): Promise<unknown> => service.gateway.client.call(PAGE).catch((error: unknown) => error);

describe('what the service asked to be left alone with', () => {
  test.each([429, 503])('is not sent before its time, and callers learn when that is: %i', async (status) => {
    const { later } = await startInStillTime();
    service.answer = raw('', status, { 'retry-after': '1' });
    await Promise.all([initialize(), verify('V'), history()]);
    later(999);
    service.answer = json({ data: 'https://pay.example.com/c/1' });
    const told = { reason: 'service-asked-to-wait', retryAfterSec: 1 };
    expect(await initialize()).toMatchObject({ outcome: 'not-sent', ...told });
    expect(await verify('V', 'person-waits')).toMatchObject(told);
    expect(await history()).toMatchObject(told);
    expect(service.requests).toHaveLength(3);
    later(1);
    expect((await initialize()).outcome).toBe('opened');
    expect(service.requests).toHaveLength(4);
  });

  test('holds up no call of another kind', async () => {
    await start({});
    service.answer = raw('', 429, { 'retry-after': '60' });
    await verify('V');
    service.answer = json({ data: 'https://pay.example.com/c/1' });
    expect((await initialize()).outcome).toBe('opened');
  });

  test('holds back who was waiting for a turn when it was said', async () => {
    await start({ concurrency: 1 });
    service.answer = raw('', 429, { 'retry-after': '60' });
    await times(10, () => verify('V', 'person-waits'));
    expect(service.requests).toHaveLength(1);
  });
});

describe('a history that breaks off in its body counts as a failure', () => {
  const read = async (signal?: AbortSignal): Promise<void> => {
    const { body } = await service.gateway.client.stream({ ...PAGE, ...(signal && { signal }) });
    for await (const chunk of body) expect(chunk.length).toBeGreaterThan(0);
  };
  const begin =
    (act: (res: ServerResponse) => void): RequestListener =>
    (_req, res) => {
      res.writeHead(200, { 'content-type': 'application/json' }).write('[');
      setTimeout(() => {
        act(res);
      }, 5);
    };

  test('when the connection is cut', async () => {
    await start({});
    service.answer = begin((res) => res.destroy());
    for (let run = 0; run < 20; run += 1) await read().catch(() => undefined);
    expect(await initialize()).toMatchObject({ outcome: 'not-sent', reason: 'service-is-failing' });
  });

  test('when it stands still, five times in a row', async () => {
    await start({});
    service.answer = begin(() => undefined);
    for (let run = 0; run < 5; run += 1) await read(AbortSignal.timeout(50)).catch(() => undefined);
    expect(await initialize()).toMatchObject({ outcome: 'not-sent', reason: 'service-is-failing' });
  });

  test('but not when we leave it ourselves', async () => {
    await start({});
    for (let run = 0; run < 30; run += 1) {
      const giveUp = new AbortController();
      service.answer = begin(() => {
        giveUp.abort();
      });
      await read(giveUp.signal).catch(() => undefined);
    }
    service.answer = json({ data: 'https://pay.example.com/c/1' });
    expect((await initialize()).outcome).toBe('opened');
  });
});

test('what finds no turn in time was not sent, and says so', async () => {
  await start({ concurrency: 1 });
  const { answer, answerAll } = holding();
  service.answer = answer;
  let isFirstOver = false;
  const first = verify('first', 'person-waits').finally(() => (isFirstOver = true));
  const [opened, returned] = await Promise.all([initialize(), verify('returned', 'person-waits')]);
  // Two seconds for a turn, four for an answer.
  expect(isFirstOver).toBe(false);
  expect(opened).toMatchObject({ outcome: 'not-sent', reason: 'budget-exhausted' });
  expect(returned).toBeInstanceOf(GatewayUnavailable);
  answerAll();
  await first;
  expect(asked()).toEqual(['first']);
});

test('a history that is not read to its end gives its place back', async () => {
  await start({ concurrency: 1 });
  service.answer = raw('', 500);
  for (let run = 0; run < 3; run += 1) {
    const reading = readHistory(service.gateway.client, defaultDialect);
    expect((await reading.next()).value).toMatchObject({ isPageAgain: true });
    await reading.return();
  }
  service.answer = json({ data: [{ reference: 'R', status: 'SUCCESS', amount: 1, currency: 'NGN' }] });
  for await (const { rows } of readHistory(service.gateway.client, defaultDialect)) {
    if (rows.length > 0) break;
  }
  service.answer = json({}, 404);
  expect(await verify('after', 'person-waits')).toMatchObject({ kind: 'not-found' });
});

test('a service that fails is left alone: nothing is sent, and callers learn when to ask again', async () => {
  const { later } = await startInStillTime({ callsPerSecond: 60 });
  service.answer = raw('', 503);
  await times(20, () => verify('V'));
  // Nobody waits for a turn only to be refused: while time stands still, no turn comes.
  const refusals = await times(30, initialize);
  expect(refusals).toEqual(refusals.map(() => expect.objectContaining({ reason: 'service-is-failing' })));
  later(1_000);
  const opened = await initialize();
  expect(opened).toMatchObject({ outcome: 'not-sent', reason: 'service-is-failing' });
  expect(opened).toHaveProperty('retryAfterSec', expect.any(Number));
  const refused = await verify('V');
  expect(refused).toBeInstanceOf(GatewayNotAsked);
  const { retryAfterSec } = refused as GatewayNotAsked;
  expect(retryAfterSec).toBe(19);
  expect(await history()).toBeInstanceOf(GatewayNotAsked);
  expect(service.requests).toHaveLength(20);
});

test('calls that wait for their turn when the service is found failing are not sent', async () => {
  await start({ concurrency: 1 });
  service.answer = hangUp;
  await times(40, () => verify('V'));
  expect(service.requests).toHaveLength(20);
});

test.each<[string, RequestListener]>([
  ['no headers', () => undefined],
  [
    'a body that never ends',
    (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).write(' '),
  ],
])('five time-outs in a row are enough: %s', async (_name, answer) => {
  await start({});
  service.answer = answer;
  for (let call = 0; call < 5; call += 1) await verify('V', 'background', { headersMs: 50, totalMs: 100 });
  expect(await initialize()).toMatchObject({ outcome: 'not-sent', reason: 'service-is-failing' });
});

test.each<[string, RequestListener]>([
  ['a refused key', raw('', 401)],
  ['an unknown payment', json({}, 404)],
  ['too many calls', raw('', 429, { 'retry-after': '1' })],
  ['a page in place of an answer', raw('<html>')],
  ['an answer that is too large', raw('x'.repeat(300_000))],
])('an answer that is no failure of the service closes nothing: %s', async (_name, answer) => {
  await start({});
  service.answer = answer;
  await times(30, () => verify('V'));
  service.answer = json({ data: 'https://pay.example.com/c/1' });
  expect((await initialize()).outcome).toBe('opened');
});
