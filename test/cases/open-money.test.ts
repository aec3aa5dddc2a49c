import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Ending } from '../../src/cases/resolution.ts';
import { closeFinding } from '../../src/cases/findings.sql.ts';
import { openSuspense, resolveSuspense } from '../../src/cases/suspense.sql.ts';
import { loadPayment } from '../../src/payments/confirm.sql.ts';
import { formatReport } from '../../src/reconciliation/report/format-report.ts';
import { replayRun } from '../../src/reconciliation/report/replay.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { openDesk, type Desk } from '../reconciliation/desk.ts';
import type { FakeTransaction } from '../reconciliation/fake-service.ts';
import { asReference } from '../support/ids.ts';

/* No run agrees while money waits for a person, and what comes after a decision is told from what it was about. */

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

const run = (): Promise<ReconciliationReport> => desk.reconcile({ dryRun: false });
const items = () => openSuspense(desk.database, 'test');
const amounts = async () => (await items()).map(({ amount }) => amount);
const paid = (amount: string, currency = 'NGN') => ({ status: 'SUCCESS', amount, currency });

/** The list shows these charges of the payment, and no others. */
function list(reference: string, charges: Record<string, string>): void {
  const others = desk.service.history.filter((row) => typeof row !== 'string' && row.reference !== reference);
  const rows = Object.entries(charges).map(([id, amount]) => ({ id, reference, ...paid(amount) }));
  desk.service.history.splice(0, Infinity, ...others, ...rows);
}

/** The service answers verify with this from now on, and the one room asks. */
async function look(reference: string, record: Partial<FakeTransaction>): Promise<void> {
  desk.service.verify.set(reference, { reference, ...record });
  const payment = await loadPayment(desk.database, asReference(reference), 'test');
  if (payment === null) throw new Error(`there is no payment ${reference}`);
  await desk.confirm(payment, 'webhook');
}

/** A person ends the one open item. */
async function decide(decision: Ending = 'refund'): Promise<void> {
  const [item] = await items();
  const refundNote = decision === 'refund' ? 'RF-1' : null;
  const resolution = { by: 'Ngozi', note: 'looked into it', decision, refundNote };
  expect(await resolveSuspense(desk.database, 'test', item?.id ?? 0n, resolution)).toBe(true);
}

/** A person closes the one open finding. */
async function close(): Promise<void> {
  const open = 'SELECT id FROM findings WHERE closed_at IS NULL';
  const [finding] = await desk.database.query<{ id: bigint }>(open);
  const closed = { id: finding?.id ?? 0n, by: 'ada', note: 'Given back.', seen: null };
  expect(await closeFinding(desk.database, 'test', closed)).toBe(true);
}

/** An order paid by the charge a; the list has a second one, b, and a person has decided about it. */
async function decidedSecond(): Promise<string> {
  const { reference } = await desk.put({ isConfirmed: true }, null);
  list(reference, { a: '25', b: '25' });
  await run();
  await decide();
  return reference;
}

