import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient, type Client } from '../../src/gateway/http/client.ts';
import { parseDialect, type Dialect } from '../../src/gateway/dialect/dialect.ts';
import { GatewayUnavailable } from '../../src/gateway/errors.ts';
import {
  reachOf,
  windowsToAsk,
  type AskedWindow,
  type HistoryWindow,
} from '../../src/gateway/history/windows.ts';
import { readHistory, type HistoryCheckpoint, type HistoryEnd } from '../../src/gateway/history/history.ts';
import { SecretKey } from '../../src/gateway/secret-key.ts';
import { someOf } from '../support/extent.ts';

const DAY_MS = 86_400_000;
const since = new Date('2026-01-10T00:00:00Z');
const until = new Date('2026-07-20T12:00:00Z');

/** How a service reads the two ends of a window. */
type Edges = (at: number, from: number, to: number) => boolean;
const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);
const EDGES: [string, Edges][] = [
  ['both ends included', (at, from, to) => at >= from && at <= to],
  ['only the first included', (at, from, to) => at >= from && at < to],
  ['neither included', (at, from, to) => at > from && at < to],
  ['by days, both included', (at, from, to) => dayOf(at) >= dayOf(from) && dayOf(at) <= dayOf(to)],
  ['by days, neither included', (at, from, to) => dayOf(at) > dayOf(from) && dayOf(at) < dayOf(to)],
];

const pagingOf = (paging: object) =>
  parseDialect(JSON.stringify({ history: { paging: { style: 'page', ...paging } } })).dialect.history.paging;

describe('how far beyond a window its list reaches', () => {
  const [BY_TIME, HOURS] = [{ sinceParam: 'from', untilParam: 'to' }, 3_600_000];

  test.each([
    ['a filter by time', BY_TIME, 24 * HOURS, 24 * HOURS],
    ['a filter by time, from where on', { sinceParam: 'from' }, 24 * HOURS, null],
    ['a filter by date', { ...BY_TIME, windowFormat: 'date' }, 48 * HOURS, 48 * HOURS],
    ['the newest first', { newestFirstBy: '/at' }, HOURS / 4, null],
    ['the newest first, and a filter', { ...BY_TIME, newestFirstBy: '/at' }, HOURS / 4, 24 * HOURS],
    ['neither', {}, null, null],
  ])('%s', (_name, paging, beforeMs, afterMs) => {
    expect(reachOf(pagingOf(paging))).toEqual({ beforeMs, afterMs });
  });

  test('is what the service is asked for', () => {
    const window: HistoryWindow = { since, until };
    for (const paging of [pagingOf(BY_TIME), pagingOf({ ...BY_TIME, windowFormat: 'date' })]) {
      const { beforeMs, afterMs } = reachOf(paging);
      const textOf = (ms: number): string =>
        new Date(ms).toISOString().slice(0, paging.windowFormat === 'date' ? 10 : undefined);
      expect(windowsToAsk(paging, window)).toEqual([
        {
          since: textOf(since.getTime() - (beforeMs ?? NaN)),
          until: textOf(until.getTime() + (afterMs ?? NaN)),
        },
      ]);
    }
  });
});

let server: Server;
let client: Client;
let asked: { from: number; to: number; page: number }[];
/** When each transaction was created. */
let created: number[];
let edges: Edges;
/** Takes dates only, and its days begin so much before ours; null: takes moments. */
let zoneMs: number | null;
/** Answers a call instead of the usual way. */
let onCall: (call: number, res: ServerResponse) => boolean;

/** At most thirty days; `clamps`: more are silently left out, else they are refused. Pages of seven. */
function answer(query: URLSearchParams, res: ServerResponse, clamps: boolean): void {
  const from = Date.parse(query.get('from') ?? '');
  let to = Date.parse(query.get('to') ?? '');
  const page = Number(query.get('page') ?? '1');
  asked.push({ from, to, page });
  if (onCall(asked.length, res)) return;
  const isDate = /^\d{4}-\d\d-\d\d$/.test(`${query.get('from')}`);
  // Of dates both are counted.
  const isTooLong = to - from > (isDate ? 29 : 30) * DAY_MS;
  if ((isTooLong && !clamps) || isDate !== (zoneMs !== null)) {
    res.writeHead(400, { 'content-type': 'application/json' }).end('{"message":"at most 30 days"}');
    return;
  }
  to = Math.min(to, from + 30 * DAY_MS);
  const rows = created
    .map((at, index) => ({ at, index }))
    .filter(({ at }) => edges(zoneMs === null ? at : dayOf(at + zoneMs) * DAY_MS, from, to))
    .map(({ index }) => `{"reference":"${index}","status":"SUCCESS","amount":25.00,"currency":"NGN"}`);
  const data = rows.slice((page - 1) * 7, page * 7).join(',');
  res.writeHead(200, { 'content-type': 'application/json' });
  res.end(`{"data":[${data}],"hasNextPage":${rows.length > page * 7}}`);
}

