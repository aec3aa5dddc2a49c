import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import sandbox from '../local/sandbox-adapter.ts';
import { differencesIn, loadExamples, openReader, SECTIONS } from '../tools/examples.ts';
import { copyProject, type ProjectCopy } from './support/project-copy.ts';
import { TEST_KEY } from './support/shop.ts';

// Runs npm run probe -- --record in a copy of the project, against a service that echoes the key
// and names persons everywhere.

/** Texts that must not be written. */
const PRIVATE = [
  '"ada"',
  'ada@',
  'lovelace',
  '+234',
  '203.0.113',
  '4242',
  'marina',
  '2234567890',
  TEST_KEY.slice('sk_test_'.length),
];
const EMPTY = {
  asked: { reference: 'ref-1', mode: 'test' },
  initialize: [{ name: 'mine', answer: {}, reads: 'unknown' }],
  verify: [{ name: 'recorded: paid', answer: { data: null }, reads: 'not_found' }],
  history: [{ name: 'mine', path: '/', page: {}, reads: 'unreadable' }],
  webhooks: [],
  signatures: [],
};

let project: ProjectCopy;
let service: Server;
let file: string;
beforeAll(async () => {
  project = await copyProject();
  file = join(project.folder, 'src/custom/service.examples.json');
  // A shop's own adapter may differ, so the copy gets one that reads like the sandbox's.
  const adapter = `export { default } from '../../local/sandbox-adapter.ts';`;
  await writeFile(join(project.folder, 'src/custom/service.ts'), adapter);
  await writeFile(file, JSON.stringify(EMPTY));
  service = startTalkativeService();
  await once(service, 'listening');
});
afterAll(async () => {
  service.close();
  await project.remove();
});

/** Each payment is pending at its first verification, and paid from then on. */
function startTalkativeService(): Server {
  const asked = new Map<string, number>();
  const person = {
    customer: { email: 'Ada@Lovelace.example', first_name: 'Ada', phoneNumber: '+2348012345678' },
    payerName: 'Ada Lovelace',
    card: { last4: '4242', holder: 'ADA LOVELACE' },
    billing: { street_address: '1 Marina', ip: '203.0.113.9', clientIP: '203.0.113.9', bvn: '2234567890' },
    note: 'a receipt went to ada.lovelace@example.org',
    key: TEST_KEY,
  };
  const record = (reference: string) => {
    const status = (asked.get(reference) ?? 0) > 1 ? 'SUCCESS' : 'PENDING';
    return { ...person, id: 7, reference, status, amount: 25, currency: 'NGN' };
  };
  return createServer((req, res) => {
    let body = '';
    req.on('data', (more: Buffer) => (body += more.toString()));
    req.on('end', () => {
      const [, reference = ''] = /verify\/(\w+)$/.exec(req.url ?? '') ?? [];
      const ours = [...asked.keys()].at(-1) ?? '';
      let data: unknown = { data: [record(ours), { ...record('other'), reference: 'of-grace' }], hasNextPage: false };
      if (req.method === 'POST') {
        asked.set((JSON.parse(body) as { reference: string }).reference, 0);
        data = 'https://pay.example/abc';
      } else if (reference !== '') {
        if (asked.has(reference)) asked.set(reference, (asked.get(reference) ?? 0) + 1);
        data = asked.has(reference) ? record(reference) : null;
      }
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ status: true, message: `for ${TEST_KEY}`, email: 'ada@lovelace.example', data }));
    });
  }).listen(0, '127.0.0.1');
}

function probe(env: Record<string, string>, ...words: string[]): Promise<{ code: number; said: string }> {
  const { PATH = '', HOME = '' } = process.env;
  return new Promise((resolve) => {
    const options = { cwd: project.folder, env: { PATH, HOME, ...env } };
    execFile('npm', ['run', '--silent', 'probe', '--', ...words], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), said: stdout + stderr });
    });
  });
}

test('--record is refused without GATEWAY_URL, or with GATEWAY_ADAPTER', async () => {
  const [here, another] = [
    await probe({}, '--record'),
    await probe({ GATEWAY_URL: 'http://127.0.0.1:9', GATEWAY_ADAPTER: 'x.ts' }, '--record'),
  ];
  for (const { code, said } of [here, another]) {
    expect(said).toContain('set GATEWAY_URL to your service, and no GATEWAY_ADAPTER');
    expect(code).toBe(2);
  }
  expect(await readFile(file, 'utf8')).toBe(JSON.stringify(EMPTY));
});

