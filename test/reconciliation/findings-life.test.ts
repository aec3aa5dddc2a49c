import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { listFindings, resolveFinding } from '../../src/cases/findings.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { openSuspense, resolveSuspense } from '../../src/cases/suspense.sql.ts';
import { addNote, assignItem, FINDINGS } from '../../src/cases/work-lists.sql.ts';
import { textOfSheet } from '../../src/platform/csv.ts';
import { openExport } from '../../src/reporting/exports.ts';
import { EVERYTHING } from '../../src/reporting/books.sql.ts';
import { openDesk, type Desk } from './desk.ts';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

const run = (): Promise<ReconciliationReport> => desk.reconcile({ dryRun: false });
const open = () => listFindings(desk.database, 'test');
const only = async () => {
  const findings = await open();
  expect(findings).toHaveLength(1);
  return findings[0] ?? Promise.reject(new Error('there is none'));
};
const exported = async (format: 'csv' | 'json', status: 'open' | null = 'open'): Promise<string[]> => {
  const wanted = { mode: 'test', period: EVERYTHING, status } as const;
  let text = '';
  for await (const part of textOfSheet(openExport(desk.database, 'findings', wanted), format)) text += part;
  return text.split('\n').filter((line) => line !== '');
};

/** A person decides about the oldest money in suspense. */
async function decideAs(by: string, reference?: string): Promise<void> {
  const items = await openSuspense(desk.database, 'test');
  const item = reference === undefined ? items[0] : items.find((one) => one.reference === reference);
  const how = { by, note: 'refunded', decision: 'refund', refundNote: 'RF-1' } as const;
  expect(await resolveSuspense(desk.database, 'test', item?.id ?? 0n, how)).toBe(true);
}

