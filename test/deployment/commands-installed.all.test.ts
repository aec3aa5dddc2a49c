import { spawn, type ChildProcess } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, jest, test } from '@jest/globals';
import { SANDBOX_TEST_KEY, SANDBOX_WEBHOOK_SECRET } from '../../local/sandbox/keys.ts';
import { startSandbox } from '../../local/sandbox/sandbox.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { bundleIn, commandsOfPages } from '../support/bundle.ts';
import { cloneDatabase } from '../support/database.ts';
import { cleanUp, freePort, newFolder, onCleanUp } from '../support/process.ts';
import { aBasket, eventually, post } from '../support/program.ts';
import { startReleaseReceiver } from '../support/release-receiver.ts';

// An operator where only the bundle is installed types every command of the pages, and each one runs.

jest.setTimeout(900_000);
afterEach(cleanUp);

type Ended = { code: number | null; stdout: string; stderr: string };

test('every command of the pages runs where only the bundle is', async () => {
  const { url, drop } = await cloneDatabase();
  onCleanUp(drop);
  const receiver = await startReleaseReceiver();
  onCleanUp(receiver.close);
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const service = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    dataDir: null,
    logger: createLogger('silent'),
    webhook: { url: `${origin}/webhooks/payments`, secret: SANDBOX_WEBHOOK_SECRET },
  });
  onCleanUp(() => service.close());
  const env = {
    PATH: process.env.PATH,
    HOME: await newFolder(),
    NODE_ENV: 'production',
    PORT: String(port),
    WORKER: 'off',
    DEMO_SHOP: 'on',
    PUBLIC_URL: 'https://shop.example.com',
    DATABASE_URL: url,
    GATEWAY_URL: service.url,
    GATEWAY_SECRET_KEY: SANDBOX_TEST_KEY,
    WEBHOOK_SECRETS: SANDBOX_WEBHOOK_SECRET,
    ADMIN_TOKEN: 'sixteen characters',
    ...receiver.env,
  };
  const cwd = bundleIn(await newFolder(), { areTypesChecked: true });
  const start = (line: string): ChildProcess => {
    // A group of its own: npm, its shell and node end together.
    const child = spawn('bash', ['-c', line], {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    onCleanUp(() => {
      if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), 'SIGKILL');
      return ended;
    });
    return child;
  };
  const run = (line: string): Promise<Ended> =>
    new Promise((resolve) => {
      let [stdout, stderr] = ['', ''];
      const child = start(line);
      child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      child.once('close', (code) => {
        resolve({ code, stdout, stderr });
      });
    });
  const firstId = async (list: string, name?: string): Promise<string> => {
    const { stdout, stderr } = await run(`npm run --silent ${list} -- list --json`);
    const items = stdout === '' ? [] : (JSON.parse(stdout) as { id?: string; class?: string }[]);
    const item = items.find((one) => name === undefined || one.class === name);
    if (item?.id === undefined) throw new Error(`nothing is in ${list}: ${stdout}${stderr}`);
    return item.id;
  };

  for (const process of ['npm start', 'npm run worker']) start(process).stdout?.resume();
  await eventually(
    () =>
      fetch(`${origin}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    60_000,
  );
  const buy = async (amount: object): Promise<Order> => {
    const order = (await (await post(`${origin}/checkout`, aBasket)).json()) as Order;
    await post(`${service.url}/sandbox/transactions/${order.reference}/pay`, amount);
    return order;
  };
  const paid = await buy({});
  await eventually(() => Promise.resolve(receiver.deliveries.length > 0), 60_000);
  const { reference } = await buy({ amount: '1.00' });
  await eventually(async () => (await run('npm run suspense -- list')).stdout.includes('underpaid'), 60_000);
  // A finding without money that waits: that can be resolved alone.
  await post(`${service.url}/sandbox/transactions/${paid.reference}/reverse`, {});
  const reconciled = await run('npm run --silent reconcile -- --json');
  expect(reconciled.code).toBe(1);
  const { runId } = JSON.parse(reconciled.stdout) as { runId: string };
  const ids: Record<string, string> = {
    findings: await firstId('findings', 'reversed'),
    suspense: await firstId('suspense'),
    releases: paid.orderId,
  };
  const adoptions = join(await newFolder(), 'adoptions.txt');
  await writeFile(adoptions, `${reference} ${paid.orderId}\n`);
  const told = (line: string): string =>
    line
      .replace('/tmp/adoptions.txt', adoptions)
      .replace(/"\$\w+"|\bID\b|<id>/, ids[/run (?:--silent )?(\w+)/.exec(line)?.[1] ?? ''] ?? reference)
      .replace(/\b(?:ORDER|REFERENCE)\b/, reference)
      .replace(/\bRUN\b/, runId)
      .replace(/\bMOMENT\b/, '2026-01-31T00:00:00Z')
      // A log line that names the command without who types it.
      .replace(/send-unsent$/, 'send-unsent --by "name"');

  const lines = commandsOfPages().filter((line) => !/^npm (?:start|run worker)$/.test(line));
  expect(lines.length).toBeGreaterThan(15);
  const died: object[] = [];
  for (const line of lines.map(told)) {
    const { code, stdout, stderr } = await run(line);
    const isWell = (code === 0 || code === 1) && !/^ +at |missing script|no command/im.test(stderr);
    if (!isWell) died.push({ line, code, stdout, stderr });
  }
  expect(died).toEqual([]);
});

type Order = { orderId: string; reference: string };
