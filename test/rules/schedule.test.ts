import { expect, test } from '@jest/globals';
import { afterNotification, followUp, isOver, nextCheck } from '../../src/payments/schedule.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
const PLACED = new Date('2026-03-01T12:00:00Z');
const at = (sec: number): Date => new Date(PLACED.getTime() + sec * 1_000);
const ageOf = (time: Date | null): number | null => time && (time.getTime() - PLACED.getTime()) / 1_000;

test('a payment is verified less and less often, then daily, until it can no longer be paid', () => {
  const ages: (number | null)[] = [];
  for (let next = nextCheck(PLACED, PLACED, 3.5); next !== null; next = nextCheck(PLACED, next, 3.5))
    ages.push(ageOf(next));
  const early = [5, 15, 45, 120, 300, 900, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR];
  expect(ages).toEqual([...early, DAY, 2 * DAY, 3 * DAY, 3.5 * DAY]);
});

test.each([
  [4.5, 15],
  [5_000, 3 * HOUR],
  [29.5 * DAY, 30 * DAY],
  [30 * DAY, null],
])('if a payment may be paid for 30 days, the check after %d s is at %s', (age, next) => {
  expect(ageOf(nextCheck(PLACED, at(age), 30))).toBe(next);
  expect(isOver(PLACED, at(age), 30)).toBe(next === null);
});

test('if notifications reveal nothing new, the first three cause an immediate check, and later ones a check after growing pauses', () => {
  const quietChecks = [0, 1, 2, 3, 4, 5, 6, 60];
  const pauses = quietChecks.map((quiet) => ageOf(afterNotification(PLACED, quiet, PLACED)));
  expect(pauses).toEqual([0, 0, 0, 10, 60, 600, HOUR, HOUR]);
  for (const quiet of quietChecks) {
    expect(ageOf(afterNotification(PLACED, quiet, at(2 * HOUR)))).toBe(2 * HOUR);
    expect(ageOf(afterNotification(null, quiet, PLACED))).toBe(0);
  }
});

test('a notification that reveals nothing is followed up after 3, 10 and 30 seconds, but not if notifications repeat', () => {
  const ages = [0, 2, 4, 12, 30, 31].map((age) => ageOf(followUp(PLACED, 1, at(age))));
  expect(ages).toEqual([3, 3, 10, 30, null, null]);
  expect([0, 3, 4, 60].map((quiet) => ageOf(followUp(PLACED, quiet, PLACED)))).toEqual([3, 3, null, null]);
});

// A payment's check is late by this many seconds. The next check comes no earlier than after twice
// this delay.
test.each([
  ['a check in time', 300, 0, 900],
  ['a check that is 20 s late', 320, 20, 900],
  ['a check that is 200 s late: 4,000 payments at 20 a second', 500, 200, 900],
  ['a check that is 2,000 s late', 2_300, 2_000, 6_300],
  ['a check that is a day late waits for six hours at most', DAY + 300, DAY, 2 * DAY],
  ['a check that is a day late, shortly before the end of a day', 2 * DAY - 60, DAY, 2 * DAY + 6 * HOUR - 60],
  ['a late check before the last one', 30 * DAY - 60, DAY, 30 * DAY],
])('%s, at the age of %d s', (_name, age, delaySec, next) => {
  expect(ageOf(nextCheck(PLACED, at(age), 30, delaySec * 1_000))).toBe(next);
});
