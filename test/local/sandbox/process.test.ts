import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

import { afterEach, describe, expect, test as testOfBoth } from '@jest/globals';

import { PortTakenError } from '../../../src/platform/http-server.ts';
import { SANDBOX_TEST_KEY } from '../../../local/sandbox/keys.ts';
import type { Sandbox } from '../../../local/sandbox/sandbox.ts';
import { someOf } from '../../support/extent.ts';
import { testOfFew as test } from '../../support/test-of-all.ts';
import { argumentsOf } from '../../support/process.ts';
import { cleanUp, initialize, newFolder, onCleanUp, receiver, start, until, verified } from './support.ts';

afterEach(cleanUp);

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** Runs what `npm run sandbox` runs. */
function run(...flags: string[]): Child {
  const child = spawn(process.execPath, [...argumentsOf('local/sandbox/main.ts'), '--port', '0', ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  // Until it is gone it may write into a folder that is to go, too.
  onCleanUp(() => (child.kill('SIGKILL'), ended));
  return child;
}

/** What it prints once it listens. */
async function greetingOf(child: Child): Promise<string> {
  let text = '';
  for await (const chunk of child.stdout) {
    text += String(chunk);
    if (text.includes('/sandbox/transactions\n')) return text;
  }
  throw new Error(`the sandbox ended: ${text}`);
}

describe('the sandbox as a process', () => {
  test('prints its address, its keys and one command per call, and ends when told to', async () => {
    const child = run('--data', 'none');
    const greeting = await greetingOf(child);
    expect(greeting).toContain(`test key          ${SANDBOX_TEST_KEY}`);
    expect(greeting).toMatch(/curl http:\/\/127\.0\.0\.1:\d+\/v1\/transactions\/initialize /);
    expect(greeting).toContain('/v1/transactions/verify/order-1');
    expect(greeting).toContain('/v1/transactions/history');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('forgets nothing that it acknowledged, even when it is killed in the middle of work', async () => {
    const dataDir = await newFolder();
    const child = run('--data', dataDir);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(await greetingOf(child))?.[0] ?? '';
    const doomed = { url, testKey: SANDBOX_TEST_KEY } as Sandbox;
    const acknowledged: string[] = [];
    const openUntilItDies = async (client: number): Promise<void> => {
      for (let count = 0; ; count += 1) {
        const reference = `c${client}-${count}`;
        const opened = await initialize(doomed, { reference: JSON.stringify(reference) }).catch(() => null);
        if (opened === null) return;
        if (opened.status === 200) acknowledged.push(reference);
        if (acknowledged.length === 200) child.kill('SIGKILL');
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, client) => openUntilItDies(client)));

    const after = await start({ dataDir });
    expect(acknowledged.length).toBeGreaterThanOrEqual(200);
    for (const reference of acknowledged) {
      expect(await verified(after, reference)).toEqual({ status: 'PENDING', amount: '25.00' });
    }
  });

  test('plays the service it is told to, and tells the address it is told to', async () => {
    const shop = await receiver();
    const child = run('--data', 'none', '--profile', 'minor-units', '--webhook-url', shop.url);
    const greeting = await greetingOf(child);
    expect(greeting).toContain('plays             minor-units');
    expect(greeting).toContain(`webhooks to       ${shop.url}`);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(greeting)?.[0] ?? '';
    const opened = await initialize({ url, testKey: SANDBOX_TEST_KEY } as Sandbox, { amount: '2500' });
    expect(opened.text).toContain('"authorization_url":');
    await fetch(`${url}/sandbox/transactions/order-1/pay`, { method: 'POST' });
    await until(() => shop.hooks.length === 1);
  });

  const refused: [flag: string, value: string, says: string][] = [
    ['--profile', 'nobody', '--profile: there is no "nobody"; there are plain, minor-units,'],
    ['--port', '99999', '--port: must be a whole number from 0 to 65535'],
    ['--port', 'x', '--port: must be a whole number'],
    ['--latency', '-1', "Option '--latency"],
    ['--webhook-url', 'shop', '--webhook-url: must be an http or https address'],
    ['--prot', '1', "Unknown option '--prot'"],
  ];

  // One that the sandbox refuses, and one that the reader of flags does.
  testOfBoth.each(someOf(refused, 2))(
    'ends with 64 for %s %s and says what is wrong',
    async (flag, value, says) => {
      const child = run('--data', 'none', flag, value);
      let text = '';
      child.stderr.on('data', (chunk) => (text += String(chunk)));
      expect(await once(child, 'close')).toEqual([64, null]);
      expect(text).toContain(says);
      expect(text).toContain('npm run sandbox -- [options]');
    },
  );

  test('says which port is taken', async () => {
    const first = await start();
    await expect(start({ port: Number(new URL(first.url).port) })).rejects.toBeInstanceOf(PortTakenError);
  });
});
