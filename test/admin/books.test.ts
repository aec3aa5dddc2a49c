import { get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import { sendCsv } from '../../src/admin/pages.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { plant } from '../reconciliation/books.ts';
import { eventually, startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';
import { logIn, TOKEN, visitor, type Visitor } from './visitor.ts';

const ADA = 'a-long-token-of-ada';
const EVE = 'a-long-token-of-eve';
let shop: TestProgram;
let ada: Visitor;
let eve: Visitor;
let report: ReconciliationReport;
const orders: Record<string, CheckoutAnswer> = {};
const THIS_MONTH = new Date().toISOString().slice(0, 7);

async function buy(name: string, amount?: string): Promise<void> {
  const order = (orders[name] = await shop.checkout());
  await shop.hand(`transactions/${order.reference}/pay`, { notify: false, ...(amount && { amount }) });
}

beforeAll(async () => {
  shop = await startProgram({
    slowTime: true,
    env: { ADMIN_TOKEN: TOKEN, OPERATORS: `Ada:operator:${ADA},Eve:viewer:${EVE}` },
  });
  [ada, eve] = [await logIn(shop, ADA), await logIn(shop, EVE)];
  for (const name of ['first', 'second', 'reversed', 'underpaid'])
    await buy(name, name === 'underpaid' ? '3.00' : undefined);
  for (const name of ['first', 'reversed', 'underpaid'])
    await fetch(`${shop.origin}/checkout/return/${orders[name]?.reference}`, { redirect: 'manual' });
  await shop.hand(`transactions/${orders.reversed?.reference}/reverse`, { notify: false });
  orders.unpaid = await shop.checkout();
  await plant(shop.program.database, { mode: 'live', isConfirmed: true });
  report = await shop.program.reconcile({ dryRun: false });
});
afterAll(() => shop.close());

/** The rows of a file, by the names of its first line. */
async function rowsAt(path: string, who = ada): Promise<Record<string, string>[]> {
  const answer = await who.get(path);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="[\w-]+\.csv"$/);
  const [names = [], ...lines] = (await answer.text())
    .trimEnd()
    .split('\r\n')
    .map((line) => JSON.parse(`[${line.replaceAll('""', '')}]`.replace(/,(?=[,\]])/g, ',null')) as string[]);
  return lines.map((cells) => Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ''])));
}

describe('what is exported', () => {
  test('orders keep the filter of the page, and the page leads there with it', async () => {
    const page = await ada.text('/admin/orders?status=paid&currency=ngn');
    const link = /href="(\/admin\/exports\/orders[^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const rows = await rowsAt(link);
    const paid = [orders.first, orders.second, orders.reversed];
    expect(rows.map(({ id }) => id).sort()).toEqual(paid.map((order) => order?.orderId).sort());
    expect(rows[0]).toMatchObject({ status: 'paid', amount: '8500.00', currency: 'NGN', refunded: '0.00' });
    expect(await rowsAt('/admin/exports/orders?currency=KWD')).toEqual([]);
    expect(rows[0]).toMatchObject({ customer: 'a***@example.com', item: 'Ankara tote bag' });
    expect(await rowsAt('/admin/exports/orders?q=nobody%40example.com')).toEqual([]);
    expect(await rowsAt('/admin/exports/orders?status=todo')).toHaveLength(2);
    expect(await rowsAt('/admin/exports/orders?q=ADA%40example.com')).toHaveLength(5);
    expect(await rowsAt(`/admin/exports/orders?to=${THIS_MONTH}-01&from=2020-01-01`)).toEqual([]);
  });

  test('payments, suspense, findings and runs, each with what it is about and nothing of the other mode', async () => {
    const payments = await rowsAt('/admin/exports/payments');
    expect(payments.map(({ reference }) => reference).sort()).toEqual(
      Object.values(orders)
        .map(({ reference }) => reference)
        .sort(),
    );
    const held = { class: 'underpaid', reference: orders.underpaid?.reference };
    expect(await rowsAt('/admin/exports/suspense?status=open')).toMatchObject([{ ...held, amount: '3.00' }]);
    expect(await rowsAt('/admin/exports/suspense?status=closed')).toEqual([]);
    const findings = await rowsAt('/admin/exports/findings?status=open');
    expect(findings.find(({ class: name }) => name === 'underpaid')).toMatchObject({
      ...held,
      actual: '3.00',
    });
    expect(findings.find(({ class: name }) => name === 'reversed')).toMatchObject({
      reference: orders.reversed?.reference,
    });
    expect(findings).toHaveLength(2);
    const runs = await rowsAt('/admin/exports/runs');
    expect(runs).toMatchObject([{ id: report.runId, verdict: 'findings', matched: String(report.matched) }]);
  });

  test('the matched rows of a run are those that it counted, and none that it raised', async () => {
    const address = `/admin/exports/matched?run=${report.runId}`;
    expect(await ada.text(`/admin/runs/${report.runId}`)).toContain(`href="${address}"`);
    await buy('later');
    await fetch(`${shop.origin}/checkout/return/${orders.later?.reference}`, { redirect: 'manual' });
    const rows = await rowsAt(address);
    expect(rows).toHaveLength(report.matched + report.repaired);
    expect(rows.map(({ reference }) => reference).sort()).toEqual(
      [orders.first?.reference, orders.second?.reference].sort(),
    );
    expect((await ada.get('/admin/exports/matched?run=run_none')).status).toBe(404);
  });

  test('a page that is full is followed by the next', async () => {
    await shop.program.database.query(
      `INSERT INTO suspense_items (mode, class, reference, amount, currency)
       SELECT 'test', 'unknown_reference', 'many' || i, 1, 'XOF' FROM generate_series(1, 2001) i`,
    );
    const rows = await rowsAt('/admin/exports/suspense');
    expect(new Set(rows.map(({ reference }) => reference)).size).toBe(rows.length);
    expect(rows).toHaveLength(2_002);
    await shop.program.database.query(
      `UPDATE suspense_items SET closed_at = now(), closed_by = 'Ada', decision = 'keep', note = 'small'
       WHERE reference LIKE 'many%' AND reference NOT IN ('many1500', 'many2001')`,
    );
    const open = await rowsAt('/admin/exports/suspense?status=open');
    expect(open.map(({ reference }) => reference).slice(-2)).toEqual(['many1500', 'many2001']);
    expect(open).toHaveLength(3);
  });
});

