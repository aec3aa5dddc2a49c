import { afterAll, beforeAll, expect, test as testOfBoth } from '@jest/globals';
import type { Report } from '../../src/commands/doctor/answers.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { IS_WHOLE, someOf } from '../support/extent.ts';
import { cleanUp, processesIn, runProcess, type Outcome } from '../support/process.ts';
import { startShop, type ShopProcess } from '../support/shop-process.ts';
import { testOfAll, testOfFew as test } from '../support/test-of-all.ts';

let shop: ShopProcess;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(cleanUp);

/** What `npm run <command>` does, in the folder of the running server and with its settings. */
function run(...args: string[]): Promise<Outcome> {
  return runProcess('local/start.ts', { cwd: shop.folder, env: { PORT: String(shop.port) }, args });
}

/** What a run said beside its result; how far it is, it tells every few seconds, and a busy machine takes as long. */
function complaints({ stderr }: Outcome): string {
  return stderr.replace(/^(reading history|comparing history|verifying payments)\b.*\n/gm, '');
}

/** An order that is paid with 10.000 of the 18.500 KWD it costs, seen by the shop. */
async function underpaidOrder(): Promise<{ orderId: string; reference: string }> {
  const order = await shop.checkout({ email: 'dalia@example.com', items: [{ sku: 'dallah', quantity: 1 }] });
  await shop.hand(`transactions/${order.reference}/pay`, { amount: '10.000' });
  await shop.becomes(order.orderId, 'review');
  return order;
}

/** Resolves the one open item of a list, after everything that must not resolve it. @returns its id */
async function workThrough(list: string, subject: string, told: string): Promise<string> {
  const before = await run(list, 'list');
  expect(before.stdout).toMatch(new RegExp(`^\\d+ +Paid too little .*${subject}$`, 'm'));
  const id = idOf(before);
  const refused = [
    ['resolve', id, '--by', 'Ngozi', '--note', '  '],
    ['resolve', id, '--by', 'reconciliation', '--note', 'paid back'],
    ['resolve', '--by', 'Ngozi', '--note', 'paid back'],
  ];
  // `npm test` tries them in its own process: commands/work-lists.test.ts.
  const refusals = (IS_WHOLE ? refused : []).map((args) => run(list, ...args));
  for (const { code, stdout, stderr } of await Promise.all(refusals)) {
    expect([code, stdout]).toEqual([64, '']);
    expect(stderr).toMatch(/--by/);
    expect(stderr).not.toMatch(/^ +at /m);
  }
  const resolve = ['resolve', id, '--note', 'paid back', '--by', 'Ngozi'];
  const refund = list === 'suspense' ? ['--decision', 'refund', '--refund', 'RF-1'] : [];
  const outcome = await run(list, ...resolve, ...refund);
  expect(outcome.stdout + outcome.stderr).toContain(told);
  return id;
}

const idOf = ({ stdout }: Outcome): string => /^\d+/m.exec(stdout)?.[0] ?? `no id in: ${stdout}`;

