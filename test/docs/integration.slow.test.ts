import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { startShop, TEST_KEY, WEBHOOK_SECRET, type Shop } from '../support/shop.ts';

// Runs every command of docs/integration.md in one shell, from top to bottom, against a real
// server, its sandbox and the page's own receiver. The output must match the text below each block.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FULFILMENT_SECRET = `whsec_${Buffer.from('a secret of 32 bytes for a test.').toString('base64')}`;
const { PATH = '', HOME = tmpdir() } = process.env;

/** A block of commands and its expected output. null: the page shows none. */
type Step = { commands: string; says: string | null };

let page: string;
let folder: string;
let receiver: ChildProcess;
let receiverUrl: string;
let parcels: TestDatabase;
let shop: Shop;
beforeAll(async () => {
  page = await readFile(join(ROOT, 'docs/integration.md'), 'utf8');
  const port = await freePort();
  receiverUrl = `http://127.0.0.1:${port}`;
  [folder, parcels] = await Promise.all([mkdtemp(join(tmpdir(), 'receiver-')), cloneDatabase()]);
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'receiver.js'), /^```js\n\/\/ receiver\.js\n([^]*?)^```$/m.exec(page)?.[1] ?? '');
  const env = { PATH, RECEIVER_PORT: String(port), RECEIVER_DATABASE_URL: parcels.url, FULFILMENT_SECRET };
  receiver = spawn(process.execPath, ['receiver.js'], { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] });
  await eventually(async () => (await fetch(`${receiverUrl}/parcels`)).ok);
  shop = await startShop({ env: { FULFILMENT_URL: `${receiverUrl}/messages`, FULFILMENT_SECRET } });
});
afterAll(async () => {
  await shop.stop();
  receiver.kill();
  await parcels.drop();
  await rm(folder, { recursive: true });
});

function stepsOf(markdown: string): Step[] {
  const blocks = markdown.matchAll(/^```sh\n([^]*?)^```$(?:\n\n^```text\n([^]*?)^```$)?/gm);
  return [...blocks].map(([, commands = '', says = null]) => ({ commands, says }));
}

/**
 * Matches if every line appears, in this order. `…` stands for any text; alone on a line, for any
 * lines.
 */
function patternOf(says: string): RegExp {
  const exactly = (text: string) => text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');
  const lines = says.trim().split('\n');
  const parts = lines.map((line) => (line === '…' ? '(.*\\n)*?' : `^${line.split('…').map(exactly).join('.*')}\\n+`));
  return new RegExp(parts.join(''), 'm');
}

/** Types every block into one shell. @returns the output of each block */
async function type(steps: readonly Step[], env: Record<string, string>): Promise<string[]> {
  const end = '@@ the end of a block @@';
  const script = steps.map(({ commands }) => `${commands}echo; echo '${end}'`).join('\n');
  const shell = spawn('sh', ['-c', `exec 2>&1\n${script}`], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await Promise.all([text(shell.stdout), once(shell, 'close')]);
  return said.replaceAll('\r', '').split(end).slice(0, -1);
}

test('every command of the guide prints the output that the guide shows', async () => {
  // Without this variable, the loops of the guide wait forever.
  if (spawnSync('curl', ['--version']).error) throw new Error('the guide is typed with curl: install it');
  const steps = stepsOf(page);
  expect(steps.length).toBeGreaterThan(10);
  const said = await type(steps, {
    ...{ PATH, HOME, SHOP: shop.url, SANDBOX: String(shop.sandbox?.url), RECEIVER: receiverUrl },
    // The variables of the server, for the npm commands.
    ...{ DATABASE_URL: shop.database.url, GATEWAY_URL: String(shop.sandbox?.url), GATEWAY_SECRET_KEY: TEST_KEY },
    ...{ WEBHOOK_SECRETS: WEBHOOK_SECRET, FULFILMENT_URL: `${receiverUrl}/messages`, FULFILMENT_SECRET },
  });
  expect(said).toHaveLength(steps.length);
  const others = steps.map((step, index) => ({ ...step, said: said[index] ?? '' }));
  expect(others.filter((one) => one.says !== null && !patternOf(one.says).test(one.said))).toEqual([]);
});
