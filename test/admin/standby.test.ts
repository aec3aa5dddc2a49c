import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DATABASE } from '../../src/commands/doctor/connections.ts';
import { examine } from '../../src/commands/doctor/examine.ts';
import { loadConfig } from '../../src/config.ts';
import { DEFAULTS } from '../../src/extensions.ts';
import { SecretKey } from '../../src/gateway/secret-key.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { Secret } from '../../src/platform/secret.ts';
import { startStandby, type Standby } from '../support/standby.ts';
import { eventually, startProgram, type TestProgram } from '../support/program.ts';
import { logIn, TOKEN, visitor, type Visitor } from './visitor.ts';

// Two real servers. Replay is paused, which is a delay of any length; how long it is taken for is said by a function that stands in for the standby's clock.

let standby: Standby;
let shop: TestProgram;
let person: Visitor;
const logged: string[] = [];
const sql = (text: string, ...values: unknown[]) => shop.program.database.query(text, values);

beforeAll(async () => {
  standby = await startStandby();
  const { primaryUrl, url } = standby;
  const logger = createLogger('info', { write: (line) => logged.push(line) });
  shop = await startProgram({
    databaseUrl: primaryUrl,
    logger,
    env: { ADMIN_TOKEN: TOKEN, DATABASE_URL: primaryUrl, DATABASE_READ_URL: url },
  });
  // Found before PostgreSQL's own, by every session to come.
  await sql('CREATE SCHEMA later');
  await standbySeems('30 s');
  await sql('ALTER DATABASE integrator SET search_path = later, pg_catalog, public');
  await standby.pause(false);
  person = await logIn(shop);
});
afterAll(async () => {
  await shop.close();
  await standby.close();
});

/** How old the newest transaction of the standby seems to it, however long the test takes. */
const standbySeems = (old: string) =>
  sql(`CREATE OR REPLACE FUNCTION later.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$
    SELECT coalesce(pg_last_xact_replay_timestamp() + interval '${old}', pg_catalog.clock_timestamp()) $$`);

