import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

/** A real browser, Debian's. @throws with the command to type when there is none: a skipped test proves nothing */
export async function openBrowser(): Promise<Browser> {
  if (!existsSync(CHROMIUM)) {
    throw new Error(`these tests need a browser at ${CHROMIUM}, type: sudo apt-get install chromium`);
  }
  return chromium.launch({
    executablePath: CHROMIUM,
    // Chromium looks for updates and services at every start; there is nobody to answer in a closed network.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });
}