describe('no run agrees while money waits in suspense', () => {
  test('though a person has closed a finding about as much money before', async () => {
    const { reference } = await desk.put({}, null);
    list(reference, { a: '20' });
    await look(reference, paid('20'));
    await run();
    await decide();
    await look(reference, { status: 'FAILED' });
    await look(reference, paid('20'));
    for (let again = 0; again < 2; again += 1) {
      expect(await run()).toMatchObject({ verdict: 'findings', findings: { underpaid: 1 }, held: 1 });
      expect(await amounts()).toEqual([2_000n]);
    }
    await decide();
    expect(await run()).toMatchObject({ verdict: 'agreed', findings: {} });
  });

  test('though list and verify show it as gone', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, { id: 'a' });
    for (const amount of ['30', '25']) await look(reference, paid(amount));
    const report = await run();
    expect(report).toMatchObject({ complete: true, verdict: 'findings', findings: {}, held: 1 });
    expect(formatReport(report)).toMatch(
      /^NOT AGREED\. Money in suspense needs a decision\.\n\nIn suspense: 1 item /,
    );
    expect((await replayRun(desk.database, 'test', report.runId)).isSame).toBe(true);
    await decide();
    const decided = await run();
    expect(decided).toMatchObject({ verdict: 'agreed' });
    expect(decided).not.toHaveProperty('held');
  });

  test('of a payment that the run over a window is about', async () => {
    const { reference } = await desk.put({ isConfirmed: true, age: '2 hours' }, { id: 'a' });
    for (const amount of ['30', '25']) await look(reference, paid(amount));
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
    const since = async (hours: number) => desk.reconcile({ dryRun: true, since: hoursAgo(hours) });
    expect(await since(3)).toMatchObject({ verdict: 'findings', held: 1 });
    expect(await since(1)).toMatchObject({ verdict: 'agreed' });
  });
});

describe('a charge that comes after a decision is raised, whatever the sums', () => {
  const agreed = async () => {
    expect(await run()).toMatchObject({ verdict: 'agreed', findings: {} });
  };
  const raised = async (name: string) => {
    expect(await run()).toMatchObject({ verdict: 'findings', findings: { [name]: 1 } });
  };

  test.each([
    ['that a list showed', false],
    ['though a run had seen it gone before the decision', true],
  ])('beside the charge that paid, about money %s', async (_what, isGoneBefore) => {
    const { reference } = await desk.put({ isConfirmed: true }, null);
    list(reference, { a: '25', b: '25' });
    await run();
    if (isGoneBefore) {
      list(reference, { a: '25' });
      await run();
    }
    await decide();
    if (!isGoneBefore) await agreed();
    list(reference, { a: '25', c: '25' });
    await raised('duplicate_payment');
    list(reference, { a: '25', d: '20' });
    await raised('duplicate_payment');
    await raised('duplicate_payment');
    await close();
    await agreed();
  });

  test.each([
    ['the money that was decided about', { a: '25', b: '25' }],
    ['the charge that paid', { a: '25' }],
  ])('and again when a run had seen nothing but %s in between', async (_what, before) => {
    const reference = await decidedSecond();
    for (let times = 0; times < 2; times += 1) {
      list(reference, before);
      await run();
      list(reference, { a: '25', c: '25' });
      await raised('duplicate_payment');
    }
  });

  test.each<[string, Ending, string, object]>([
    ['in part', 'refund', '10', {}],
    ['as a whole', 'refund', '25', {}],
    ['though a person kept it', 'keep', '10', { unknown_reference: 1 }],
  ])('beside money that is not ours and went back %s', async (_what, decision, amount, findings) => {
    await desk.put({ isConfirmed: true }, { id: 'other' });
    list('foreign', { a: '25' });
    await run();
    await decide(decision);
    desk.service.history.push({ id: 'a', reference: 'foreign', status: 'REVERSED', amount });
    expect((await run()).findings).toEqual(findings);
    desk.service.history.push({ id: 'c', reference: 'foreign', ...paid('40') });
    expect((await run()).findings).toEqual({ unknown_reference: 1 });
  });

  test('nor is one covered that a decision was about, and that had gone', async () => {
    const reference = await decidedSecond();
    list(reference, { a: '25' });
    await run();
    list(reference, { a: '25', b: '25' });
    await raised('duplicate_payment');
    expect(await amounts()).toEqual([2_500n]);
  });

  test('nor what is left in the list of an order that was never paid, once verify says no', async () => {
    const { reference } = await desk.put({}, null);
    list(reference, { a: '30', b: '10', c: '10' });
    await look(reference, paid('30'));
    for (const amount of [3_000n, 2_000n]) {
      await run();
      expect(await amounts()).toEqual([amount]);
      await decide();
    }
    list(reference, { b: '10', c: '10' });
    await agreed();
    await look(reference, { status: 'FAILED' });
    await raised('duplicate_payment');
  });

  test('under a reference that is not ours', async () => {
    await desk.put({ isConfirmed: true }, { id: 'other' });
    list('foreign', { a: '25' });
    await run();
    await decide();
    await agreed();
    list('foreign', { b: '25' });
    await raised('unknown_reference');
  });

  test('not where verify showed it first, and a person decided about that', async () => {
    const reference = await decidedSecond();
    await look(reference, paid('75'));
    await decide();
    list(reference, { a: '25', c: '25' });
    await agreed();
  });

  test('also where verify showed the first of them, and it was gone before the decision', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, null);
    await look(reference, paid('50'));
    list(reference, { a: '25', b: '25' });
    await run();
    list(reference, { a: '25' });
    await run();
    await decide();
    list(reference, { a: '25', c: '25' });
    await raised('duplicate_payment');
  });

  test('but not all of them once more, when the list shows the last one after verify did', async () => {
    const reference = await decidedSecond();
    await agreed();
    await look(reference, paid('75'));
    await decide();
    list(reference, { a: '25', b: '25', c: '25' });
    for (let times = 0; times < 2; times += 1) await agreed();
    expect(await amounts()).toEqual([]);
  });
});

