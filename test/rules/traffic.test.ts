import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { createTraffic } from '../../src/gateway/traffic.ts';

// The queue of a crowd that is gone runs on for two seconds, and keeps no worker of jest for that.
beforeAll(() => {
  const { setInterval } = globalThis;
  jest.spyOn(globalThis, 'setInterval').mockImplementation((work, ms) => setInterval(work, ms).unref());
});
afterAll(() => {
  jest.restoreAllMocks();
});

const answer = () => Promise.resolve({ status: 200, retryAfterSec: null });

test('above the rate, whoever gave up takes no turn from those who come later', async () => {
  const traffic = createTraffic({ callsPerSecond: 50, concurrency: 50 });
  const crowd = Array.from({ length: 90 }, () => traffic.run('verify', 'interactive', 400, answer));
  const ended = await Promise.allSettled(crowd);
  expect(ended.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(30);
  // Seventy dead turns would last for more than two seconds.
  await expect(traffic.run('verify', 'interactive', 1_000, answer)).resolves.toMatchObject({ status: 200 });
});
