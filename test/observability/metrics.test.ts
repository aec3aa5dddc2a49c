import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createMeters } from '../../src/observability/meters.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Payment } from '../../src/payments/payment.ts';
import type { Confirm } from '../../src/payments/confirm.ts';
import { startProgram, type TestProgram } from '../support/program.ts';
import { TOKEN } from '../admin/visitor.ts';

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram({ slowTime: true, env: { ADMIN_TOKEN: TOKEN } });
});
afterAll(() => shop.close());

const sql = (text: string, ...values: unknown[]) => shop.program.database.query(text, values);
const metrics = async (): Promise<string> =>
  (await fetch(`${shop.origin}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })).text();

/** The value of a metric with exactly these labels; null when it is not there. */
async function read(name: string, labels = ''): Promise<number | null> {
  const line = (await metrics()).split('\n').find((each) => each.startsWith(`${name}${labels} `));
  return line === undefined ? null : Number(line.split(' ')[1]);
}

async function paid(notify = false): Promise<string> {
  const { reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`, { notify });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
  return reference;
}

test('B1 counting what is confirmed changes nothing of the call', async () => {
  const seen: unknown[][] = [];
  const confirm: Confirm = (...call) => {
    seen.push(call);
    return Promise.resolve({ outcome: 'pending', status: 'open', released: false } as never);
  };
  const payment = { reference: 'r' } as Payment;
  await createMeters(systemClock).observeConfirm(confirm)(payment, 'webhook');
  expect(seen).toEqual([[payment, 'webhook']]);
});

