import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { startSandbox, type Sandbox } from '../../local/sandbox/sandbox.ts';
import { createLogger } from '../../src/platform/logger.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { initialize } from '../local/sandbox/support.ts';
import { startCollector } from '../support/collector.ts';
import { cloneDatabase } from '../support/database.ts';
import { cleanUp, freePort, newFolder, onCleanUp, runProcess, startProcess } from '../support/process.ts';
import { aBasket, eventually, post, type CheckoutAnswer } from '../support/program.ts';
import { startReleaseReceiver } from '../support/release-receiver.ts';
import { startShop } from '../support/shop-process.ts';
import { openTerminal, ENTER } from '../support/terminal.ts';

afterEach(cleanUp);

// docs/go-live.md as a shop does it, on one database, with a service whose keys others have used before.

const [TEST_KEY, LIVE_KEY] = ['sk_test_of_the_shop', 'sk_live_of_the_shop'];
const WEBHOOK_SECRET = 'whsec_of_the_service';
const TOKEN = 'operator-token-of-the-test';
/** More than one page of the service's list. */
const STRANGERS = 60;
const BEGIN = ['--begin', '--by', 'Ada', '--note', 'the shop moves'];
const WARN = 40;

test('from the sandbox to a service and on to real money, nothing that was before alarms or interrupts', async () => {
  const shop = await openMove();
  const seen: Record<string, unknown> = {};
  const reconcile = async (when: string, ...args: string[]): Promise<void> => {
    const { verdict, setAside, findings } = await shop.reconcile(...args);
    seen[`reconcile ${when}`] = { verdict, setAside, findings };
  };

  // 1. The sandbox, with purchases: paid, failed, left.
  shop.set({});
  const sandbox = await startShop({ folder: shop.folder, port: shop.port });
  const [first, second] = [await sandbox.checkout(), await sandbox.checkout(), await sandbox.checkout()];
  await sandbox.hand(`transactions/${first.reference}/pay`);
  await sandbox.hand(`transactions/${second.reference}/fail`);
  await sandbox.becomes(first.orderId, 'paid');
  await reconcile('at the sandbox');
  await sandbox.stop();

  // 2. The service's test mode: the probe, a begin, and the nodes of production.
  await shop.addStrangers(TEST_KEY);
  shop.set({ GATEWAY_URL: shop.service.url, GATEWAY_SECRET_KEY: TEST_KEY });
  await shop.probe();
  shop.set({ ...shop.production, GATEWAY_SECRET_KEY: TEST_KEY });
  await reconcile('test key, to try the begin', '--begin', '--dry-run');
  await reconcile('test key, begin', ...BEGIN);
  const inTest = await shop.startNodes();
  await shop.buy('fail');
  await shop.buy('pay');
  await reconcile('test key, orders');
  seen['to look at with the test key'] = await shop.toLookAt();
  // The sandbox's order has a release that no receiver got.
  seen['send-unsent'] = (await shop.type('releases', 'send-unsent', '--by', 'Ada')).stdout;
  const logs = await inTest.stop();

  // 3. Real money.
  await shop.addStrangers(LIVE_KEY);
  const live = { GATEWAY_SECRET_KEY: LIVE_KEY, CHECKOUT_HOSTS: 'pay.example.com' };
  shop.set({ ...shop.production, ...live });
  await reconcile('live key, begin', ...BEGIN);
  const inLive = await shop.startNodes();
  seen['to look at with the live key'] = await shop.toLookAt();
  await shop.buy('pay');
  await reconcile('live key, orders');
  seen['to look at in the end'] = await shop.toLookAt();
  logs.push(...(await inLive.stop()));

  const agreed = (setAside?: object) => ({ verdict: 'agreed', setAside, findings: {} });
  const inLists = { before_begin: STRANGERS + 2, probe: 3 };
  expect({ ...seen, logs: new Set(logs), alerts: shop.alerts.map(({ body }) => body.toString()) }).toEqual({
    'reconcile at the sandbox': agreed(),
    'reconcile test key, to try the begin': agreed(inLists),
    'reconcile test key, begin': agreed(inLists),
    'reconcile test key, orders': agreed(inLists),
    'to look at with the test key': [
      ...OF_THIS_TEST,
      'GATEWAY_SECRET_KEY is a test key, so no real money moves in this production.',
      'The name of the database says that it is for tests.',
      'Checkouts led to 127.0.0.1, pay.example.com, not listed in CHECKOUT_HOSTS.',
      'No live payment was confirmed yet.',
    ],
    'send-unsent': 'Due now: 0.\n',
    'reconcile live key, begin': agreed({ before_begin: STRANGERS }),
    'to look at with the live key': [
      ...[...OF_THIS_TEST, ...OF_THIS_TEST_LIVE],
      'Checkouts led to 127.0.0.1, not listed in CHECKOUT_HOSTS.',
      'No live payment was confirmed yet.',
    ],
    'reconcile live key, orders': agreed({ before_begin: STRANGERS }),
    'to look at in the end': [...OF_THIS_TEST, ...OF_THIS_TEST_LIVE],
    logs: new Set([
      'GATEWAY_SECRET_KEY: is a test key, so no real money moves in this production',
      "order pages bear the demo shop's name: say who you are in src/custom/identity.ts",
      'DATABASE_URL: the name of the database says that it is for tests, and the key is live',
      'GATEWAY_URL: is this machine, and the key is live: the program that listens there gets the key',
    ]),
    alerts: [],
  });
});