test('--record adds what it read as examples that pass, without the key and without personal data', async () => {
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const { code, said } = await probe({ GATEWAY_URL: url, GATEWAY_SECRET_KEY: TEST_KEY }, '--record');
  expect(said).toContain('The adapter reads everything.');
  expect(said).toContain('Written to src/custom/service.examples.json');
  expect(said).toContain('verify: "recorded: paid"');
  expect(said).toContain('Read them before you commit them');
  expect(said.trimEnd()).toMatch(/\nAll examples pass: npm test -- test\/rules\/adapter\.test\.ts$/);
  expect(code).toBe(0);

  const text = await readFile(file, 'utf8');
  expect(PRIVATE.filter((one) => text.toLowerCase().includes(one.toLowerCase()))).toEqual([]);
  expect(text).not.toContain('of-grace');
  expect(text).toContain('a receipt went to payer@example.com');
  expect(text).toContain('[redacted]');

  const examples = loadExamples(file);
  const names = SECTIONS.flatMap((section) => examples[section].map(({ name }) => `${section} ${name}`));
  expect(names).toEqual([
    'initialize mine',
    'initialize recorded: initialize',
    // The probe did not record this example, so it stays.
    'verify recorded: paid',
    'verify recorded: not_found',
    'verify recorded: pending',
    'verify recorded: paid',
    'history mine',
    'history recorded: a page of the list',
  ]);
  const reads = { outcome: 'paid', word: 'SUCCESS', amount: '25.00 NGN', id: '7' };
  expect(examples.verify.at(-1)).toMatchObject({ recorded: true, reads });

  const reader = await openReader(sandbox);
  try {
    for (const section of SECTIONS) expect(await differencesIn(section, examples, reader)).toEqual([]);
  } finally {
    await reader.close();
  }
});

test('a second --record replaces the examples of the first', async () => {
  const before = loadExamples(file);
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const { code } = await probe({ GATEWAY_URL: url, GATEWAY_SECRET_KEY: TEST_KEY }, '--record', '25.00', 'NGN');
  const after = loadExamples(file);
  expect(SECTIONS.map((section) => after[section].length)).toEqual(SECTIONS.map((section) => before[section].length));
  expect(after.verify.at(-1)?.asked).not.toEqual(before.verify.at(-1)?.asked);
  expect(code).toBe(0);
});

test('once the adapter knows a new status word, --record removes its old recording of that word and nothing else', async () => {
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const words = `paid: ['success', 'paid'],`;
  const adapter = join(project.folder, 'local/sandbox-adapter.ts');
  const shipped = await readFile(adapter, 'utf8');
  const env = { GATEWAY_URL: url, GATEWAY_SECRET_KEY: TEST_KEY };
  await writeFile(file, JSON.stringify(EMPTY));
  await writeFile(adapter, shipped.replace(words, ''));
  const before = await probe(env, '--record');
  expect(before.said).toContain('verify: "recorded: unknown"');
  expect(before.code).toBe(1);

  const examples = JSON.parse(await readFile(file, 'utf8')) as typeof EMPTY & { verify: object[] };
  const failed = { answer: { data: { reference: 'ref-1', status: 'FAILED' } }, reads: 'not_found' };
  examples.verify.push({ name: 'recorded: failed', recorded: true, asked: EMPTY.asked, ...failed });
  await writeFile(file, JSON.stringify(examples));
  await writeFile(adapter, shipped);
  const { code, said } = await probe(env, '--record');
  expect(said).toContain('verify: "recorded: unknown" of an earlier recording is removed');
  expect(said.trimEnd()).toMatch(/\n1 other example differs: npm test -- test\/rules\/adapter\.test\.ts shows it$/);
  expect(code).toBe(1);
  const names = loadExamples(file).verify.map(({ name }) => name);
  expect(names.sort()).toEqual([
    'recorded: failed',
    'recorded: not_found',
    'recorded: paid',
    'recorded: paid',
    'recorded: pending',
  ]);
});
