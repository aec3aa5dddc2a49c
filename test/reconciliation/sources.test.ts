import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readWebhookWord } from '../../src/gateway/webhook.ts';
import { CLASSES } from '../../src/cases/classes.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { loadPayment } from '../../src/payments/confirm.sql.ts';
import { createConfirm } from '../../src/payments/confirm.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { newId } from '../../src/platform/ids.ts';
import { defaultDialect } from '../support/dialect.ts';
import { asReference } from '../support/ids.ts';
import { openDesk, type Desk } from './desk.ts';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

const run = (): Promise<ReconciliationReport> => desk.reconcile({ dryRun: false });
const hoursPass = (hours: number): Promise<unknown> =>
  desk.database.query(
    `UPDATE findings SET first_seen_at = first_seen_at - $1 * interval '1 hour' WHERE closed_at IS NULL`,
    [hours],
  );

async function webhook(reference: string, status: string, authenticity = 'signed'): Promise<void> {
  const body = Buffer.from(JSON.stringify({ event: 'x', data: { reference, status } }));
  await desk.database.query(
    `INSERT INTO webhooks (mode, body_sha256, body, authenticity, reference, outcome) VALUES ('test', $1, $2, $3, $4, 'hinted')`,
    [createHash('sha256').update(body).digest(), body, authenticity, reference],
  );
}

/** Verify is asked outside of a run, as it is after a webhook. */
async function look(reference: string): Promise<void> {
  const payment = await loadPayment(desk.database, asReference(reference), 'test');
  if (payment === null) throw new Error(`there is no payment ${reference}`);
  const confirm = createConfirm({
    database: desk.database,
    gateway: desk.gateway,
    planRelease: () => ({ id: `rel_${newId()}`, delivery: 'unneeded' }),
    onReleased: () => undefined,
    logger: createLogger('silent'),
  });
  await confirm(payment, 'webhook');
}

describe('a contradiction is given an hour to mend itself', () => {
  test('and is a finding when it lasts, told once', async () => {
    const { reference } = await desk.put({}, {});
    desk.service.verify.set(reference, { reference, status: 'PENDING' });
    const first = await run();
    expect(first).toMatchObject({ findings: {}, items: [], graced: { sources_disagree: 1 } });
    expect(first.identity[0]?.classes).toEqual({ sources_disagree: '25.00' });
    await hoursPass(0.9);
    expect(await run()).toMatchObject({ findings: {}, graced: { sources_disagree: 1 } });
    expect(desk.alerts).toEqual([]);
    await hoursPass(0.2);
    const raised = await run();
    expect(raised).toMatchObject({ verdict: 'findings', findings: { sources_disagree: 1 }, graced: {} });
    expect(raised.items[0]).toMatchObject({ reference, class: 'sources_disagree' });
    expect(await run()).toMatchObject({ findings: { sources_disagree: 1 } });
    expect(desk.alerts).toEqual([
      expect.objectContaining({
        event: 'findings-raised',
        runId: raised.runId,
        findings: {
          counts: { sources_disagree: 1 },
          first: [expect.objectContaining({ reference, class: 'sources_disagree' })],
        },
      }),
    ]);
  });

  test('and is nothing when it mends itself', async () => {
    const { reference } = await desk.put({}, {});
    desk.service.verify.set(reference, { reference, status: 'PENDING' });
    await run();
    desk.service.verify.delete(reference);
    expect(await run()).toMatchObject({ verdict: 'agreed', repaired: 1, graced: {} });
    await hoursPass(2);
    expect(await run()).toMatchObject({ verdict: 'agreed', findings: {}, graced: {} });
    expect(desk.alerts).toEqual([]);
  });

  test('and only once: what comes and goes is raised when it comes back', async () => {
    const { reference } = await desk.put({}, {});
    desk.service.verify.set(reference, { reference, status: 'PENDING' });
    await run();
    await hoursPass(2);
    desk.service.history[0] = { reference, status: 'PENDING' };
    expect(await run()).toMatchObject({ verdict: 'agreed', graced: {} });
    desk.service.history[0] = { reference };
    expect(await run()).toMatchObject({ findings: { sources_disagree: 1 } });
  });
});

