import { beforeEach, describe, expect, test } from '@jest/globals';
import { Writable } from 'node:stream';
import { createBackoff, ENDPOINTS, type Pauses } from '../../src/gateway/traffic/backoff.ts';
import { createLogger } from '../../src/platform/logger.ts';

const START = new Date('2026-03-01T12:00:00Z');
let nowMs = 0;
let lines: string[];
let pauses: Pauses;
beforeEach(() => {
  nowMs = 0;
  lines = [];
  const clock = { now: () => new Date(START.getTime() + nowMs), elapsedMs: () => nowMs };
  const destination = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString());
      done();
    },
  });
  pauses = createBackoff({ clock, logger: createLogger('warn', destination) });
});

const note = (status: number, retryAfter?: string | string[]): void => {
  pauses.note('verify', { status, headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter } });
};
const pauseSec = (): number => pauses.remainingMs('verify') / 1_000;

describe.each([429, 503])('%i with a time', (status) => {
  test.each([
    ['seconds', '7', 7],
    ['a date', new Date(START.getTime() + 90_000).toUTCString(), 90],
    ['exactly an hour', '3600', 3_600],
    ['more than an hour', '1000000000', 3_600],
    ['a date in a year', new Date(START.getTime() + 365 * 86_400_000).toUTCString(), 3_600],
  ])('%s', (_name, header, sec) => {
    note(status, header);
    expect(pauseSec()).toBe(sec);
    nowMs += sec * 1_000 - 1;
    expect(pauseSec()).toBeGreaterThan(0);
    nowMs += 1;
    expect(pauseSec()).toBe(0);
  });
});

const JUNK: (string | string[])[] = [
  '-5',
  'soon',
  '0',
  '',
  '1.5',
  '5, 7',
  ['5', '7'],
  START.toUTCString(),
  'Sun, 99 Foo',
];

test.each(JUNK)(
  'a time that is none (%j) is ignored: 503 pauses nothing, 429 takes the pause of its own',
  (header) => {
    note(503, header);
    expect(pauseSec()).toBe(0);
    note(429, header);
    expect(pauseSec()).toBe(1);
  },
);

test('429 without a time: a second, twice as long each time, half a minute at most, and an answer ends it', () => {
  const seen = Array.from({ length: 7 }, () => {
    note(429);
    const sec = pauseSec();
    nowMs += sec * 1_000;
    return sec;
  });
  expect(seen).toEqual([1, 2, 4, 8, 16, 30, 30]);
  note(200);
  note(429);
  expect(pauseSec()).toBe(1);
});

test('calls that were on their way and hear the same make the pause no longer', () => {
  for (let call = 0; call < 30; call += 1) note(429);
  expect(pauseSec()).toBe(1);
});

test('a shorter time that comes later takes nothing back', () => {
  note(429, '60');
  note(429, '2');
  expect(pauseSec()).toBe(60);
});

test('only the kind of call that was told to wait waits', () => {
  note(429, '60');
  expect(ENDPOINTS.filter((endpoint) => pauses.remainingMs(endpoint) > 0)).toEqual(['verify']);
});

test('more than an hour is worth one line, however many calls hear it', () => {
  for (let call = 0; call < 30; call += 1) note(429, '1000000000');
  note(429, '7');
  note(429, '1000000000');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('Retry-After above one hour');
  nowMs += 3_600_000;
  note(429, '1000000000');
  expect(lines).toHaveLength(2);
});

test('an hour or less is worth none', () => {
  note(429, '3600');
  expect(lines).toHaveLength(0);
});
