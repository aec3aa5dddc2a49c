import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openSuspense, resolveSuspense } from '../../src/cases/suspense.sql.ts';
import { parseDialect } from '../../src/gateway/dialect/dialect.ts';
import { loadPayment } from '../../src/payments/confirm.sql.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { recheck, type Rechecked } from '../../src/reconciliation/recheck.sql.ts';
import { asReference } from '../support/ids.ts';
import { openDesk, startReconciling, type Desk, type Planted } from './desk.ts';

// A change of the dialect explains what was held: it is asked about again, and settled, and the rest stays as it was.
let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

/** A payment of 25.00 NGN about which the service says this, in its list and when it is asked. */
async function held(record: object): Promise<Planted> {
  const planted = await desk.put({}, null);
  const text = JSON.stringify({ reference: planted.reference, currency: 'NGN', ...record });
  desk.service.history.push(text);
  desk.service.verify.set(planted.reference, text);
  const payment = await loadPayment(desk.database, asReference(planted.reference), 'test');
  if (payment !== null) await desk.confirm(payment, 'webhook');
  return planted;
}

async function speakingNow(dialect: object): Promise<Rechecked> {
  const { database, service } = desk;
  const alarm = (): Promise<void> => Promise.resolve();
  const parsed = parseDialect(JSON.stringify(dialect)).dialect;
  const { gateway, ...rest } = startReconciling({ database, url: service.url, dialect: parsed, alarm });
  try {
    const parts = {
      ...rest,
      database,
      mode: 'test',
      concurrency: 4,
      logger: createLogger('silent'),
    } as const;
    return await recheck(parts, { by: 'Ngozi', note: 'they told us their words' });
  } finally {
    await gateway.close();
  }
}

const statusOf = async ({ orderId }: Planted): Promise<unknown> => {
  const [row] = await desk.database.query('SELECT status FROM orders WHERE id = $1', [orderId]);
  return row;
};

test('words and records that the dialect explains now pay, once; what it does not explain stays held', async () => {
  const [word, record, strange] = [
    await held({ status: 'captured', amount: 25 }),
    await held({ status: 'success', total: 25 }),
    await held({ status: 'wibble', amount: 25 }),
  ];
  await desk.put({}, {});
  await desk.reconcile({ dryRun: false });
  const words = { statuses: { paid: ['success', 'captured'] }, verify: { amount: ['/amount', '/total'] } };
  const seen = desk.service.calls.length;
  expect(await speakingNow(words)).toMatchObject({
    asked: { paid: 2, unknown_status: 1 },
    findings: { closed: 2, open: 1 },
    problem: null,
  });
  const asked = desk.service.calls.slice(seen).filter((path) => path.includes('verify'));
  expect(asked.length).toBeGreaterThanOrEqual(3);
  expect(await Promise.all([word, record, strange].map(statusOf))).toEqual([
    { status: 'paid' },
    { status: 'paid' },
    { status: 'review' },
  ]);
  const journal = await desk.database.query<{ cause: string }>(
    `SELECT cause FROM journal WHERE event = 'check-asked' GROUP BY cause`,
  );
  expect(journal).toEqual([{ cause: 'operator:Ngozi' }]);
  expect(await speakingNow(words)).toMatchObject({ asked: { unknown_status: 1 }, findings: { open: 1 } });
});

test('a unit error pays in the right unit, its item is earned, and what a person decided is not asked about', async () => {
  const [one, decided] = [
    await held({ status: 'success', amount: 2500 }),
    await held({ status: 'success', amount: 2500 }),
  ];
  await desk.reconcile({ dryRun: false });
  const item = (await openSuspense(desk.database, 'test')).find(
    ({ reference }) => reference === decided.reference,
  );
  const how = { by: 'Ada', note: 'x', decision: 'refund', refundNote: 'RF-1' } as const;
  await resolveSuspense(desk.database, 'test', item?.id ?? 0n, how);
  expect(await speakingNow({ amountUnit: 'minor' })).toMatchObject({
    asked: { paid: 1 },
    findings: { closed: 1, open: 0 },
  });
  expect(await Promise.all([one, decided].map(statusOf))).toEqual([
    { status: 'paid' },
    { status: 'cancelled' },
  ]);
  expect(await openSuspense(desk.database, 'test')).toEqual([]);
});
