import { expect, test } from '@jest/globals';
import { createPoller } from '../../src/platform/poller.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { createGate } from '../support/gate.ts';
import { eventually } from '../support/program.ts';

const logger = createLogger('silent');

/** A queue in memory stands for the due rows; what is tested is the loop. */
function queue(rows: number[]) {
  return (limit: number): Promise<number[]> => Promise.resolve(rows.splice(0, limit));
}

test('a pass works on everything that is due, and says how much that was', async () => {
  const done: number[] = [];
  const rows = Array.from({ length: 10 }, (_value, at) => at);
  const work = (row: number): Promise<void> => Promise.resolve(void done.push(row));
  const loop = createPoller({ name: 'test', lease: queue(rows), work, concurrency: 3, pollMs: 10, logger });
  expect(await loop.runOnce()).toBe(10);
  expect(done.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(await loop.runOnce()).toBe(0);
});

test('never more rows are in hand than allowed, and a slow one keeps nobody waiting', async () => {
  let inHand = 0;
  let most = 0;
  const finished: number[] = [];
  const othersAreDone = createGate();
  const work = async (row: number): Promise<void> => {
    inHand += 1;
    most = Math.max(most, inHand);
    if (row === 0) await othersAreDone.opened;
    else await new Promise((resolve) => setTimeout(resolve, 1));
    inHand -= 1;
    finished.push(row);
    if (finished.length === 19) othersAreDone.open();
  };
  const rows = Array.from({ length: 20 }, (_value, at) => at);
  const loop = createPoller({ name: 'test', lease: queue(rows), work, concurrency: 4, pollMs: 10, logger });
  await loop.runOnce();
  expect(most).toBe(4);
  expect(finished.at(-1)).toBe(0);
});

test('one row that fails does not stop the others', async () => {
  const done: number[] = [];
  const work = (row: number): Promise<void> =>
    row === 1 ? Promise.reject(new Error('on purpose')) : Promise.resolve(void done.push(row));
  const loop = createPoller({
    name: 'test',
    lease: queue([0, 1, 2]),
    work,
    concurrency: 1,
    pollMs: 10,
    logger,
  });
  expect(await loop.runOnce()).toBe(3);
  expect(done).toEqual([0, 2]);
});

test('a started loop hears a ring at once, survives a database that is away, and ends when told', async () => {
  const rows: number[] = [];
  let isAway = true;
  let heard: () => void = () => undefined;
  const worked = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const lease = (limit: number): Promise<number[]> =>
    isAway ? Promise.reject(new Error('away')) : Promise.resolve(rows.splice(0, limit));
  const loop = createPoller({
    name: 'test',
    lease,
    work: () => Promise.resolve().then(heard),
    concurrency: 1,
    pollMs: 3_600_000,
    logger,
  });
  loop.start();
  await new Promise((resolve) => setTimeout(resolve, 20));
  isAway = false;
  rows.push(1);
  loop.wake();
  await worked;
  await loop.stop();
});

test('a loop that is stopped with a row in hand waits for the row, and lets it work', async () => {
  let isDone = false;
  const work = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    isDone = true;
  };
  const loop = createPoller({ name: 'test', lease: queue([1]), work, concurrency: 2, pollMs: 10, logger });
  loop.start();
  await new Promise((resolve) => setTimeout(resolve, 20));
  await loop.stop();
  expect(isDone).toBe(true);
});

test('rows that somebody else leases are worked on, never more than slots were free, and stop waits for them', async () => {
  const done: number[] = [];
  let finish: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const work = async (row: number): Promise<void> => {
    await gate;
    done.push(row);
  };
  const loop = createPoller({ name: 'test', lease: queue([]), work, concurrency: 3, pollMs: 5, logger });
  expect(loop.reserve(5).slots).toBe(0);
  loop.start();
  const first = loop.reserve(2);
  const second = loop.reserve(5);
  expect([first.slots, second.slots, loop.reserve(1).slots]).toEqual([2, 1, 0]);
  first.take([1, 2]);
  let isStopped = false;
  const stopped = loop.stop().then(() => {
    isStopped = true;
  });
  finish();
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(isStopped).toBe(false);
  expect(loop.reserve(1).slots).toBe(0);
  second.take([3]);
  await stopped;
  expect(done).toEqual([1, 2, 3]);
});

test('slots that were not used are free again', async () => {
  const loop = createPoller<number>({
    name: 'test',
    lease: queue([]),
    work: () => Promise.resolve(),
    concurrency: 3,
    pollMs: 5,
    logger,
  });
  loop.start();
  loop.reserve(3).take([]);
  const again = loop.reserve(3);
  expect(again.slots).toBe(3);
  again.take([]);
  await loop.stop();
});

test('a loop that goes round is not stuck, and one whose lease never ends is', async () => {
  let isHanging = false;
  const gate = createGate();
  const lease = async (): Promise<number[]> => {
    if (isHanging) await gate.opened;
    return [];
  };
  const work = (): Promise<void> => Promise.resolve();
  const loop = createPoller<number>({ name: 'test', lease, work, concurrency: 1, pollMs: 5, logger });
  expect(loop.stuckMs()).toBe(0);
  loop.start();
  await eventually(() => Promise.resolve(loop.stuckMs() > 0 && loop.stuckMs() < 300));
  isHanging = true;
  await eventually(() => Promise.resolve(loop.stuckMs() > 300));
  gate.open();
  isHanging = false;
  await eventually(() => Promise.resolve(loop.stuckMs() < 300));
  await loop.stop();
});
