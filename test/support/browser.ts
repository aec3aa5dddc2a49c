import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';
/**
 * For what a page is to show, and for the browser to come up: a machine that is busy with something else
 * needs minutes.
 */
const PATIENCE_MS = 150_000;

/**
 * A real browser, Debian's. @throws with the command to type when there is none: a skipped test proves
 * nothing
 */
export async function openBrowser(): Promise<Browser> {
  if (!existsSync(CHROMIUM)) {
    throw new Error(`these tests need a browser at ${CHROMIUM}, type: sudo apt-get install chromium`);
  }
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    timeout: PATIENCE_MS,
    // Chromium looks for updates and services at every start; there is nobody to answer in a closed network.
    args: [
      '--no-sandbox',
      // Else it draws as a graphics card would, without having one.
      '--disable-gpu',
      '--disable-gpu-compositing',
      '--disable-gpu-rasterization',
      '--disable-software-rasterizer',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      '--disable-dev-shm-usage',
    ],
  });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    // What moves while a page waits is drawn sixty times a second.
    const context = await newContext({ reducedMotion: 'reduce', ...options });
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  };
  return browser;
}
