import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromium, type Browser } from 'playwright-core';

const INSTALLED = '/usr/bin/chromium';
/** A busy machine needs minutes to start a browser. Usually the start is much faster. */
const PATIENCE_MS = 120_000;

type Program = { path: string; env: Record<string, string>; remove(): Promise<void> };

/**
 * A real browser: the one that CHROME_PATH names, else Debian's, else the one from npm, which an
 * empty CHROME_PATH selects, too.
 * @returns the browser; `close` also removes its unpacked files
 * @throws when none of them starts, because a skipped test proves nothing
 */
export async function openBrowser(): Promise<Browser> {
  const { path, env, remove } = await findBrowser();
  const browser = await chromium
    .launch({
      executablePath: path,
      timeout: PATIENCE_MS,
      env: { ...process.env, ...env },
      // Chromium's sandbox works neither as root nor in a container, and a container has little
      // /dev/shm.
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
 * @sparticuz/chromium is made for a bare machine, and includes its libraries and a font. It
 * supports x64 Linux only.
 */
async function unpack(): Promise<Program> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('the browser tests need Chromium: install it, and name it by CHROME_PATH');
  const folder = await mkdtemp(join(tmpdir(), 'integrator-browser-'));
  const program = `import c from '@sparticuz/chromium'; process.stdout.write(await c.executablePath())`;
  // In a process of its own, because the package reads the folder and the use of its libraries from
  // the environment.
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    env: { TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' },
  });
  // The package's own settings look for the font in /tmp. Without a font, a page with a text field
  // crashes.
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
