import { existsSync, mkdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium, type Browser } from 'playwright-core';
import { runProcess } from '../../src/bootstrap/run-process.ts';
import type { StartedServer } from '../../src/bootstrap/start-server.ts';
import { readOptions, usageText } from '../../src/platform/usage.ts';
import { createDay, STORIES } from '../scenarios/demo-day.ts';
import { inDemoShop } from '../scenarios/demo-shop.ts';

/** `npm run pictures`: the two pictures of the README, of orders of the demo's day. */

const FOLDER = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
const BROWSERS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
/** The README is loaded often. */
const MOST_BYTES = 200_000;
const SIZE = { width: 1_000, height: 640 };

const HELP = usageText('npm run pictures', {
  does: 'Makes the two pictures of the README anew, in docs/pictures/.',
  forms: ['[--chromium PATH]'],
  options: { '--chromium': 'the browser, where it is not found' },
  exits: '0 made, 1 no browser was found, or a picture is too large',
  example: '',
});

const given = readOptions(HELP, process.argv.slice(2), () =>
  parseArgs({ options: { chromium: { type: 'string' } } }),
);
if (given !== null) await runProcess(() => makePictures(given.values.chromium));

async function makePictures(told: string | undefined): Promise<number> {
  const executablePath = told ?? BROWSERS.find((path) => existsSync(path));
  if (executablePath === undefined) {
    process.stderr.write('there is no Chromium: install one, or say where it is with --chromium\n');
    return 1;
  }
  mkdirSync(FOLDER, { recursive: true });
  return inDemoShop('npm run pictures', async (server) => {
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
    try {
      const { origin } = server;
      const sizes = [
        await picture(browser, 'shop-order.png', `${origin}/shop/orders/${await played(server, 'Ada')}`),
        await picture(
          browser,
          'console-order.png',
          `${origin}/admin/orders/${await played(server, 'Dalia')}`,
        ),
      ];
      return sizes.every((bytes) => bytes < MOST_BYTES) ? 0 : 1;
    } finally {
      await browser.close();
    }
  });
}

/** @returns the order of a shopper of the demo's day, when it has come to its end */
async function played(server: StartedServer, shopper: string): Promise<string> {
  const story = STORIES.find((one) => one.shopper === shopper);
  if (story === undefined) throw new RangeError(`${shopper} is no shopper of the demo`);
  const day = createDay(server);
  const orderId = await story.play(day);
  await day.until(`the order is ${story.ends}`, async () => (await day.status(orderId)) === story.ends);
  return orderId;
}

async function picture(browser: Browser, name: string, address: string): Promise<number> {
  const page = await browser.newPage({ viewport: SIZE, colorScheme: 'light', locale: 'en' });
  // Pages that watch an order keep a connection open, so there is no idle network to wait for.
  await page.goto(address, { waitUntil: 'load' });
  const path = `${FOLDER}${name}`;
  await page.screenshot({ path, animations: 'disabled' });
  await page.close();
  const { size } = statSync(path);
  process.stdout.write(`docs/pictures/${name}  ${Math.ceil(size / 1_000)} kB\n`);
  return size;
}
