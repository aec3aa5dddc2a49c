import { afterEach, expect, test } from '@jest/globals';
import { cleanUp, newFolder, processesIn, runProcess, startProcess } from '../support/process.ts';
import { startShop } from '../support/shop-process.ts';

afterEach(cleanUp);

const DEMO = 'tools/scenarios/demo.ts';

test('the demo plays its day beside a running server, and with --keep stays open until Ctrl-C', async () => {
  const shop = await startShop();
  const { orderId } = await shop.checkout();
  // A .env that points elsewhere is not the demo's business.
  const env = { PORT: String(shop.port), DATABASE_URL: 'postgres://nobody@127.0.0.1:1/not-mine' };
  const demo = startProcess(DEMO, { cwd: shop.folder, env, args: ['--keep'] });
  await demo.says(/Stop with Ctrl-C\.\n$/);
  const text = demo.stdout();
  expect(text).toMatch(/shopper +did +got lost +found by +order/);
  expect(text.match(/ right *$/gm)).toHaveLength(6);
  expect(text).toMatch(/^Every order ended as it should\.$/m);
  // No log line between its own, and nothing wider than a terminal.
  for (const line of text.split('\n')) {
    expect(line).not.toMatch(/^\{/);
    expect(line.length).toBeLessThanOrEqual(80);
  }
  const addressOf = (page: string): string => new RegExp(`${page} +(http:\\S+)`).exec(text)?.[1] ?? page;
  expect(await (await fetch(addressOf('shop'))).text()).toContain('Ankara');
  // The day's stories are there.
  expect(await (await fetch(`${addressOf('console')}/orders`)).text()).toMatch(/18\.500/);
  expect(await demo.stop('SIGINT')).toMatchObject({ code: 0, stderr: '' });
  expect(await shop.status(orderId)).toBe('pending');
  expect(await shop.stop()).toMatchObject({ code: 0, stderr: '' });
  expect(processesIn(shop.folder)).toEqual([]);
});

test('without --keep the demo ends by itself', async () => {
  const cwd = await newFolder();
  expect(await runProcess(DEMO, { cwd })).toMatchObject({ code: 0, stderr: '' });
  expect(processesIn(cwd)).toEqual([]);
});