describe('a finding', () => {
  test('has an owner, notes and an end with a name and a reason, and the order tells of it', async () => {
    const { orderId } = await desk.put({}, { amount: '20.00' });
    const { runId } = await run();
    const { id } = await only();
    expect(await assignItem(desk.database, FINDINGS, 'test', id, 'Tunde', 'Ngozi')).toBe(true);
    expect(await addNote(desk.database, FINDINGS, 'test', id, 'Tunde', 'wrote to the shopper')).toBe(true);
    expect(await addNote(desk.database, FINDINGS, 'test', id, 'Tunde', 'got an answer')).toBe(true);
    expect(await only()).toMatchObject({
      class: 'underpaid',
      owner: 'Tunde',
      assignedBy: 'Ngozi',
      notes: [
        { by: 'Tunde', note: 'wrote to the shopper' },
        { by: 'Tunde', note: 'got an answer' },
      ],
      firstRunId: runId,
      lastRunId: runId,
      evidence: { history: 'paid', verify: 'underpaid', payment: 'held' },
    });
    // Its money is in suspense: the decision about that closes both.
    expect(await resolveFinding(desk.database, 'test', id, 'Tunde', 'paid the rest')).toBe(false);
    await decideAs('Tunde');
    expect(await assignItem(desk.database, FINDINGS, 'test', id, 'Ada', 'Ngozi')).toBe(false);
    expect(await addNote(desk.database, FINDINGS, 'test', id, 'Ada', 'what came of it')).toBe(true);
    const told = await desk.database.query(
      `SELECT event, cause FROM journal WHERE order_id = $1 AND event LIKE 'finding-%' ORDER BY seq`,
      [orderId],
    );
    expect(told).toEqual([
      { event: 'finding-raised', cause: 'reconciliation' },
      { event: 'finding-assigned', cause: 'operator:Ngozi' },
      { event: 'finding-resolved', cause: 'operator:Tunde' },
    ]);
  });

  test('of the other mode is out of reach', async () => {
    await desk.put({}, { amount: '20.00' });
    await run();
    const { id } = await only();
    expect(await resolveFinding(desk.database, 'live', id, 'Ada', 'none of mine')).toBe(false);
    expect(await assignItem(desk.database, FINDINGS, 'live', id, 'Ada', 'Ada')).toBe(false);
    expect(await addNote(desk.database, FINDINGS, 'live', id, 'Ada', 'none of mine')).toBe(false);
    expect(await listFindings(desk.database, 'live')).toEqual([]);
    expect(await only()).toMatchObject({ id, owner: null, notes: [] });
  });

  test('that comes back points at the one that was closed, which stays as it was', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, { status: 'PENDING' });
    await run();
    const first = await only();
    desk.service.history[0] = { reference };
    await run();
    expect(await open()).toEqual([]);
    desk.service.history[0] = { reference, status: 'PENDING' };
    await run();
    expect(await only()).toMatchObject({ class: 'paid_unconfirmed', reopens: String(first.id) });
    await expect(
      desk.database.query(`UPDATE findings SET note = 'x' WHERE id = $1`, [first.id]),
    ).rejects.toThrow('findings are kept');
    await expect(desk.database.query(`DELETE FROM findings`)).rejects.toThrow('findings are kept');
  });

  test('that a person resolved is raised again once it had gone away in between', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, { status: 'REVERSED' });
    await run();
    const { id } = await only();
    await resolveFinding(desk.database, 'test', id, 'Ada', 'written off');
    await run();
    expect(await run()).toMatchObject({ verdict: 'agreed' });
    desk.service.history[0] = { reference };
    expect(await run()).toMatchObject({ verdict: 'agreed' });
    desk.service.history[0] = { reference, status: 'REVERSED' };
    expect(await run()).toMatchObject({ findings: { reversed: 1 } });
    expect(await only()).toMatchObject({ reopens: String(id) });
  });

  test('keeps its evidence as long as it is open', async () => {
    const { reference } = await desk.put({}, { amount: '20.00' });
    await desk.database.query(
      `INSERT INTO webhooks (mode, body_sha256, body, authenticity, reference, outcome) VALUES ('test', 'x', 'y', 'signed', $1, 'hinted')`,
      [reference],
    );
    await run();
    const prune = [
      `UPDATE verifications SET body = NULL WHERE reference = $1`,
      `UPDATE webhooks SET body = '' WHERE reference = $1`,
      `DELETE FROM webhooks WHERE reference = $1`,
    ];
    for (const sql of prune)
      await expect(desk.database.query(sql, [reference])).rejects.toThrow(
        'the evidence of an open finding is kept',
      );
    await decideAs('Ada');
    for (const sql of prune) await desk.database.query(sql, [reference]);
  });
});

describe('the export', () => {
  test('has everything of a finding, open ones or all, as JSON', async () => {
    expect(await exported('json')).toEqual([]);
    await desk.put({}, { amount: '20.00' });
    // A run of its own: the oldest finding and the oldest money in suspense are of one payment.
    await run();
    await desk.put({}, { amount: '30.00' });
    await run();
    const [first] = await open();
    await decideAs('Ada', first?.reference);
    expect((await exported('json')).map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ closed_at: null }),
    ]);
    expect((await exported('json', null)).map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ id: String(first?.id), closed_by: 'Ada', resolution: 'refunded' }),
      expect.objectContaining({ closed_at: null, age: '<1d' }),
    ]);
  });

  test('has every finding, also when they do not fit into one reading', async () => {
    for (let count = 0; count < 2_050; count += 1)
      desk.service.history.push({ reference: `other-${count}`, amount: '1.00' });
    await run();
    // Without figures of its own the planner would compare each of them with each.
    const [table] = await desk.database.query<{ rows: number }>(
      `SELECT reltuples::int AS rows FROM pg_class WHERE oid = 'findings'::regclass`,
    );
    expect(table?.rows).toBeGreaterThanOrEqual(2_050);
    expect(await exported('csv')).toHaveLength(2_051);
    expect(await exported('json')).toHaveLength(2_050);
  });
});
