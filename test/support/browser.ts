import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromium, type Browser } from 'playwright-core';

const INSTALLED = '/usr/bin/chromium';
/** A busy machine needs minutes to start a browser; where all is well nobody waits so long. */
const PATIENCE_MS = 120_000;

type Program = { path: string; env: Record<string, string>; remove(): Promise<void> };

/**
 * A real browser: the one that CHROME_PATH names, else Debian's, else the one that came from npm,
 * as with an empty CHROME_PATH.
 * @returns the browser; `close` also removes what was unpacked for it
 * @throws when none of them starts: a skipped test proves nothing
 */
export async function openBrowser(): Promise<Browser> {
  const { path, env, remove } = await findBrowser();
  const browser = await chromium
    .launch({
      executablePath: path,
      timeout: PATIENCE_MS,
      env: { ...process.env, ...env },
      // Neither root nor a container has Chromium's sandbox, nor a container much of /dev/shm.
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    })
    .catch(async (error: unknown) => {
      await remove();
      throw error;
    });
  const close = browser.close.bind(browser);
  browser.close = async () => {
    await close();
    await remove();
  };
  return browser;
}

async function findBrowser(): Promise<Program> {
  const path = process.env.CHROME_PATH ?? (existsSync(INSTALLED) ? INSTALLED : '');
  return path === '' ? unpack() : { path, env: {}, remove: () => Promise.resolve() };
}

/**
 * @sparticuz/chromium is made for a bare machine, and brings its libraries and a font along: x64
 * Linux only.
 */
async function unpack(): Promise<Program> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('the browser tests need Chromium: install it, and name it by CHROME_PATH');
  const folder = await mkdtemp(join(tmpdir(), 'integrator-browser-'));
  const program = `import c from '@sparticuz/chromium'; process.stdout.write(await c.executablePath())`;
  // In a process of its own, since it takes the folder and whether it brings its libraries from the
  // environment.
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    env: { TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' },
  });
  // Its own settings look for the font in /tmp. Without one, a page with a text field crashes.
  const fonts = join(folder, 'fonts.conf');
  await writeFile(
    fonts,
    `<!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${folder}</dir><cachedir>${folder}/cache</cachedir></fontconfig>`,
  );
  return {
    path: stdout,
    env: { LD_LIBRARY_PATH: join(folder, 'al2023/lib'), FONTCONFIG_FILE: fonts },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