// What is left to look at because this is a test.
const OF_THIS_TEST = ['GATEWAY_URL is this machine.', "Order pages bear the demo shop's name."];
const OF_THIS_TEST_LIVE = [
  'DATABASE_URL the name of the database says that it is for tests, and the key is live.',
  'GATEWAY_URL is this machine, and the key is live: the program that listens there gets the key.',
];

async function openMove() {
  const { url: DATABASE_URL, drop } = await cloneDatabase();
  onCleanUp(drop);
  const [folder, port] = [await newFolder(), await freePort()];
  const [alarmed, receiver] = [await startCollector(204), await startReleaseReceiver()];
  for (const one of [alarmed, receiver]) onCleanUp(one.close);
  const service = await startSandbox({
    ...{ host: '127.0.0.1', port: 0, dataDir: null, logger: createLogger('silent') },
    ...{ profile: 'minor-units', publicUrl: 'https://pay.example.com', extraKeys: [TEST_KEY, LIVE_KEY] },
    webhook: { url: `http://127.0.0.1:${port}/webhooks/payments`, secret: WEBHOOK_SECRET },
  });
  onCleanUp(service.close);
  const dialect = join(folder, 'found/dialect.json');
  const production = {
    NODE_ENV: 'production',
    PUBLIC_URL: await startTls(folder, port),
    GATEWAY_URL: service.url,
    GATEWAY_DIALECT: dialect,
    WEBHOOK_SECRETS: WEBHOOK_SECRET,
    ADMIN_TOKEN: TOKEN,
    ALERT_URL: `${alarmed.url}/alerts`,
    ALERT_SECRET: receiver.env.FULFILMENT_SECRET,
    ...receiver.env,
  };
  const env = { NODE_EXTRA_CA_CERTS: join(folder, 'tls.crt') };
  const type = (program: string, ...args: string[]) => runProcess(program, { cwd: folder, env, args });
  const hand = async (path: string): Promise<void> => {
    const answer = await post(`${service.url}/sandbox/${path}`, {});
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  };
  return {
    ...{ folder, port, service, production, type, alerts: alarmed.requests },
    /** What the shop's `.env` says. */
    set: (variables: Record<string, string>): void => {
      const lines = Object.entries({ DATABASE_URL, PORT: String(port), ...variables });
      writeFileSync(join(folder, '.env'), lines.map((pair) => pair.join('=')).join('\n'));
    },
    reconcile: async (...args: string[]): Promise<ReconciliationReport> => {
      const { stdout, stderr } = await type('reconcile', '--json', ...args);
      if (!stdout.startsWith('{')) throw new Error(stderr);
      return JSON.parse(stdout) as ReconciliationReport;
    },
    /** Every sentence of `go-live` that is not `ok`. */
    toLookAt: async (): Promise<string[]> => {
      const { stdout, stderr } = await type('go-live', '--json');
      if (!stdout.startsWith('{')) throw new Error(stderr);
      const { answers } = JSON.parse(stdout) as { answers: { state: string; says: string }[] };
      return answers.filter(({ state }) => state !== 'ok').map(({ says }) => says);
    },
    probe: () => probe(folder, service),
    addStrangers: async (key: string): Promise<void> => {
      for (let at = 0; at < STRANGERS; at += 1) {
        const reference = `before-us-${key.slice(3, 7)}-${at}`;
        await initialize(service, { amount: '2500', reference: JSON.stringify(reference) }, key);
        if (at % 2 === 0) await hand(`transactions/${reference}/pay`);
      }
    },
    startNodes: async () => {
      const nodes = ['server', 'worker'].map((name, at) =>
        startProcess(name, {
          cwd: folder,
          env: { ...env, WORKER: 'off', PORT: String(port), WORKER_PORT: String(at === 0 ? 0 : port + 1) },
        }),
      );
      await eventually(() =>
        fetch(`http://127.0.0.1:${port}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      );
      /** @returns what they logged at warn and above */
      const stop = async (): Promise<string[]> => {
        const ended = await Promise.all(nodes.map((node) => node.stop()));
        return ended.flatMap(({ stdout, stderr }) => [...loud(stdout), ...(stderr === '' ? [] : [stderr])]);
      };
      return { stop };
    },
    /** A purchase that ends as the order page says. */
    buy: async (end: 'pay' | 'fail'): Promise<void> => {
      const opened = await post(`http://127.0.0.1:${port}/checkout`, aBasket);
      const { orderId, reference } = (await opened.json()) as CheckoutAnswer;
      await hand(`transactions/${reference}/${end}`);
      const wanted = end === 'pay' ? 'paid' : 'failed';
      await eventually(async () => {
        const answer = await fetch(`http://127.0.0.1:${port}/orders/${orderId}`);
        return ((await answer.json()) as { status: string }).status === wanted;
      });
    },
  };
}

function loud(stdout: string): string[] {
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
  const parsed = lines.map((line) => JSON.parse(line) as { level: number; msg: string });
  return parsed.filter(({ level }) => level >= WARN).map(({ msg }) => msg);
}

/** Pays where the probe asks, and answers what it asks. */
async function probe(folder: string, service: Sandbox): Promise<void> {
  const screen = openTerminal('tools/probe/main.ts', {
    cwd: folder,
    args: ['--out', 'found', '--wait', '60'],
  });
  const [, address = ''] = await screen.shows(/Pay 101\.37 NGN here, then press Enter:\s+(http\S+)/);
  await fetch(`${service.url}${new URL(address).pathname}/pay`, { method: 'POST', redirect: 'manual' });
  screen.type(ENTER);
  const answered = eventually(async () => {
    const end = await Promise.race([
      screen.ended(),
      new Promise((resolve) => setTimeout(resolve, 200, null)),
    ]);
    if (end === null) screen.type(ENTER);
    return end;
  });
  expect(await answered).toBe(1);
  // The probe names at its end what it could not see; the service's people say it.
  const file = join(folder, 'found/dialect.json');
  const found = JSON.parse(readFileSync(file, 'utf8')) as object;
  const told = { amountUnit: 'minor', webhook: { signature: { algorithm: 'sha512' } } };
  writeFileSync(file, JSON.stringify({ ...found, ...told }));
}

/** The proxy in front of the program. @returns its address */
async function startTls(folder: string, port: number): Promise<string> {
  const [key, cert] = [join(folder, 'tls.key'), join(folder, 'tls.crt')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', key, '-out', cert], {
    stdio: 'pipe',
  });
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (req, res) => {
    const { method = 'GET', url = '/', headers } = req;
    const passed = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    passed.on('error', () => res.writeHead(502).end());
    req.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onCleanUp(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}