describe('the dashboard and the alert rules', () => {
  const files = ['grafana-dashboard.json', 'alerts.yml'];
  const textOf = (file: string): string => readFileSync(`docs/observability/${file}`, 'utf8');

  test.each(files)('%s asks for nothing that /metrics does not tell', async (file) => {
    const asked = new Set(textOf(file).match(/\b(integrator|nodejs|process)_[a-z0-9_]+/g));
    expect(asked.size).toBeGreaterThan(10);
    const told = new Set(Array.from((await metrics()).matchAll(/^# TYPE (\S+)/gm), ([, name]) => name));
    const family = (name: string): string => name.replace(/_(bucket|count|sum)$/, '');
    expect([...asked].filter((name) => !told.has(name) && !told.has(family(name)))).toEqual([]);
  });

  test('and together they look at everything of ours that it tells', async () => {
    const asked = files.map(textOf).join();
    const told = Array.from(
      (await metrics()).matchAll(/^# TYPE (integrator_\S+)/gm),
      ([, name = '']) => name,
    );
    expect(told.filter((name) => !asked.includes(name))).toEqual([]);
  });

  test('every alert leads to a place in the runbook and says what is the matter', () => {
    const alerts = textOf('alerts.yml').split('- alert: ').slice(1);
    expect(alerts.length).toBeGreaterThan(10);
    for (const alert of alerts) {
      expect(alert).toMatch(/runbook: docs\/runbook\.md#[a-z_-]+\n/);
      expect(alert).toMatch(/summary: ['"].{20,}['"]/);
      expect(alert).toMatch(/severity: (page|ticket)\n/);
    }
  });
});

describe('the questions of somebody who was woken', () => {
  test('is money arriving, and is it confirmed?', async () => {
    await paid();
    expect(await read('integrator_orders_last_hour', '{currency="NGN"}')).toBe(1);
    expect(await read('integrator_confirmed_last_hour', '{currency="NGN"}')).toBe(1);
    expect(await read('integrator_last_confirmed_age_seconds')).toBeLessThan(60);
    await shop.checkout();
    expect(await read('integrator_orders_last_hour', '{currency="NGN"}')).toBe(2);
    expect(await read('integrator_open_payments', '{currency="NGN"}')).toBe(1);
  });

  test('how long has a webhook waited for an answer, and how late is the clock?', async () => {
    expect(await read('integrator_unanswered_hint_age_seconds')).toBe(0);
    const { reference } = await shop.checkout();
    await sql(
      `INSERT INTO webhooks (mode, body, body_sha256, authenticity, reference, outcome, received_at, last_received_at)
       VALUES ('test', 'x', 'x', 'unsigned', $1, 'hinted', now() - interval '10 min', now() - interval '10 min')`,
      reference,
    );
    await sql(
      `UPDATE payments SET hints = 1, next_check_at = now() - interval '5 min' WHERE reference = $1`,
      reference,
    );
    expect(await read('integrator_unanswered_hint_age_seconds')).toBeGreaterThan(590);
    expect(await read('integrator_due_lag_seconds', '{queue="payments"}')).toBeGreaterThan(290);
    expect(await read('integrator_due_rows', '{queue="payments"}')).toBe(1);
    await shop.program.duePayments.runOnce();
    expect(await read('integrator_unanswered_hint_age_seconds')).toBe(0);
    expect(await read('integrator_due_rows', '{queue="payments"}')).toBe(0);
    // A new one counts from its own time, not from that of the one that was answered.
    await sql(
      `INSERT INTO webhooks (mode, body, body_sha256, authenticity, reference, outcome) VALUES ('test', 'y', 'y', 'unsigned', $1, 'hinted')`,
      reference,
    );
    await sql('UPDATE payments SET hints = hints + 1 WHERE reference = $1', reference);
    const age = (await read('integrator_unanswered_hint_age_seconds')) ?? 0;
    expect(age).toBeGreaterThan(0);
    expect(age).toBeLessThan(300);
  });

  test('what did the service answer, and what came by webhook?', async () => {
    const calls = () => read('integrator_service_call_seconds_count', '{call="verify",outcome="record"}');
    const before = (await calls()) ?? 0;
    await paid();
    expect(await calls()).toBe(before + 1);
    const refused = () => read('integrator_webhooks_total', '{result="bad-signature"}');
    expect(await refused()).toBe(0);
    await fetch(`${shop.origin}/webhooks/payments`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json', 'x-signature': 'none' },
    });
    expect(await refused()).toBe(1);
  });

  test('does the money agree, and what waits for a person?', async () => {
    expect(await read('integrator_last_reconciliation_age_seconds')).toBeNull();
    const reference = (await shop.checkout()).reference;
    await shop.hand(`transactions/${reference}/pay`, { notify: false, amount: '3' });
    await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
    await shop.program.reconcile({ dryRun: false });
    expect(await read('integrator_last_reconciliation_verdict', '{verdict="findings"}')).toBe(1);
    expect(await read('integrator_last_reconciliation_verdict', '{verdict="agreed"}')).toBe(0);
    expect(await read('integrator_last_reconciliation_age_seconds')).toBeLessThan(60);
    expect(await read('integrator_open_findings', '{class="underpaid"}')).toBe(1);
    expect(await read('integrator_open_suspense', '{class="underpaid",currency="NGN"}')).toBe(1);
    expect(await read('integrator_open_suspense_minor_units', '{class="underpaid",currency="NGN"}')).toBe(
      300,
    );
    await sql(`UPDATE findings SET closed_at = now(), closed_by = 'Ngozi'`);
    expect(await read('integrator_open_findings', '{class="underpaid"}')).toBeNull();
  });

  test('is the key accepted, and is the service asked at all?', async () => {
    expect(await read('integrator_gateway_key_refused')).toBe(0);
    await shop.hand('keys/refuse', { refuse: true });
    await fetch(
      `${shop.origin}/checkout/return/${(await (await shop.program.database.prisma()).payment.findFirst({ where: { status: 'open' } }))?.reference ?? ''}`,
    );
    expect(await read('integrator_gateway_key_refused')).toBe(1);
    await shop.hand('keys/refuse', { refuse: false });
    expect(await read('integrator_service_failing')).toBe(0);
    expect(await read('integrator_service_paused_seconds', '{call="verify"}')).toBe(0);
  });
});
