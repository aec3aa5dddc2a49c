import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { createTraffic } from '../../src/gateway/traffic.ts';

// The queue of the abandoned calls continues for two seconds. Its timer must not keep jest's worker
// waiting.
beforeAll(() => {
  const { setInterval } = globalThis;
  jest.spyOn(globalThis, 'setInterval').mockImplementation((work, ms) => setInterval(work, ms).unref());
});
afterAll(() => {
  jest.restoreAllMocks();
});

const answer = () => Promise.resolve({ status: 200, retryAfterSec: null });

test('above the rate, a call that gave up takes no turn from later calls', async () => {
  const traffic = createTraffic({ callsPerSecond: 50, concurrency: 50 });
  const crowd = Array.from({ length: 90 }, () => traffic.run('verify', 'interactive', 400, answer));
  const ended = await Promise.allSettled(crowd);
  expect(ended.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(30);
  // Seventy abandoned turns would last longer than two seconds.
  await expect(traffic.run('verify', 'interactive', 1_000, answer)).resolves.toMatchObject({ status: 200 });
});
