import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { happens } from '../reconciliation/makers.ts';
import { startDesk, type Desk } from '../reconciliation/support.ts';
import { eventually } from '../support/eventually.ts';
import { befall, healService, tryCheckout } from '../support/failures.ts';
import { comeBack } from '../support/outside.ts';
import { startProcess } from '../support/process.ts';
import { TEST_KEY } from '../support/shop.ts';

// A record whose status is a text with our key and a person in it, and an adapter that returns that
// text or throws it.

const adapterAt = (name: string) => fileURLToPath(new URL(`../support/adapters/${name}.ts`, import.meta.url));
let desk: Desk;
beforeAll(async () => {
  desk = await startDesk({ env: { GATEWAY_ADAPTER: adapterAt('betraying'), LOG_LEVEL: 'debug' } });
});
afterEach(() => healService(desk));
afterAll(() => desk.stop());

const BETRAYS = /no_real_money|eve@example|Ngozi Okafor/i;
/**
 * A report tells why the first row is unreadable. A payment and the log tell why it was not opened.
 */
const QUOTED = /no_real_money|eve@example/i;
const statusOf = (how: string) => `${how} key=${TEST_KEY} of Ngozi Okafor, eve@example.com`;
/** Notes are written in the background, so the test waits for them. */
async function noted(): Promise<string> {
  const rows = await eventually(async () => {
    const found = await desk.database.query(`SELECT name, value FROM settings WHERE name LIKE 'adapter-fault:%'`);
    return found.length > 0 && found;
  });
  return JSON.stringify(rows);
}

function expectNot(betrays: RegExp, places: Record<string, unknown>): void {
  for (const [place, content] of Object.entries(places))
    expect([place, betrays.exec(JSON.stringify(content))?.[0]]).toEqual([place, undefined]);
}

test.each([
  ['pass', BETRAYS],
  ['quote', QUOTED],
])(
  'when the adapter would %s such a status of a history row, report, settings, doctor and log do not show it',
  async (how, inReport) => {
    await desk.database.query(`DELETE FROM settings WHERE name LIKE 'adapter-fault:%'`);
    const row = { id: 'r', reference: `stranger${how}`, status: statusOf(how), amount: 1, currency: 'NGN' };
    await befall(desk, 'history', 'body', { body: { status: true, data: { data: [row], hasNextPage: false } } });
    const { out, err } = await desk.run('reconcile', '--json');
    expect(JSON.parse(out)).toMatchObject({ history: { unreadable: 1 } });
    const settings = await noted();
    const doctor = await desk.run('doctor');
    expect(doctor.out).toMatch(/adapter: read (throws|returns)/);
    const runs = await desk.database.query('SELECT to_jsonb(runs)::text FROM runs');
    expectNot(inReport, { report: out, runs });
    expectNot(BETRAYS, { terminal: err, settings, doctor: doctor.out + doctor.err, log: desk.logs() });
  },
);

test.each(['pass', 'quote'])(
  'when the adapter would %s such a status of an answer of verify, settings, doctor and log do not show it',
  async (how) => {
    await desk.database.query(`DELETE FROM settings WHERE name LIKE 'adapter-fault:%'`);
    await desk.restart();
    const { reference } = await desk.checkout();
    await happens(desk, reference, 'record', { status: statusOf(how) });
    await comeBack(desk, reference);
    await eventually(async () => {
      const unread = 'SELECT 1 FROM payments WHERE reference = $1 AND unreadable_since IS NOT NULL';
      expect(await desk.database.query(unread, [reference])).toHaveLength(1);
    });
    const settings = await noted();
    const doctor = await desk.run('doctor');
    expectNot(BETRAYS, { settings, doctor: doctor.out + doctor.err, log: desk.logs() });
  },
);

test('when the adapter throws such an answer of initialize, settings and doctor do not show it, and the key is nowhere', async () => {
  await desk.database.query(`DELETE FROM settings WHERE name LIKE 'adapter-fault:%'`);
  await desk.restart();
  await befall(desk, 'initialize', 'body', { body: { status: true, message: statusOf('quote') } });
  expect(await tryCheckout(desk, 'quoted@example.com')).toMatchObject({ status: 503 });
  const settings = await noted();
  const doctor = await desk.run('doctor');
  expectNot(BETRAYS, { settings, doctor: doctor.out + doctor.err });
  const payments = await desk.database.query('SELECT to_jsonb(payments)::text FROM payments');
  const journal = await desk.database.query('SELECT to_jsonb(journal)::text FROM journal');
  expectNot(QUOTED, { payments, journal, log: desk.logs() });
});

test('when `authorize` throws the key, the program does not start and does not show it', async () => {
  const env = { DATABASE_URL: desk.database.url, GATEWAY_URL: String(desk.sandbox?.url), PORT: '0' };
  const own = { GATEWAY_SECRET_KEY: TEST_KEY, GATEWAY_ADAPTER: adapterAt('loose') };
  const started = startProcess('src/server.ts', { ...env, ...own });
  await eventually(() => started.ended());
  const said = started.stdout() + started.stderr();
  expect(said).toMatch(/authorize/);
  expectNot(BETRAYS, { said });
});