describe('who may take what', () => {
  const paths = [`/admin/books.csv?month=${THIS_MONTH}`, '/admin/exports/orders', '/admin/books'];

  test.each(paths)('a stranger gets nothing of %s', async (path) => {
    const answer = await visitor(shop, '').get(path);
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      `/admin/login?to=${encodeURIComponent(path)}`,
    ]);
  });

  test('a viewer gets files, and no whole address', async () => {
    const rows = await rowsAt(`/admin/books.csv?month=${THIS_MONTH}`, eve);
    expect(rows.find(({ order_id }) => order_id === orders.first?.orderId)).toMatchObject({
      customer: 'a***@example.com',
    });
    expect(await rowsAt('/admin/exports/orders?status=paid', eve)).not.toEqual([]);
    const refused = await eve.send('/admin/books.csv', [
      ['month', THIS_MONTH],
      ['note', 'audit'],
    ]);
    expect(refused.status).toBe(403);
  });

  test('an operator gets whole addresses under their name with a reason, which is kept', async () => {
    const kept = () =>
      shop.program.database.query(
        'SELECT mode, disclosed_to AS "to", note, since, until FROM disclosures ORDER BY id',
      );
    expect((await ada.send('/admin/books.csv', [['month', THIS_MONTH]])).status).toBe(422);
    expect(await kept()).toEqual([]);
    const fields: [string, string][] = [
      ['month', THIS_MONTH],
      ['note', 'audit'],
      ['by', 'Somebody'],
    ];
    const answer = await ada.send('/admin/books.csv', fields);
    expect(await answer.text()).toContain('"ada@example.com"');
    const since = new Date(`${THIS_MONTH}-01T00:00:00Z`);
    expect(await kept()).toMatchObject([{ mode: 'test', to: 'Ada', note: 'audit', since }]);
  });

  test('totals are a file of their own, and what is no month is not found', async () => {
    const totals = await rowsAt(`/admin/books.csv?month=${THIS_MONTH}&totals=yes`);
    expect(totals.map(({ currency }) => currency)).toContain('NGN');
    expect((await ada.get('/admin/books.csv?month=2026-13')).status).toBe(404);
    expect((await ada.get('/admin/exports/passwords')).status).toBe(404);
  });
});

test('a file is read no further than its client takes it, and not at all once the client has left', async () => {
  let [taken, hasEnded] = [0, false];
  async function* rows(): AsyncGenerator<{ text: string }> {
    try {
      for (; taken < 100_000; taken += 1) yield await Promise.resolve({ text: 'x'.repeat(10_000) });
    } finally {
      hasEnded = true;
    }
  }
  const app = express().get('/', (_req, res) => sendCsv(res, 'long', { columns: ['text'], rows: rows() }));
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  await new Promise((resolve) => request.once('response', resolve));
  await eventually(() => Promise.resolve(taken > 0));
  request.destroy();
  await eventually(() => Promise.resolve(hasEnded));
  expect(taken).toBeLessThan(100_000);
  server.close();
});
