import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { formatAnswers, exitCodeOf, type Report, type State } from '../../src/commands/doctor/answers.ts';
import { EXAMINATIONS, examine } from '../../src/commands/doctor/examine.ts';
import { ownAddress } from '../../src/commands/doctor/go-live.ts';
import { loadConfig } from '../../src/config.ts';
import type { BackingServices } from '../../src/config/backing-services.ts';
import { DEFAULTS } from '../../src/extensions.ts';
import { SecretKey } from '../../src/gateway/secret-key.ts';
import { beat } from '../../src/platform/heartbeat.sql.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { Secret } from '../../src/platform/secret.ts';
import { SANDBOX_LIVE_KEY } from '../../local/sandbox/keys.ts';
import { startProgram, type TestProgram } from '../support/program.ts';

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram({ slowTime: true });
  await shop.program.reconcile({ dryRun: false });
});
afterAll(() => shop.close());
beforeEach(() => beat(shop.program.database, 'test', 'host a, process 7'));

const query = (text: string): Promise<object[]> => shop.program.database.query(text);
const buy = (sku: string) => shop.checkout({ email: 'ada@example.com', items: [{ sku, quantity: 1 }] });
const databaseUrl = (): string =>
  (shop.program.database.pool.options as { connectionString: string }).connectionString;

/** What a command says of the shop, with other settings and services than its own. */
function say(
  name: 'doctor' | 'go-live',
  env: Record<string, string> = {},
  services: Partial<BackingServices> = {},
): Promise<Report> {
  const examination = EXAMINATIONS[name];
  if (examination === undefined) throw new Error(`there is no ${name}`);
  return examine(examination, {
    config: loadConfig({ NODE_ENV: 'test', ...env }),
    services: {
      databaseUrl: new Secret(databaseUrl()),
      gatewayUrl: new URL(shop.sandbox.url),
      secretKey: new SecretKey(shop.sandbox.testKey),
      webhookSecrets: [new Secret(shop.sandbox.webhookSecret)],
      sandboxUrl: shop.sandbox.url,
      receiveWebhooksAt: () => undefined,
      close: () => Promise.resolve(),
      ...services,
    },
    extensions: DEFAULTS,
    logger: createLogger('silent'),
  });
}

const those = ({ answers }: Report, state: State) => answers.filter((answer) => answer.state === state);
const saying = (about: string, says: RegExp, todo: RegExp) => ({
  about,
  says: expect.stringMatching(says),
  todo: expect.stringMatching(todo),
});

const asLook = (answer: object) => ({ state: 'look', ...answer });

