import { afterEach, expect, test } from '@jest/globals';
import { cleanUp, processesIn, runProcess } from '../support/process.ts';
import { startShop } from '../support/shop-process.ts';

afterEach(cleanUp);

test('the demo plays its day beside a running server, and ends with its table', async () => {
  const shop = await startShop();
  const { orderId } = await shop.checkout();
  // A .env that points elsewhere is not the demo's business.
  const env = { PORT: String(shop.port), DATABASE_URL: 'postgres://nobody@127.0.0.1:1/not-mine' };
  const { code, stdout, stderr } = await runProcess('tools/scenarios/demo.ts', { cwd: shop.folder, env });
  expect(code).toBe(0);
  // What the day leaves to look at is told; nothing else is an error.
  const told = stderr.split('\n').filter((line) => !line.includes('"event":"findings-raised"'));
  expect(told.join('\n')).not.toMatch(/"level":[56]0|^ +at /m);
  expect(stdout).toMatch(/shopper +order +did +got lost +found by +final state/);
  expect(stdout.match(/ right *$/gm)).toHaveLength(6);
  expect(stdout).toMatch(/Every order ended as it should\.\n$/);
  expect(await shop.status(orderId)).toBe('pending');
  expect(await shop.stop()).toMatchObject({ code: 0, stderr: '' });
  expect(processesIn(shop.folder)).toEqual([]);
});