describe('signed webhooks are a source', () => {
  test('one that says paid where nobody knows of money is a contradiction, for as long as it lasts', async () => {
    const { reference } = await desk.put({}, { status: 'PENDING' });
    await webhook(reference, 'SUCCESS');
    expect(await run()).toMatchObject({ graced: { sources_disagree: 1 }, verified: 1 });
    await desk.database.query(`UPDATE webhooks SET last_received_at = now() - interval '1 day'`);
    await hoursPass(2);
    expect(await run()).toMatchObject({ findings: { sources_disagree: 1 } });
    // It was looked at long ago, and still stands against the others.
    expect(await run()).toMatchObject({ findings: { sources_disagree: 1 } });
    desk.service.history[0] = { reference };
    expect(await run()).toMatchObject({ verdict: 'agreed', repaired: 1 });
  });

  test('one that says the money went back contradicts what all others call paid', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, {});
    await webhook(reference, 'REFUNDED');
    const report = await run();
    expect(report).toMatchObject({ graced: { sources_disagree: 1 }, unclassified: 0, matched: 0 });
    await hoursPass(2);
    expect(await run()).toMatchObject({ findings: { sources_disagree: 1 } });
    const [row] = await desk.database.query('SELECT evidence FROM findings');
    expect(row).toMatchObject({ evidence: { history: 'paid', verify: 'paid', webhook: 'reversed' } });
  });

  const silent: [string, (reference: string) => Promise<void>][] = [
    ['an unsigned one', (reference) => webhook(reference, 'REFUNDED', 'unsigned')],
    ['one that says paid', (reference) => webhook(reference, 'SUCCESS')],
    ['one of a try that failed', (reference) => webhook(reference, 'FAILED')],
    ['one with a word that nobody explained', (reference) => webhook(reference, 'COLLECTED')],
    ['one of the other mode', () => webhook('of-nobody', 'REFUNDED')],
  ];
  test.each(silent)('%s says nothing against a confirmed payment', async (_name, send) => {
    const { reference } = await desk.put({ isConfirmed: true }, {});
    await send(reference);
    expect(await run()).toMatchObject({ verdict: 'agreed', matched: 1, graced: {}, verified: 0 });
  });

  test('their word stands beside the reference', () => {
    const word = (document: unknown, dialect = defaultDialect): string | null =>
      readWebhookWord(Buffer.from(JSON.stringify(document)), asReference('r1'), dialect);
    expect(word({ data: { reference: 'r1', status: 'refunded' } })).toBe('reversed');
    expect(word({ reference: 'r1', status: 'paid' })).toBe('paid');
    expect(word({ status: 'paid', data: { reference: 'r1' } })).toBeNull();
    expect(word({ data: { reference: 'r2', status: 'paid' } })).toBeNull();
    expect(word({ data: { reference: 'r1', status: 'who knows' } })).toBeNull();
    expect(
      readWebhookWord(Buffer.from('reference=r1&status=paid'), asReference('r1'), defaultDialect),
    ).toBeNull();
  });
});

describe('money that goes back after its order was released', () => {
  test('is raised at once and told by itself, when the history says so', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, { status: 'REVERSED' });
    await desk.put({}, { amount: '20.00' });
    const { runId } = await run();
    expect(desk.alerts.map(({ event }) => event)).toEqual(['payment-reversed', 'findings-raised']);
    expect(desk.inTransaction).toEqual(expect.arrayContaining(desk.alerts));
    expect(desk.alerts[0]).toMatchObject({ runId, mode: 'test', findings: { counts: { reversed: 1 } } });
    expect(desk.alerts[0]).toMatchObject({ findings: { first: [{ reference, class: 'reversed' }] } });
    await run();
    expect(desk.alerts).toHaveLength(2);
  });

  test('is raised at once when only verify says so, and the history still calls it paid', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, {});
    expect(await run()).toMatchObject({ verdict: 'agreed' });
    desk.service.verify.set(reference, { reference, status: 'REVERSED' });
    await look(reference);
    expect(await run()).toMatchObject({ verdict: 'findings', findings: { reversed: 1 }, unclassified: 0 });
    await desk.database.query(`UPDATE webhooks SET last_received_at = now() - interval '1 day'`);
    expect(await run()).toMatchObject({ findings: { reversed: 1 } });
  });
});