describe('doctor', () => {
  test('finds a healthy program well, tells the variables by name, and quotes no secret', async () => {
    const report = await say('doctor', { ADMIN_TOKEN: 'operator-token-of-the-test' });
    expect(those(report, 'look')).toEqual([]);
    expect(those(report, 'wrong')).toEqual([]);
    expect(exitCodeOf(report)).toBe(0);
    const text = formatAnswers(report);
    expect(text).toMatch(/^ {2}ok {5}Set: NODE_ENV, ADMIN_TOKEN\./m);
    expect(text).toMatch(/\n\nAll is well\.$/);
    const { testKey, webhookSecret } = shop.sandbox;
    for (const secret of [testKey, webhookSecret, 'operator-token-of-the-test', databaseUrl()])
      expect(text + JSON.stringify(report)).not.toContain(secret);
  });

  test('goes on without the database, and says how to get it back', async () => {
    const away = { databaseUrl: new Secret('postgres://shop:s3cr3t@127.0.0.1:1/shop') };
    const report = await say('doctor', {}, away);
    expect(exitCodeOf(report)).toBe(2);
    expect(those(report, 'wrong')).toMatchObject([
      saying('database', /127\.0\.0\.1:1\/shop/, /DATABASE_URL/),
    ]);
    expect(report.answers).toContainEqual(
      expect.objectContaining({ says: expect.stringMatching(/does not refuse the key/) }),
    );
    expect(JSON.stringify(report)).not.toContain('s3cr3t');
  });

  test('migrates nothing: it names what is to come, and leaves out what the tables hold', async () => {
    const last = `(SELECT max(migration_name) FROM _prisma_migrations)`;
    await query(`CREATE TABLE kept AS SELECT * FROM _prisma_migrations WHERE migration_name = ${last}`);
    await query(`DELETE FROM _prisma_migrations WHERE migration_name = ${last}`);
    const report = await say('doctor');
    expect(those(report, 'look')).toMatchObject([saying('database', /1 migration to come/, /db:migrate/)]);
    expect(report.answers.map(({ about }) => about)).not.toContain('books');
    expect(await query(`SELECT FROM _prisma_migrations JOIN kept USING (migration_name)`)).toEqual([]);
    await query('INSERT INTO _prisma_migrations SELECT * FROM kept');
    await query('DROP TABLE kept');
    await query(`INSERT INTO _prisma_migrations SELECT 'x', checksum, finished_at, '2999_later', logs, rolled_back_at,
      started_at, applied_steps_count FROM _prisma_migrations LIMIT 1`);
    expect(those(await say('doctor'), 'look')).toMatchObject([
      saying('database', /newer.*2999_later/, /deploy/),
    ]);
    await query(`DELETE FROM _prisma_migrations WHERE id = 'x'`);
  });

  test('tells a service that refuses the key from one that is away and from another program', async () => {
    await shop.hand('keys/refuse', { refuse: true });
    expect(those(await say('doctor'), 'wrong')).toMatchObject([
      saying('payment service', /refuses the key/, /GATEWAY_SECRET_KEY/),
    ]);
    await shop.hand('keys/refuse', { refuse: false });
    const closed = { gatewayUrl: new URL('http://127.0.0.1:1'), sandboxUrl: null };
    const away = await say('doctor', {}, closed);
    expect(those(away, 'wrong')).toMatchObject([saying('payment service', /cannot be asked/, /GATEWAY_URL/)]);
    // A service whose answers nobody has compared with the dialect.
    expect(those(away, 'look')).toMatchObject([
      saying('payment service', /default dialect/, /npm run probe/),
    ]);
    const other = { gatewayUrl: new URL(await listen((_req, res) => res.end('<html>'))) };
    expect(those(await say('doctor', {}, other), 'wrong')).toMatchObject([
      saying('payment service', /no payment service/, /GATEWAY_URL/),
    ]);
  });

  test('tells of an alert that only a running process raises, until it is over', async () => {
    await query(`INSERT INTO alert_states (mode, event, key, cause, alert)
      VALUES ('test', 'checkout-address-refused', '', 'x', '{"reason": "not x.example"}')`);
    const said = saying('work', /checkout-address-refused.* s ago.*: not x\.example\.$/, /CHECKOUT_HOSTS/);
    expect(those(await say('doctor'), 'look')).toMatchObject([said]);
    await query('UPDATE alert_states SET ended_at = now()');
    expect(those(await say('doctor'), 'look')).toEqual([]);
  });

  test('misses a worker, and says which command is one', async () => {
    await query(`UPDATE worker_heartbeats SET beaten_at = now() - interval '5 minutes'`);
    const expected = await say('doctor', { WORKER: 'off' });
    expect(those(expected, 'wrong')).toMatchObject([saying('work', /5 min ago/, /^npm run worker$/)]);
    expect(those(await say('doctor'), 'wrong')).toMatchObject([saying('work', /5 min ago/, /npm start/)]);
    expect(those(await say('doctor', LIVE), 'wrong')).toContainEqual(
      expect.objectContaining(saying('work', /5 min ago/, /^npm run worker;.*systemctl restart/)),
    );
  });

  test('tells of the open cases and of a stopped currency, with the command for each', async () => {
    const references: string[] = [];
    // Two orders of 8500.00 NGN, seen as paid a hundred times too much.
    for (const amount of ['850000.00', '850000.00']) {
      const { reference } = await shop.checkout();
      await shop.hand(`transactions/${reference}/pay`, { amount, notify: false });
      await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
      references.push(reference);
    }
    await shop.program.reconcile({ dryRun: false });
    const report = await say('doctor');
    const [, second = ''] = references;
    expect(those(report, 'wrong')).toMatchObject([
      saying('books', new RegExp(`NGN: payment ${second}`), /npm run currencies -- resume NGN/),
    ]);
    expect(those(report, 'look')).toMatchObject([
      saying('books', /found differences/, /npm run findings/),
      saying('books', /^2 findings open: /, /npm run findings -- list/),
      saying('books', /^In suspense: NGN 1,700,000.00/, /npm run suspense -- list/),
    ]);
    expect(formatAnswers(report)).toMatch(/\n\n1 wrong, 3 to look at\.$/);
  });
});

