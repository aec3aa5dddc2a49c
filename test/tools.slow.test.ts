import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { startSandbox, type Sandbox } from '../local/sandbox/sandbox.ts';
import { startListService } from './support/list-service.ts';
import { startProcess } from './support/process.ts';
import { TEST_KEY } from './support/shop.ts';

type Ended = { code: number | NodeJS.Signals; said: string };

async function run(program: string, env: Record<string, string> = {}, words: string[] = []): Promise<Ended> {
  const one = startProcess(program, env, words);
  const code = await one.end();
  const lines = one.lines().map(({ msg }) => msg ?? '');
  return { code, said: [...lines, one.stderr()].join('\n') };
}

describe('npm run probe', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox({ key: TEST_KEY, webhookUrl: null, webhookSecret: null });
  });
  afterAll(() => sandbox.close());

  test('reads the sandbox that it starts and pays, line by line', async () => {
    const { code, said } = await run('tools/probe.ts');
    expect(said).toContain('The adapter reads everything.');
    expect(said).toContain('status: "SUCCESS" -> paid');
    expect(said).toContain('amount: 25 -> NGN 25.00 (2500 minor units)');
    expect(code).toBe(0);
  });

  test('prints no key, even if the service echoes it', async () => {
    const body = { status: true, data: `${sandbox.url}/pay/${TEST_KEY}`, key: TEST_KEY };
    await fetch(`${sandbox.url}/sandbox/faults`, {
      method: 'POST',
      body: JSON.stringify({ endpoint: 'initialize', kind: 'body', body }),
    });
    const { code, said } = await run('tools/probe.ts', { GATEWAY_URL: sandbox.url, GATEWAY_SECRET_KEY: TEST_KEY });
    expect(said).toContain('[redacted]');
    expect(said).not.toContain(TEST_KEY.slice('sk_test_'.length));
    expect(code).toBe(0);
  });

  test('exits with 1 if the adapter misreads the service, and names the file and the unread word', async () => {
    const adapter = fileURLToPath(new URL('support/adapters/misread.ts', import.meta.url));
    const { code, said } = await run('tools/probe.ts', { GATEWAY_ADAPTER: adapter });
    expect(said).toContain('What is not read, and where to fix it:');
    expect(said).toContain(`${adapter}: "SUCCESS" is neither paid nor pending nor failed`);
    expect(code).toBe(1);
  });

  test.each([
    ['a live key', { GATEWAY_URL: 'http://127.0.0.1:9', GATEWAY_SECRET_KEY: 'sk_live_c4n4ry' }, 'is a live key'],
    ['an unreachable service', { GATEWAY_URL: 'http://127.0.0.1:9', GATEWAY_SECRET_KEY: TEST_KEY }, 'ECONNREFUSED'],
    ['an invalid amount', {}, 'npm run probe -- [--record] [25.00 NGN]', ['much']],
    ['an unknown option', {}, 'npm run probe -- [--record] [25.00 NGN]', ['--recrod']],
  ])('exits with 2 for %s, without a call', async (_what, env, words, typed: string[] = []) => {
    const { code, said } = await run('tools/probe.ts', env, typed);
    expect(said).toContain(words);
    expect(said).not.toContain('c4n4ry');
    expect(code).toBe(2);
  });

  test('exits with 2 if the service refuses the key', async () => {
    const env = { GATEWAY_URL: sandbox.url, GATEWAY_SECRET_KEY: 'sk_test_an_old_one' };
    const { code, said } = await run('tools/probe.ts', env);
    expect(said).toContain('refuses the secret key');
    expect(code).toBe(2);
  });
});

test('npm run demo: every order of the day ends as expected, and the books add up', async () => {
  const { code, said } = await run('tools/demo.ts');
  expect(said).toContain('Every order ended as expected, and the books add up.');
  expect(code).toBe(0);
});

test('the list service has ten million rows, and a fault of one page applies once', async () => {
  const at = (index: number) => new Date(1_800_000_000_000 - index * 1_000).toISOString();
  const rows = { count: 10_000_000, row: (index: number) => ({ reference: `r${index}`, createdAt: at(index) }) };
  const service = await startListService({ rows, pageSize: 1_000 });
  const ask = async (query: object) => {
    const answer = await fetch(
      `${service.url}/v1/transactions/history?${new URLSearchParams({ ...query }).toString()}`,
    );
    return (await answer.json()) as { data: { data: { reference: string }[]; hasNextPage: boolean } };
  };
  service.faults.push({ kind: 'broken', page: 10_000 }, { kind: 'torn', page: 10_000 });
  await expect(ask({ page: '10000' })).rejects.toThrow();
  await expect(ask({ page: '10000' })).rejects.toThrow(/JSON/);
  const { data } = await ask({ page: '10000' });
  expect([data.data.at(-1)?.reference, data.hasNextPage]).toEqual(['r9999999', false]);
  const window = await ask({ from: at(7), to: at(5) });
  expect(window.data.data.map(({ reference }) => reference)).toEqual(['r5', 'r6', 'r7']);
  expect(service.calls.pages).toEqual([10_000, 10_000, 10_000, 1]);
  service.close();
});