describe('a decision about what else came covers no contradiction about what paid the order', () => {
  const contradicted = async (reference: string, record: Partial<FakeTransaction>) => {
    await run();
    await decide();
    expect(await run()).toMatchObject({ verdict: 'agreed' });
    await look(reference, record);
    for (let times = 0; times < 2; times += 1)
      expect(await run()).toMatchObject({ verdict: 'findings', findings: { paid_contradicted: 1 } });
  };

  test.each([{ status: 'FAILED' }, { status: 'PENDING' }, paid('10'), paid('10', 'KWD')])(
    'a second charge, while verify shows %j',
    async (record) => {
      const { reference } = await desk.put({ isConfirmed: true }, null);
      list(reference, { a: '25', b: '25' });
      await contradicted(reference, record);
      await look(reference, paid('25'));
      expect(await run()).toMatchObject({ verdict: 'agreed' });
    },
  );

  test('a second charge that verify had shown, too', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, null);
    await look(reference, paid('50'));
    list(reference, { a: '25', b: '25' });
    await contradicted(reference, { status: 'FAILED' });
    await look(reference, paid('25'));
    expect(await run()).toMatchObject({ verdict: 'agreed' });
  });

  test('nor does the contradiction cover a charge that came later', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, null);
    list(reference, { a: '25', b: '25' });
    await contradicted(reference, { status: 'FAILED' });
    await close();
    for (const name of ['duplicate_payment', 'paid_contradicted']) {
      list(reference, { a: '25', c: '25' });
      expect(await run()).toMatchObject({ verdict: 'findings', findings: { [name]: 1 } });
      await close();
    }
    expect(await run()).toMatchObject({ verdict: 'agreed' });
  });

  test('nor one that had gone, and came again', async () => {
    const reference = await decidedSecond();
    list(reference, { a: '25' });
    await run();
    await look(reference, { status: 'FAILED' });
    list(reference, { a: '25', b: '25' });
    expect(await run()).toMatchObject({ verdict: 'findings', findings: { duplicate_payment: 1 } });
    expect(await amounts()).toEqual([2_500n]);
  });

  test('nor does it make what is left of several charges other money', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, null);
    list(reference, { a: '25', b: '15', c: '10' });
    await contradicted(reference, { status: 'FAILED' });
    list(reference, { a: '25', b: '15' });
    await run();
    await look(reference, paid('25'));
    expect(await run()).toMatchObject({ verdict: 'agreed' });
  });

  test('a surplus, while verify shows no money', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, null);
    await look(reference, paid('30'));
    list(reference, { a: '30' });
    await contradicted(reference, { status: 'EXPIRED' });
  });
});