test('reconcile --json prints exactly one object, in the documented form', async () => {
  const { orderId, reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`);
  await shop.becomes(orderId, 'paid');
  const outcome = await run('reconcile', '--json');
  const { code, stdout } = outcome;
  expect([code, complaints(outcome)]).toEqual([0, '']);
  expect(stdout.trimEnd()).not.toContain('\n');
  const report = JSON.parse(stdout) as ReconciliationReport;
  expect(report).toMatchObject({
    mode: 'test',
    complete: true,
    verdict: 'agreed',
    history: { records: 1, references: 1, pages: expect.any(Number), unreadable: 0 },
    payments: 1,
    matched: 1,
    repaired: 0,
    verified: 0,
    identity: [
      { currency: 'NGN', serviceTotal: '8500.00', confirmed: '8500.00', classes: {}, difference: '0.00' },
    ],
    findings: {},
    items: [],
    balances: null,
  });
  expect(report.runId).toMatch(/^run_/);
  expect(Date.parse(report.finishedAt)).toBeGreaterThanOrEqual(Date.parse(report.startedAt));
});

testOfAll('explain tells the story of an order, by its id and by a reference', async () => {
  const { orderId, reference } = await shop.checkout();
  // What is paid the poller leaves alone: both tell the same.
  await shop.hand(`transactions/${reference}/pay`);
  await shop.becomes(orderId, 'paid');
  const [byId, byReference, unknown] = await Promise.all([
    run('explain', orderId),
    run('explain', reference),
    run('explain', 'nobody-knows-it'),
  ]);
  expect([byId.code, byId.stderr]).toEqual([0, '']);
  expect(byId.stdout).toContain(`Order ${orderId}, 1 × Ankara tote bag, NGN 8,500.00, paid (test`);
  expect(byId.stdout).toMatch(/^record complete: \d entries, none missing or altered$/m);
  expect(byReference).toEqual(byId);
  expect(unknown).toMatchObject({
    code: 1,
    stdout: 'No order or payment "nobody-knows-it".\n',
    stderr: '',
  });
});

testOfBoth(
  'an underpayment is a finding and stands in suspense until somebody resolves both by name',
  async () => {
    const { orderId, reference } = await underpaidOrder();
    const found = await run('reconcile');
    expect(found.code).toBe(1);
    expect(found.stdout).toMatch(/^NOT AGREED\. 1 payment needs a decision\.\n/);
    expect(found.stdout).toMatch(/^\d+ payments of ours: \d+ agree, /m);
    // The decision about the money closes both.
    const subject = `${reference.slice(0, 8)} +${orderId.slice(0, 8)}`;
    if (IS_WHOLE) await workThrough('findings', subject, 'npm run suspense -- resolve');
    const item = await workThrough('suspense', subject, 'Resolved.');
    if (IS_WHOLE) {
      const again = ['resolve', item, '--note', 'x', '--by', 'Ngozi'];
      expect(await run('suspense', ...again)).toMatchObject({
        ...{ code: 1, stdout: expect.stringContaining('There is no such open item, or its surplus was') },
      });
      const none = { findings: 'No open findings.\n', suspense: 'No money is held.\n' };
      for (const [list, stdout] of Object.entries(none))
        expect(await run(list)).toMatchObject({ code: 0, stdout, stderr: '' });
    }
    expect((await run('reconcile')).code).toBe(0);
  },
);

test('a reconciliation that cannot be completed exits with 2, and standard output is the report alone', async () => {
  await shop.hand('keys/refuse', { refuse: true });
  // Whatever is logged, standard output belongs to the result.
  const env = { PORT: String(shop.port), LOG_LEVEL: 'debug' };
  const json = await runProcess('local/start.ts', { cwd: shop.folder, env, args: ['reconcile', '--json'] });
  await shop.hand('keys/refuse', { refuse: false });
  expect(json.code).toBe(2);
  expect(JSON.parse(json.stdout)).toMatchObject({ complete: false, verdict: 'incomplete' });
  expect(json.stderr).toContain('"msg":"reconciled"');
});

testOfAll('it says why, and a database that is away is a reason', async () => {
  await shop.hand('keys/refuse', { refuse: true });
  const text = await run('reconcile');
  await shop.hand('keys/refuse', { refuse: false });
  expect(text.code).toBe(2);
  expect(text.stdout).toContain('GATEWAY_SECRET_KEY');
  const closed = { PORT: String(shop.port), DATABASE_URL: 'postgres://shop@127.0.0.1:1/shop' };
  const away = await runProcess('local/start.ts', { cwd: shop.folder, env: closed, args: ['reconcile'] });
  expect(away.code).toBe(2);
});

test('doctor looks at the running shop, and tells by its exit code how it stands', async () => {
  const [json, text] = await Promise.all([run('doctor', '--json'), run('go-live')]);
  const report = JSON.parse(json.stdout) as Report;
  expect(report).toMatchObject({ mode: 'test', answers: expect.any(Array) });
  expect(json).toMatchObject({ code: ['ok', 'look', 'wrong'].indexOf(report.verdict), stderr: '' });
  expect(report.answers).toContainEqual(
    expect.objectContaining({ about: 'work', says: expect.stringMatching(/^A worker \(.+\) reported/) }),
  );
  expect(text).toMatchObject({ code: 2, stdout: expect.stringContaining('The sandbox stands in for it.') });
});

testOfBoth(
  'what is no command, and what is typed wrongly after one, is answered with its usage',
  async () => {
    const wrong = [
      ['nonsense'],
      [],
      ['reconcile', '--jsno'],
      ['reconcile', 'dry-run'],
      ['reconcile', '--since', 'noon'],
      ['explain'],
      ['doctor', 'now'],
    ];
    const answers = someOf(wrong, 1).map((args) => run(...args));
    for (const { code, stdout, stderr } of await Promise.all(answers)) {
      expect([code, stdout]).toEqual([64, '']);
      expect(stderr).toMatch(
        /^[^\n]+\n\n(Commands: reconcile, explain, |[^\n]+\n\nUsage\n {2}npm run (reconcile|explain|doctor) )/,
      );
      expect(stderr).not.toMatch(/^ +at /m);
    }
  },
);

testOfAll('doctor explains itself', async () => {
  const help = await run('doctor', '--help');
  expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('npm run doctor') });
});

testOfAll('a command finds the parts of the running server whatever PORT it is started with', async () => {
  const elsewhere = { cwd: shop.folder, env: { PORT: '0' } };
  const listed = await runProcess('local/start.ts', { ...elsewhere, args: ['currencies', 'list'] });
  expect(listed).toMatchObject({ code: 0, stdout: 'No currency is stopped.\n' });
  const usage = await run('currencies', 'resume', 'NGN');
  expect([usage.code, usage.stdout]).toEqual([64, '']);
  expect(usage.stderr).toMatch(/npm run currencies -- resume <currency/);
});

testOfAll(
  'earlier runs are listed, replayed to the byte and compared, and findings are exported',
  async () => {
    const printed = await run('reconcile', '--json');
    const { runId } = JSON.parse(printed.stdout) as ReconciliationReport;
    const [runs, replay, diff, exported, wrong, unknown] = await Promise.all([
      run('reconcile', '--runs'),
      run('reconcile', '--replay', runId),
      run('reconcile', '--diff', runId, runId),
      run('export', 'findings', '--status', 'open'),
      run('reconcile', '--runs', '--show', runId),
      run('reconcile', '--show', 'run_none'),
    ]);
    expect(runs.stdout).toContain(runId);
    expect(replay).toMatchObject({ code: 0, stdout: printed.stdout, stderr: '' });
    expect(diff.stdout).toContain('The same findings are open after both.');
    expect(exported.stdout).toMatch(/^"id","class","reference",/);
    expect([wrong.code, unknown.code]).toEqual([64, 64]);
    expect(unknown.stderr).toContain('there is no run run_none in test mode');
  },
);

testOfBoth(
  'without a running server a command starts the embedded parts by itself and stops them again',
  async () => {
    const { orderId, reference } = await shop.checkout();
    await shop.hand(`transactions/${reference}/pay`, { notify: false });
    await shop.stop('SIGKILL');
    const repaired = await run('reconcile', '--json');
    expect([repaired.code, complaints(repaired)]).toEqual([0, '']);
    expect((JSON.parse(repaired.stdout) as ReconciliationReport).repaired).toBe(1);
    if (IS_WHOLE) expect((await run('explain', orderId)).stdout).toContain(`Order ${orderId}, `);
    expect(processesIn(shop.folder)).toEqual([]);
  },
);