async function paidOrder(): Promise<string> {
  const { orderId, reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
  return orderId;
}

async function metric(name: string): Promise<string | undefined> {
  const answer = await fetch(`${shop.origin}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
  return new RegExp(`^${name} (.*)$`, 'm').exec(await answer.text())?.[1];
}

async function doctor(readUrl = standby.url): Promise<string> {
  const { sandbox } = shop;
  const report = await examine(
    { topics: [DATABASE] },
    {
      config: loadConfig({
        NODE_ENV: 'test',
        DATABASE_URL: standby.primaryUrl,
        DATABASE_READ_URL: readUrl,
      }),
      services: {
        databaseUrl: new Secret(standby.primaryUrl),
        gatewayUrl: new URL(sandbox.url),
        secretKey: new SecretKey(sandbox.testKey),
        webhookSecrets: [],
        sandboxUrl: sandbox.url,
        receiveWebhooksAt: () => undefined,
        close: () => Promise.resolve(),
      },
      extensions: DEFAULTS,
      logger: createLogger('silent'),
    },
  );
  return report.answers.map(({ state, says }) => `${state}: ${says}`).join('\n');
}

const BEHIND = /This page is read from a standby that is 30 s behind\./;
const refund = (orderId: string, number: string): [string, string][] => [
  ...[['id', orderId] as [string, string], ['amount', '8500'] as [string, string]],
  ...[['refund', number] as [string, string], ['sure', 'yes'] as [string, string]],
  ...[['by', 'Ngozi'] as [string, string], ['note', 'came back'] as [string, string]],
];

test('a standby that keeps up is read without a word, also while the primary is idle', async () => {
  const orderId = await paidOrder();
  await standby.pause(false);
  expect(await person.text(`/admin/orders/${orderId}`)).not.toContain('standby');
  expect(await standby.ask(READERS)).not.toBe('0');
  expect(await metric('integrator_standby_behind_seconds')).toBe('0');
  expect(await doctor()).toContain('ok: Pages are read from the standby, which keeps up.');
});

const READERS = `SELECT count(*)::text AS answer FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;

test('of a standby that is behind, pages say how far; money is decided by the primary', async () => {
  const orderId = await paidOrder();
  await standby.pause(false);
  await standby.pause();
  const newest = await paidOrder();
  // It is paid, and the whole story of it is read where it is decided.
  expect(await (await fetch(`${shop.origin}/orders/${newest}`)).json()).toMatchObject({ status: 'paid' });
  expect(await (await fetch(`${shop.origin}/shop/orders/${newest}`)).text()).toContain('Paid');
  expect(await shop.program.reconcile({ dryRun: false })).toMatchObject({ verdict: 'agreed' });

  const written = await person.send('/admin/refunds', refund(orderId, 'N-1'));
  expect(written.headers.get('location')).toContain('refund-recorded');
  const list = await person.text('/admin/orders');
  expect(list).toMatch(BEHIND);
  expect(list).toContain(orderId);
  expect(list).not.toContain(newest);
  const page = await person.text(`/admin/orders/${orderId}`);
  expect(page).toMatch(BEHIND);
  expect(page).not.toContain('refund-recorded');
  expect(await metric('integrator_standby_behind_seconds')).toBe('30');
  expect(await doctor()).toMatch(/look: The standby is 30 s behind\./);

  // What it does not have yet is no 404, and To do is never old.
  const newPage = await person.text(`/admin/orders/${newest}`);
  expect(newPage).toContain(newest);
  expect(newPage).not.toMatch(BEHIND);
  expect(await person.text('/admin/cases')).not.toMatch(BEHIND);
  // The form of the old page still offers all of the money.
  const answer = await person.send('/admin/refunds', refund(orderId, 'N-2'));
  expect(answer.headers.get('location')).toContain('refund-too-much');
});

test('a browser that has acted sees what it did, on this page and the next ones', async () => {
  const orderId = await paidOrder();
  await standby.pause(false);
  await standby.pause();
  const answer = await person.send('/admin/refunds', refund(orderId, 'N-3'));
  const marked = answer.headers.getSetCookie().find((line) => line.startsWith('__Host-admin-acted='));
  expect(marked).toMatch(/Max-Age=120; HttpOnly/);
  const after = visitor(shop, `${person.cookie}; ${marked?.split(';')[0] ?? ''}`);
  const seen = { [`/admin/orders/${orderId}`]: 'refund-recorded', '/admin/activity': orderId };
  for (const [path, what] of Object.entries(seen)) {
    expect(await after.text(path)).toContain(what);
    expect(await person.text(path)).not.toContain(what);
  }
});

test('more than a minute behind, it is not read', async () => {
  await standby.pause(false);
  await standbySeems('90 s');
  await standby.pause(false);
  await standby.pause();
  const orderId = await paidOrder();
  const list = await person.text('/admin/orders');
  expect(list).toContain(orderId);
  expect(list).not.toContain('standby');
  expect(await metric('integrator_standby_behind_seconds')).toBe('90');
  expect(await doctor()).toMatch(/look: Pages are read from the primary, .*: it is 90 seconds behind\./);
  expect(logged.filter((line) => line.includes('the standby is not used'))).toHaveLength(1);
  await standby.pause(false);
  await standbySeems('30 s');
  await standby.pause(false);
});

test('a statement that the standby cancels for what it has to replay is asked of the primary', async () => {
  await sql(`CREATE FUNCTION later.now() RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
    BEGIN IF pg_is_in_recovery() THEN PERFORM pg_sleep(600); END IF; RETURN pg_catalog.now(); END $$`);
  await standby.pause(false);
  // A statement ends by itself after five seconds, and the machine may have been busier than that.
  await eventually(async () => {
    const page = person.get('/admin/charts');
    await eventually(async () => (await standby.ask(SLEEPERS)) !== '0');
    await shop.program.database.transaction((tx) => tx.query('LOCK TABLE releases, suspense_items'));
    expect((await page).status).toBe(200);
    return (await standby.ask(CANCELLED)) !== '0';
  });
  await sql('DROP FUNCTION later.now()');
  await standby.pause(false);
});

const SLEEPERS = `SELECT count(*)::text AS answer FROM pg_stat_activity WHERE wait_event = 'PgSleep'`;
const CANCELLED = `SELECT sum(confl_lock)::text AS answer FROM pg_stat_database_conflicts`;

test('an address that leads elsewhere is not read, and the doctor says so', async () => {
  expect(await doctor(standby.primaryUrl)).toContain('not from the standby: it is no standby.');
  await sql('CREATE DATABASE other');
  const other = standby.url.replace(/integrator$/, 'other');
  await standby.pause(false);
  expect(await doctor(other)).toMatch(/look: Pages are read from the primary, .*installation/);
});

test('a standby that is away is said once, and every page is there', async () => {
  await standby.stop();
  logged.length = 0;
  for (const page of ['', '/orders', '/releases', '/runs', '/webhooks', '/charts', '/activity'])
    expect((await person.get(`/admin${page}`)).status).toBe(200);
  expect((await person.get('/admin/exports/orders')).status).toBe(200);
  expect(await metric('integrator_standby_behind_seconds')).toBe('+Inf');
  expect(await doctor()).toMatch(
    /look: Pages are read from the primary, not from the standby: cannot connect/,
  );
  expect(logged.filter((line) => line.includes('the standby is not used'))).toHaveLength(1);
});
