import { expect, test } from '@jest/globals';
import { UsageError, windowOf } from '../../src/commands/arguments.ts';

const iso = (since?: string, until?: string): (string | undefined)[] => {
  const window = windowOf(since, until);
  return [window.since?.toISOString(), window.until?.toISOString()];
};

test('G13: a window is what it says on every machine', () => {
  expect(iso()).toEqual([undefined, undefined]);
  expect(iso('2026-01-31T00:00:00Z')).toEqual(['2026-01-31T00:00:00.000Z', undefined]);
  expect(iso('2026-01-31T00:00+01:00', '2026-02-01T12:30:01.5-05:00')).toEqual([
    '2026-01-30T23:00:00.000Z',
    '2026-02-01T17:30:01.500Z',
  ]);
  expect(iso('2024-02-29', '2024-03-01')).toEqual(['2024-02-29T00:00:00.000Z', '2024-03-01T00:00:00.000Z']);
});

test.each([
  ['2026-01-31T00:00:00', undefined, 'type --since 2026-01-31T00:00:00Z'],
  [undefined, '2026-01-31T10:00', 'type --until 2026-01-31T10:00Z'],
  ['2026-02-30', undefined, 'no time of the calendar'],
  ['2026-02-30T10:00:00Z', undefined, 'no time of the calendar'],
  ['2025-02-29T10:00:00+01:00', undefined, 'no time of the calendar'],
  ['2026-13-01', undefined, 'no time of the calendar'],
  ['2026-01-31T25:00:00Z', undefined, 'no time of the calendar'],
  ['2026-01-31 10:00', undefined, 'like 2026-01-31T00:00:00Z'],
  ['01/02/2026', undefined, 'like 2026-01-31T00:00:00Z'],
  ['5', undefined, 'like 2026-01-31T00:00:00Z'],
  ['', undefined, 'like 2026-01-31T00:00:00Z'],
  ['2026-02-01', '2026-01-01', 'type --since 2026-01-01 --until 2026-02-01'],
  ['2026-02-01T00:00:00Z', '2026-02-01T01:00:00+01:00', '--since must lie before --until'],
])('G13: %s to %s is refused', (since, until, says) => {
  expect(() => windowOf(since, until)).toThrow(UsageError);
  expect(() => windowOf(since, until)).toThrow(says);
});