let clamps = false;
beforeEach(async () => {
  [asked, created, clamps, zoneMs] = [[], [], false, null];
  edges = EDGES[1]?.[1] ?? (() => true);
  onCall = () => false;
  server = createServer((req, res) => {
    answer(new URL(req.url ?? '/', 'http://x').searchParams, res, clamps);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client = createClient(url, new SecretKey('sk_test_x'), 2);
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await client.close();
});

function dialectOf(more: object = {}): Dialect {
  const paging = { style: 'page', sinceParam: 'from', untilParam: 'to', windowDays: 30, ...more };
  return parseDialect(JSON.stringify({ history: { paging } })).dialect;
}
const dialect = dialectOf();
const { paging } = dialect.history;

type Read = { references: string[]; end: HistoryEnd | null; pages: number; marks: string[] };

async function read(from: HistoryCheckpoint | null = null, spoken = dialect): Promise<Read> {
  const seen: Read = { references: [], end: null, pages: 0, marks: [] };
  for await (const batch of readHistory(client, spoken, { since, until, from })) {
    seen.references.push(...batch.rows.map(({ reference }) => reference ?? ''));
    if (batch.checkpoint !== null) seen.marks.push(JSON.stringify(batch.checkpoint));
    ({ end: seen.end, pages: seen.pages } = batch);
  }
  return seen;
}

const all = (): string[] => created.map((_at, index) => String(index));
const sorted = (references: readonly string[]): string[] =>
  [...new Set(references)].sort((a, b) => Number(a) - Number(b));

/** Transactions at every edge of every window, a moment before and a moment after it, and in the middle. */
function atTheEdges(windows: readonly AskedWindow[]): number[] {
  const ends = windows
    .flatMap((window) => [window.since, window.until])
    .map((text) => Date.parse(text ?? ''));
  const wanted = ends.flatMap((at) => [at - 1, at, at + 1, at + 12 * 3_600_000]);
  return wanted.filter((at) => at >= since.getTime() && at < until.getTime());
}

describe('a service that answers for a month at a time is asked month after month', () => {
  test.each(EDGES)('and nothing at an edge is lost, with %s', async (_name, howEdgesAreRead) => {
    edges = howEdgesAreRead;
    created = atTheEdges(windowsToAsk(paging, { since, until }));
    expect(created.length).toBeGreaterThan(40);
    const { references, end } = await read();
    expect(end).toEqual({ complete: true });
    expect(sorted(references)).toEqual(all());
    expect(asked.every(({ from, to }) => to - from <= 30 * DAY_MS)).toBe(true);
  });

  test('newest first, with each page of each month, and what is asked for twice is a day', async () => {
    created = Array.from({ length: 380 }, (_, at) => since.getTime() + (at * DAY_MS) / 2);
    const { references, end, pages } = await read();
    expect({ end, pages }).toEqual({ end: { complete: true }, pages: asked.length });
    expect(sorted(references)).toEqual(all());
    const windows = asked.filter(({ page }) => page === 1);
    expect(windows).toHaveLength(7);
    // Two rows a day, and six edges.
    expect(references).toHaveLength(380 + 6 * 2);
    expect(windows.map(({ from }) => from)).toEqual(
      [...windows.map(({ from }) => from)].sort((a, b) => b - a),
    );
  });

  test('also where it clamps what is more, which one long window would not notice', async () => {
    clamps = true;
    created = Array.from({ length: 190 }, (_, at) => since.getTime() + at * DAY_MS);
    expect(sorted((await read()).references)).toEqual(all());
  });
});

const OF_DAYS = EDGES.slice(0, 3).flatMap(([name, how]) =>
  [-12, 14].map((hours): [string, number, Edges] => [name, hours, how]),
);

test.each(OF_DAYS)(
  'a service that takes dates without a time of day, with %s and %i hours from UTC: nothing is lost',
  async (_name, hours, how) => {
    [edges, zoneMs] = [how, hours * 3_600_000];
    created = Array.from({ length: 383 }, (_, at) => since.getTime() + (at * DAY_MS) / 2);
    const { references, end } = await read(null, dialectOf({ windowFormat: 'date' }));
    expect(end).toEqual({ complete: true });
    expect(sorted(references)).toEqual(all());
  },
);

describe('a month that fails', () => {
  beforeEach(() => {
    created = Array.from({ length: 380 }, (_, at) => since.getTime() + (at * DAY_MS) / 2);
  });

  test('is a reason to call nothing absent', async () => {
    onCall = (call, res) => {
      if (call < 15) return false;
      res.writeHead(422, { 'content-type': 'application/json' }).end('{}');
      return true;
    };
    const { end, references } = await read();
    expect(end).toEqual({ complete: false, reason: 'the service answers history with HTTP 422' });
    expect(references.length).toBeGreaterThan(60);
  });

  test('and does not come is gone on with by the next reading, which asks for nothing before it', async () => {
    const whole = await read();
    const count = asked.length;
    for (const failing of someOf([2, 10, 19], 2)) {
      asked = [];
      onCall = (call, res) => {
        if (call >= failing && call < failing + 3) res.destroy();
        return call >= failing && call < failing + 3;
      };
      const found: string[] = [];
      let mark = '';
      let kept = 0;
      const reading = (async () => {
        for await (const { rows, checkpoint } of readHistory(client, dialect, { since, until })) {
          found.push(...rows.map(({ reference }) => reference ?? ''));
          if (checkpoint === null) continue;
          mark = JSON.stringify(checkpoint);
          kept = found.length;
        }
      })();
      await expect(reading).rejects.toThrow(GatewayUnavailable);
      asked = [];
      onCall = () => false;
      const rest = await read(JSON.parse(mark) as HistoryCheckpoint);
      expect([...found.slice(0, kept), ...rest.references]).toEqual(whole.references);
      expect({ end: rest.end, pages: rest.pages }).toEqual({ end: whole.end, pages: whole.pages });
      expect(asked).toHaveLength(count - failing + 1);
    }
  }, 400_000);

  test('may be gone on with at the end of any page, by what a database has kept', async () => {
    const whole = await read();
    for (const [index, mark] of someOf([...whole.marks.entries()], 12)) {
      const rest = await read(JSON.parse(mark) as HistoryCheckpoint);
      expect(rest.references).toEqual(
        whole.references.slice(whole.references.length - rest.references.length),
      );
      expect(rest.marks).toEqual(whole.marks.slice(index + 1));
      expect(rest.end).toEqual(whole.end);
    }
  });
});

describe('the windows', () => {
  const clock = { now: () => new Date('2026-03-31T00:00:00Z'), elapsedMs: () => 0 };

  test('are one, as long as the dialect says, where a run names no beginning', () => {
    expect(windowsToAsk({ ...paging, windowDays: 30 }, {}, clock)).toEqual([
      { since: '2026-03-02T00:00:00.000Z', until: '2026-04-01T00:00:00.000Z' },
    ]);
  });

  test('are one, open where nothing is wanted, without days in the dialect', () => {
    expect(windowsToAsk({ ...paging, windowDays: null }, {}, clock)).toEqual([{ since: null, until: null }]);
    expect(windowsToAsk({ ...paging, windowDays: null }, { since: new Date('2026-02-02') }, clock)).toEqual([
      { since: '2026-02-01T00:00:00.000Z', until: null },
    ]);
  });

  test.each([1, 2, 3, 29, 365])(
    'of %i days cover what is wanted, each no longer, without a gap',
    (windowDays) => {
      const windows = windowsToAsk({ ...paging, windowDays }, { since, until }, clock);
      const ends = windows.map((window) => [Date.parse(window.since ?? ''), Date.parse(window.until ?? '')]);
      expect(ends[0]?.[1]).toBe(until.getTime() + DAY_MS);
      expect(ends.at(-1)?.[0]).toBe(since.getTime() - DAY_MS);
      for (const [at, [from = 0, to = 0]] of ends.entries()) {
        expect(to - from).toBeLessThanOrEqual(windowDays * DAY_MS);
        expect(to).toBeGreaterThan(from);
        if (at > 0) expect(to).toBeGreaterThan(ends[at - 1]?.[0] ?? 0);
      }
    },
  );
});