const LIVE = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://shop@localhost/shop',
  PUBLIC_URL: 'https://127.0.0.1:1',
  GATEWAY_URL: 'https://api.example.com',
  GATEWAY_SECRET_KEY: SANDBOX_LIVE_KEY,
  CHECKOUT_HOSTS: 'pay.example.com',
  ADMIN_TOKEN: 'operator-token-of-the-test',
};

describe('go-live', () => {
  test('takes no sandbox and no demo shop for the real thing', async () => {
    const report = await say('go-live');
    expect(exitCodeOf(report)).toBe(2);
    const todos = those(report, 'wrong').map((answer) => ('todo' in answer ? answer.todo : ''));
    for (const name of ['GATEWAY_SECRET_KEY', 'NODE_ENV', 'DEMO_SHOP', 'PUBLIC_URL', 'OPERATORS'])
      expect(todos.join()).toContain(name);
    expect(formatAnswers(report)).toContain('what only a person can know');
  });

  test('compares the hosts of checkouts, and takes an exact payment as proof of the unit', async () => {
    const isAService = { sandboxUrl: null };
    const before = await say('go-live', {}, isAService);
    const { reference } = await buy('bissap');
    const pay = async (payment: string): Promise<Report> => {
      await shop.hand(`transactions/${payment}/pay`, { notify: false });
      await fetch(`${shop.origin}/checkout/return/${payment}`, { redirect: 'manual' });
      return say('go-live', LIVE, { ...isAService, secretKey: new SecretKey(SANDBOX_LIVE_KEY) });
    };
    const proof = (report: Report) =>
      report.answers.find(({ says }) => /^(No payment was|Amounts)/.test(says));
    expect(proof(before)).toMatchObject({ state: 'wrong' });
    expect(proof(await pay(reference))).toMatchObject({
      state: 'look',
      says: expect.stringMatching(/XOF.*unit/),
    });
    const kwd = await buy('dallah');
    const live = await pay(kwd.reference);
    expect(proof(live)).toEqual({ about: 'tried out', state: 'ok', says: 'Amounts were exact in KWD, XOF.' });
    expect(live.answers).toContainEqual(
      expect.objectContaining(
        saying('tried out', /led to 127\.0\.0\.1,/, /CHECKOUT_HOSTS=pay\.example\.com,127\.0\.0\.1 /),
      ),
    );
    expect(live.answers).toContainEqual(
      expect.objectContaining(saying('tried out', /No live payment/, /cheapest/)),
    );
    expect(live.mode).toBe('live');
  });

  test('tells webhooks that were refused from webhooks that never came', async () => {
    const live = { secretKey: new SecretKey(SANDBOX_LIVE_KEY) };
    await query(`DELETE FROM webhooks`);
    const env = { ...LIVE, WEBHOOK_SECRETS: 'whsec_live' };
    const isAbout = ({ says }: { says: string }): boolean => /webhook/i.test(says);
    const looks = async () => those(await say('go-live', env, live), 'look').filter(isAbout);
    expect(await looks()).toEqual([asLook(saying('tried out', /No webhook has come/, /register/))]);
    for (const mode of ['test', 'live'])
      await query(`INSERT INTO refused_webhooks (minute, mode, reason, times, samples)
        VALUES (date_trunc('minute', now()), '${mode}', 'bad-signature', 3, '[]')`);
    expect(await looks()).toEqual([
      asLook(
        saying('work', /none was taken yet, and what came in the last hour was refused/, /WEBHOOK_SECRETS/),
      ),
      asLook(saying('tried out', /came, and all were refused/, /webhook\.signature in the dialect/)),
    ]);
    await query(`DELETE FROM refused_webhooks`);
  });

  test('never takes what the sandbox did for proof of a service elsewhere', async () => {
    const elsewhere = { sandboxUrl: null, gatewayUrl: new URL('https://127.0.0.2:1') };
    const report = await say('go-live', {}, elsewhere);
    expect(report.answers).toContainEqual(
      expect.objectContaining({ state: 'wrong', says: 'No checkout of the service was opened yet.' }),
    );
    const [mixed] = those(report, 'look').filter(({ says }) => says.includes('orders of the sandbox'));
    expect(mixed).toMatchObject(saying('books', /does not know/, /DATABASE_URL/));
    expect(those(await say('doctor', {}, elsewhere), 'look')).toContainEqual(mixed);
    const begun = `WITH run AS (INSERT INTO reconciliation_runs (id, mode) VALUES ('run_b', 'test') RETURNING id)
      INSERT INTO reconciliation_begins SELECT 'test', $when, 'Ada', 'why', id FROM run`;
    await query(begun.replace('$when', `'2020-01-01'`));
    expect(those(await say('doctor', {}, elsewhere), 'look')).toContainEqual(mixed);
    await query(begun.replace('$when', 'now()').replace('run_b', 'run_c'));
    const after = await say('go-live', {}, elsewhere);
    expect(after.answers.filter(({ says }) => says.includes('orders of the sandbox'))).toEqual([]);
    expect(after.answers).toContainEqual(
      expect.objectContaining({ state: 'ok', says: expect.stringMatching(/test mode began .*Ada/) }),
    );
  });

  test('asks for a begin where the service lists what nobody here knows', async () => {
    const services = { sandboxUrl: null, secretKey: new SecretKey(SANDBOX_LIVE_KEY) };
    await query(`WITH run AS (INSERT INTO reconciliation_runs (id, mode) VALUES ('run_u', 'live') RETURNING id)
      INSERT INTO findings (mode, class, reference, first_run_id, last_run_id, raised_at)
      SELECT 'live', 'unknown_reference', 'inv-1', id, id, now() FROM run`);
    expect(those(await say('go-live', LIVE, services), 'look')).toContainEqual(
      expect.objectContaining(
        saying('tried out', /1 transaction .*unknown/, /after-restore.*--begin --dry-run/),
      ),
    );
  });

  test.each<[string, State, RegExp, RequestListener]>([
    ['a redirect', 'wrong', /redirects/, (_req, res) => res.writeHead(301, { location: '/' }).end()],
    ['another program', 'wrong', /HTTP 200/, (_req, res) => res.end('welcome')],
    ['a refusal in other words', 'wrong', /HTTP 400/, (_req, res) => res.writeHead(400).end('{"type":"x"}')],
  ])('knows its own address from %s', async (_name, state, says, handler) => {
    const PUBLIC_URL = new URL(await listen(handler));
    const [, answer] = await ownAddress({ config: { ...loadConfig({}), PUBLIC_URL } });
    expect(answer).toMatchObject({ state, says: expect.stringMatching(says) });
  });

  test('finds this program at its own address, which keeps nothing of the call', async () => {
    const config = { ...loadConfig({}), PUBLIC_URL: new URL(shop.origin) };
    const [plain, answer] = await ownAddress({ config });
    expect([plain?.state, answer?.state]).toEqual(['wrong', 'ok']);
    expect(await query('SELECT FROM webhooks')).toEqual([]);
  });

  test('shows the first live payment for a person to compare', async () => {
    const { orderId, reference } = await buy('dallah');
    await shop.hand(`transactions/${reference}/pay`, { notify: false });
    await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
    // The sandbox opens no live checkout, as it has no certificate.
    await shop.program.database.transaction(async (tx) => {
      await tx.query('SET LOCAL session_replication_role = replica');
      await tx.query(`UPDATE orders SET mode = 'live' WHERE id = '${orderId}'`);
      for (const table of ['payments', 'releases'])
        await tx.query(`UPDATE ${table} SET mode = 'live' WHERE order_id = '${orderId}'`);
    });
    await query(`INSERT INTO webhooks (mode, body, body_sha256, authenticity, outcome)
      VALUES ('test', '', sha256(''), 'signed', 'ignored')`);
    const services = { sandboxUrl: null, secretKey: new SecretKey(SANDBOX_LIVE_KEY) };
    const { answers } = await say('go-live', LIVE, services);
    const told = answers.filter(({ state }) => state === 'ok').map(({ says }) => says);
    expect(told).toContainEqual(expect.stringMatching(/^Live checkouts open at 127\.0\.0\.1\.$/));
    expect(told).toContainEqual(
      expect.stringMatching(`^The first live payment was KWD 18.500, confirmed .*explain -- ${orderId}`),
    );
    // Those of test mode vouch for live mode only before the first payment there.
    expect(answers).toContainEqual(
      expect.objectContaining({ state: 'look', says: 'No webhook has come yet.' }),
    );
  });
});

const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** Another program on this machine. @returns its address */
async function listen(handler: RequestListener): Promise<string> {
  const server = createServer(handler);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
