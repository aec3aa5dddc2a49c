import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { parseDialect } from '../../src/gateway/dialect/dialect.ts';
import { cleanUp, newFolder, runProcess, type Outcome } from '../support/process.ts';
import { startShop } from '../support/shop-process.ts';

afterEach(cleanUp);

const runIn = (cwd: string, args: string[], env: Record<string, string> = {}): Promise<Outcome> =>
  runProcess('tools/probe/main.ts', { cwd, args, env });

test('a service that the dialect does not read: ends with 1, and leaves samples and a dialect file that passes', async () => {
  const cwd = await newFolder();
  const args = [
    '--no-pay',
    '--profile',
    'virtual-accounts',
    '--email',
    'ngozi@example.com',
    '--out',
    'found',
  ];
  const { code, stdout } = await runIn(cwd, args);
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^differs +verify\.reference: "\/paymentReference"\n +the dialect in force: \["\/reference"\]$/m,
  );
  expect(stdout).toMatch(/^ {2}verify\.amount: [^:]*One of: \/amountPaid,\s+\/totalPayable$/m);
  expect(stdout).toContain('GATEWAY_DIALECT=found/dialect.json');
  const { dialect } = parseDialect(readFileSync(join(cwd, 'found/dialect.json'), 'utf8'));
  expect(dialect.verify.record).toEqual(['/responseBody']);
  const samples = readdirSync(join(cwd, 'found')).map((name) =>
    readFileSync(join(cwd, 'found', name), 'utf8'),
  );
  expect(samples.length).toBeGreaterThan(12);
  expect(samples.join('\n')).not.toMatch(/sk_test_|whsec_|@example\.com|ngozi/);
});

test('a second run tells what changed since the first, and that nothing did', async () => {
  const cwd = await newFolder();
  const run = (profile: string): Promise<Outcome> =>
    runIn(cwd, ['--no-pay', '--profile', profile, '--out', 'found']);
  const first = await run('plain');
  const second = await run('plain');
  const third = await run('minor-units');
  expect(first).toMatchObject({ code: 0 });
  expect(first.stdout).not.toContain('since the run before');
  expect(second.stdout).toContain('Nothing changed since the run before.');
  expect(third.stdout).toMatch(
    /Changed since the run before:\n(.*\n)* {2}initialize\.checkoutUrl: was "\/data", is\s+"\/data\/authorization_url"/,
  );
  expect(existsSync(join(cwd, '.data'))).toBe(false);
});

test('beside a running server its sandbox is probed, and its webhooks are left to it', async () => {
  const shop = await startShop();
  const webhooks = async (): Promise<unknown> => (await fetch(`${shop.service}/sandbox/webhooks`)).json();
  const before = await webhooks();
  const { code, stdout } = await runIn(shop.folder, ['--no-pay'], { PORT: String(shop.port) });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^agrees +verify\.amount: /m)]);
  expect(await webhooks()).toEqual(before);
  const { transactions } = (await (await fetch(`${shop.service}/sandbox/transactions`)).json()) as {
    transactions: unknown[];
  };
  expect(transactions).toHaveLength(3);
});

test('a live key is refused with 78 before anything is asked', async () => {
  const env = {
    GATEWAY_URL: 'https://127.0.0.1:1',
    GATEWAY_SECRET_KEY: 'sk_live_c4n4ry',
    CHECKOUT_HOSTS: 'x.example',
    ALLOW_LIVE_KEY_ON_LOOPBACK: 'on',
  };
  const { code, stdout, stderr } = await runIn(await newFolder(), [], env);
  expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
  expect(stderr).toContain('the probe takes only test keys');
  expect(stderr).not.toContain('c4n4ry');
});

const CALLS: [code: number, args: string[], says: RegExp, env: Record<string, string>][] = [
  [
    2,
    [],
    /no answer from the service/,
    { GATEWAY_URL: 'http://127.0.0.1:1', GATEWAY_SECRET_KEY: 'sk_test_x' },
  ],
  [64, ['--amount', 'much', '--wait', 'long'], /--amount must be .*\n--wait must be/, {}],
  [64, ['--profile', 'none'], /--profile must be one of plain/, {}],
  [64, ['--currency', 'naira'], /--currency must be/, {}],
  [64, ['--pay'], /Unknown option '--pay'/, {}],
  [0, ['--help'], /npm run probe --/, {}],
];

test.each(CALLS)('ends with %d when called with %j', async (expected, args, says, env) => {
  const { code, stdout, stderr } = await runIn(await newFolder(), args, env);
  expect([code, stdout + stderr]).toEqual([expected, expect.stringMatching(says)]);
});
