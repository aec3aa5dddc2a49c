import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test as testOfBoth } from '@jest/globals';
import { cloneDatabase } from '../support/database.ts';
import { someOf } from '../support/extent.ts';
import { testOfFew as test } from '../support/test-of-all.ts';
import {
  cleanUp,
  freePort,
  newFolder,
  occupy,
  onCleanUp,
  processesIn,
  runProcess,
} from '../support/process.ts';
import type { Outcome } from '../support/process.ts';

afterEach(cleanUp);

async function start(env: Record<string, string>, file = 'server', cwd?: string): Promise<Outcome> {
  return runProcess(file, {
    cwd: cwd ?? (await newFolder()),
    env,
    args: file === 'local/start.ts' ? ['findings'] : [],
  });
}

/** Every word of what a person reads must help. */
function expectPlain({ stdout, stderr }: Outcome): void {
  expect(stderr).not.toMatch(/^ +at |node:internal|Error:/m);
  expect(stdout).not.toContain('Ready');
}

async function takenPort(offset = 0): Promise<number> {
  const port = await freePort();
  const holder = await occupy(port + offset);
  onCleanUp(() => new Promise((resolve) => holder?.close(resolve)));
  return port;
}

test('a port that another program has is named, with what to do', async () => {
  const port = await takenPort();
  const folder = await newFolder();
  const outcome = await start({ PORT: String(port) }, 'server', folder);
  expect(outcome).toMatchObject({ code: 1, signal: null });
  expect(outcome.stderr).toBe(
    `port ${port} on 127.0.0.1 is taken by another program: stop it, or set PORT to a free one\n`,
  );
  expect(processesIn(folder)).toEqual([]);
});

test('the port of the sandbox is named when another program has that one, and the database is stopped again', async () => {
  const port = await takenPort(1);
  const folder = await newFolder();
  const outcome = await start({ PORT: String(port) }, 'server', folder);
  expect(outcome.code).toBe(1);
  expect(outcome.stderr).toContain(`the port after PORT, and ${port + 1} on 127.0.0.1 is taken`);
  expect(outcome.stderr).toContain('set PORT to another one');
  expectPlain(outcome);
  expect(processesIn(folder)).toEqual([]);
});

test('an address that this machine does not have is named, with what to do', async () => {
  const { url, drop } = await cloneDatabase();
  onCleanUp(drop);
  const outcome = await start({ HOST: '192.0.2.1', DATABASE_URL: url });
  expect(outcome.code).toBe(1);
  expect(outcome.stderr).toContain('192.0.2.1 is not an address of this machine: set HOST to 127.0.0.1');
  expectPlain(outcome);
});

testOfBoth.each(someOf(['server', 'worker', 'local/start.ts'], 1))(
  '%s names a database that is not there, never its password',
  async (file) => {
    const [port, closed] = [await freePort(), await freePort()];
    const url = `postgres://shop:correct-horse@127.0.0.1:${closed}/shop`;
    const outcome = await start({ PORT: String(port), DATABASE_URL: url }, file);
    expect(outcome).toMatchObject({ code: 1, signal: null });
    expect(outcome.stderr).toContain(`cannot connect to the database at 127.0.0.1:${closed}/shop`);
    expect(outcome.stderr).toContain('DATABASE_URL');
    expect(outcome.stdout + outcome.stderr).not.toContain('correct-horse');
    expectPlain(outcome);
  },
);

test('a wrong password is called that, and neither it nor the right one is shown', async () => {
  const url = new URL(process.env.TEST_TEMPLATE_URL ?? '');
  const right = url.password;
  url.password = 'battery-staple';
  const outcome = await start({ PORT: String(await freePort()), DATABASE_URL: url.href });
  expect(outcome.code).toBe(1);
  expect(outcome.stderr).toContain(`cannot connect to the database at ${url.host}`);
  expect(outcome.stderr).toContain('password authentication failed');
  expect(outcome.stderr).toContain('DATABASE_URL');
  expect(outcome.stdout + outcome.stderr).not.toContain('battery-staple');
  expect(outcome.stdout + outcome.stderr).not.toContain(right);
  expectPlain(outcome);
});