describe('what a run has looked at is not looked at again', () => {
  const answered = (reference: string, outcome: string, change: { id?: bigint; age?: string }) =>
    desk.database.query(
      `INSERT INTO verifications (id, reference, order_id, mode, outcome, http_status, body_sha256, cause, answered_at)
       OVERRIDING SYSTEM VALUE
       SELECT coalesce($3, nextval(pg_get_serial_sequence('verifications', 'id'))), reference, order_id, mode, $2, 200,
         '\\x00', 'webhook', now() - $4::interval
       FROM payments WHERE reference = $1`,
      [reference, outcome, change.id ?? null, change.age ?? '0 s'],
    );
  const lookedTo = async (): Promise<unknown> =>
    (await desk.database.query(`SELECT inputs -> 'looked' AS looked FROM reconciliation_runs`))[0];

  test('and the very next verify answer is', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, {});
    // About another payment, which it does not contradict: no question of the run comes between it and the next.
    const other = await desk.put({}, { status: 'PENDING' });
    await answered(other.reference, 'pending', { age: '11 minutes' });
    await run();
    expect(await lookedTo()).toMatchObject({ looked: { verifications: '2' } });
    desk.service.verify.set(reference, { reference, status: 'REVERSED' });
    await look(reference);
    expect(await run()).toMatchObject({ findings: { reversed: 1 } });
  });

  test('and the very next webhook is', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, {});
    await webhook(reference, 'SUCCESS');
    await desk.database.query(`UPDATE webhooks SET last_received_at = now() - interval '11 minutes'`);
    await run();
    expect(await lookedTo()).toMatchObject({ looked: { webhooks: '1' } });
    await webhook(reference, 'REFUNDED');
    expect(await run()).toMatchObject({ graced: { sources_disagree: 1 } });
  });

  test('and so is an answer of a smaller number that was written a moment later', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, {});
    const [reserved] = await desk.database.query<{ id: bigint }>(
      `SELECT nextval(pg_get_serial_sequence('verifications', 'id')) AS id`,
    );
    const other = await desk.put({}, { status: 'PENDING' });
    await answered(other.reference, 'pending', {});
    await run();
    desk.service.verify.set(reference, { reference, status: 'REVERSED' });
    await answered(reference, 'reversed', { id: reserved?.id ?? 0n });
    expect(await run()).toMatchObject({ findings: { reversed: 1 } });
  });
});

test('every class has a rule in words, and what is to be done about every finding is said', () => {
  for (const [name, { rule, isFinding, todo }] of Object.entries(CLASSES)) {
    expect([name, rule.length > 20]).toEqual([name, true]);
    expect([name, todo !== '']).toEqual([name, isFinding]);
  }
});

test('a run that broke off is told, and so is one without a verdict', async () => {
  desk.service.answerHistory = (_query, res) => {
    res.writeHead(503).end('{}');
  };
  const { runId, incompleteReason } = await run();
  expect(desk.alerts).toEqual([
    {
      ...{ event: 'reconciliation-incomplete', mode: 'test', runId, covers: 'everything' },
      reason: incompleteReason,
    },
  ]);
  await desk.reconcile({ dryRun: false, signal: AbortSignal.abort() });
  expect(desk.alerts).toHaveLength(1);
  desk.service.answerHistory = null;
  desk.alerts.length = 0;
  await desk.database.query('ALTER TABLE reconciliation_items RENAME TO reconciliation_items_x');
  await expect(run()).rejects.toThrow('reconciliation_items');
  await desk.database.query('ALTER TABLE reconciliation_items_x RENAME TO reconciliation_items');
  expect(desk.alerts).toEqual([expect.objectContaining({ event: 'reconciliation-failed' })]);
});

test('a run over a window says of nothing that a run over everything told that it is over', async () => {
  const overOf = async (since?: Date): Promise<unknown> => {
    desk.inTransaction.length = 0;
    await desk.reconcile({ dryRun: false, since });
    return desk.inTransaction.map((one) => ['over' in one, one.event, 'covers' in one ? one.covers : '']);
  };
  const ofWindow = [
    [true, 'reconciliation-failed', 'window'],
    [true, 'reconciliation-incomplete', 'window'],
  ];
  expect(await overOf(new Date(0))).toEqual([[true, 'reconciliation-skipped', ''], ...ofWindow]);
  expect(await overOf()).toEqual(expect.arrayContaining([[true, 'reconciliation-incomplete', 'everything']]));
});