testOfBoth.each(someOf(['worker', 'server', 'local/start.ts'], 1))(
  '%s refuses a key with a line break without showing any of it',
  async (file) => {
    const folder = await newFolder();
    await writeFile(join(folder, '.env'), 'GATEWAY_SECRET_KEY="sk_test_zebra\nquagga"\n');
    const outcome = await start({}, file, folder);
    expect(outcome).toMatchObject({ code: 78, signal: null, stdout: '' });
    expect(outcome.stderr).toContain('GATEWAY_SECRET_KEY: must be one line of printable characters');
    expect(outcome.stderr).not.toMatch(/zebra|quagga|sk_test/);
    expectPlain(outcome);
  },
);

testOfBoth.each(someOf(['src/server.ts', 'src/worker.ts', 'src/commands/cli.ts'], 1))(
  '%s, as production starts it, brings no database and no sandbox: it says what to set',
  async (file) => {
    const folder = await newFolder();
    const args = file.endsWith('cli.ts') ? ['reconcile'] : [];
    const outcome = await runProcess(file, { cwd: folder, env: { PORT: String(await freePort()) }, args });
    expect(outcome).toMatchObject({ code: 78, signal: null, stdout: '' });
    for (const name of ['DATABASE_URL', 'GATEWAY_URL', 'GATEWAY_SECRET_KEY'])
      expect(outcome.stderr).toContain(`${name}: is needed here`);
    expectPlain(outcome);
    expect(processesIn(folder)).toEqual([]);
  },
);

test('all faults of the configuration are listed at once, by name and without their values', async () => {
  const outcome = await start({
    PORT: 'okapi',
    DATABASE_URL: 'mysql://shop:okapi@localhost/shop',
    GATEWAY_SECRET_KEY: 'sk_test_okapi\r\nokapi',
    WORKER: 'okapi',
    FULFILMENT_URL: 'http://127.0.0.1:9',
    // G10: half a letter is no bytes.
    FULFILMENT_SECRET: 'whsec_A',
  });
  expect(outcome).toMatchObject({ code: 78, stdout: '' });
  expect(outcome.stderr).toContain('FULFILMENT_SECRET: must be a Standard Webhooks secret');
  const named = outcome.stderr.match(/^ {2}- \w+/gm)?.map((line) => line.slice(4));
  expect(named?.sort()).toEqual([
    'DATABASE_URL',
    'FULFILMENT_SECRET',
    'GATEWAY_SECRET_KEY',
    'PORT',
    'WORKER',
  ]);
  expect(outcome.stderr).not.toMatch(/okapi|whsec_A/);
  expectPlain(outcome);
});

testOfBoth.each(someOf(['local/start.ts', 'server', 'worker'], 1))(
  'B2: %s with a live key and no address ends with 78: no sandbox is asked about live payments',
  async (file) => {
    const folder = await newFolder();
    const outcome = await start(
      { GATEWAY_SECRET_KEY: 'sk_live_zebra', CHECKOUT_HOSTS: 'x.example' },
      file,
      folder,
    );
    expect(outcome).toMatchObject({ code: 78, signal: null, stdout: '' });
    expect(outcome.stderr).toContain('GATEWAY_URL: is needed with a live key');
    expect(outcome.stderr).not.toContain('zebra');
    expectPlain(outcome);
  },
);

testOfBoth.each(someOf(['server', 'worker'], 1))(
  'B7: %s says at start what is legal and risky, by name',
  async (file) => {
    const closed = await freePort();
    // It ends for want of a database, behind what it has to say.
    const outcome = await start(
      {
        PORT: String(await freePort()),
        DATABASE_URL: `postgres://u@127.0.0.1:${closed}/x`,
        SHOP_API_TOKEN: 'okapi',
      },
      file,
    );
    expect(outcome.stdout).toContain('SHOP_API_TOKEN: should have at least 16 characters');
    expect(outcome.stdout + outcome.stderr).not.toContain('okapi');
  },
);
