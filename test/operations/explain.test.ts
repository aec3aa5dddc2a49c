import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { explain } from '../../src/operations/explain.ts';
import { assignSuspense, openSuspense, resolveSuspense } from '../../src/suspense/work-list/repository.ts';
import { startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';
import { startReleaseReceiver, type ReleaseReceiver } from '../support/release-receiver.ts';

let receiver: ReleaseReceiver;
let shop: TestProgram;
beforeAll(async () => {
  receiver = await startReleaseReceiver();
  shop = await startProgram({ env: { ...receiver.env, SHOP_API_TOKEN: 'a-long-shop-token' } });
});
afterAll(async () => {
  await shop.close();
  await receiver.close();
});

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);
const comeBack = (reference: string) =>
  fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });

/** Failed, tried again, paid twice: as long a story as an order can have. */
async function longStory(): Promise<{ first: CheckoutAnswer; second: CheckoutAnswer }> {
  const first = await shop.checkout(undefined, { 'idempotency-key': `c4n4ry-${Math.random()}` });
  await shop.hand(`transactions/${first.reference}/fail`, { notify: false });
  await comeBack(first.reference);
  const second = await shop.checkout({ orderId: first.orderId });
  for (const { reference } of [first, second])
    await shop.hand(`transactions/${reference}/pay`, { notify: false });
  await comeBack(second.reference);
  await sql(
    `INSERT INTO webhooks (body, body_sha256, authenticity, reference, outcome)
     VALUES ('', sha256(convert_to($1, 'UTF8')), 'signed', $1, 'hinted')`,
    first.reference,
  );
  await sql('UPDATE payments SET next_check_at = now() WHERE reference = $1', first.reference);
  await shop.program.duePayments.pass();
  await shop.program.dueReleases.pass();
  return { first, second };
}

async function refund({ orderId }: CheckoutAnswer): Promise<void> {
  const { database } = shop.program;
  const item = (await openSuspense(database, 'test')).find((open) => open.orderId === orderId);
  await assignSuspense(database, 'test', item?.id ?? 0n, 'Tunde', 'Ngozi');
  const how = { by: 'Tunde', note: 'paid back', decision: 'refund', refundNote: 'RF-77' } as const;
  await resolveSuspense(database, 'test', item?.id ?? 0n, how);
}

describe('the whole story of an order', () => {
  test('is told in time order, with everything that any table remembers', async () => {
    const { first, second } = await longStory();
    await shop.program.reconcile({ dryRun: false });
    await refund(first);
    const story = await explain(shop.program.database, first.orderId);
    expect(story?.dossier.contradictions).toEqual([]);
    const events = story?.dossier.story.map(({ source, what, reference }) => [source, what, reference]);
    for (const event of [
      ['key', 'answered', first.reference],
      ['journal', 'order-placed', first.reference],
      ['verification', 'failed', first.reference],
      ['journal', 'payment-failed', first.reference],
      ['journal', 'payment-added', second.reference],
      ['verification', 'paid', second.reference],
      ['journal', 'order-paid', second.reference],
      ['release', 'delivered', second.reference],
      ['journal', 'release-delivered', second.reference],
      ['webhook', 'hinted', first.reference],
      ['verification', 'paid', first.reference],
      ['suspense', 'opened', first.reference],
      ['finding', 'duplicate_payment', first.reference],
      ['suspense', 'assigned', first.reference],
      ['suspense', 'refund', first.reference],
      ['journal', 'suspense-resolved', first.reference],
    ])
      expect(events).toContainEqual(event);
    const times = story?.dossier.story.map(({ at }) => at.getTime()) ?? [];
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(story?.dossier.payments).toMatchObject([
      { reference: first.reference, status: 'held', checks: 2 },
      { reference: second.reference, status: 'paid', nextCheckAt: null },
    ]);
    for (const word of ['RF-77', 'Tunde', 'duplicate_payment', '850000 NGN', 'looked at 2 time(s)', 'sha256'])
      expect(story?.text).toContain(word);
    expect(story?.text).not.toContain('c4n4ry');
    expect(story?.text).not.toContain('ada@example.com');
  });

  test("is found by a shop's own id, after order ids and references", async () => {
    const lines = [{ description: 'Tea', unitAmount: '12.50', quantity: 2 }];
    const answer = await fetch(`${shop.origin}/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer a-long-shop-token' },
      body: JSON.stringify({ externalId: 'R-1', email: 'ada@example.com', currency: 'NGN', lines }),
    });
    const { orderId } = (await answer.json()) as { orderId: string };
    const story = await explain(shop.program.database, 'R-1');
    expect(story?.dossier).toMatchObject({ orderId, externalId: 'R-1', amount: '25.00', contradictions: [] });
    expect(await explain(shop.program.database, 'R-2')).toBeNull();
  });

  test('cannot steer the terminal that it is printed on', async () => {
    const order = await shop.checkout();
    await sql(
      `INSERT INTO journal (order_id, event, cause, detail) VALUES ($1, 'note', 'operator:eve', '{"note": "a\u202eb"}')`,
      order.orderId,
    );
    await sql(`UPDATE order_lines SET description = E'Tea\\x1b[2J' WHERE order_id = $1`, order.orderId);
    const { text = '' } = (await explain(shop.program.database, order.orderId)) ?? {};
    expect(text).toContain('Tea');
    for (const steering of ['\u001b', '\u202e']) expect(text).not.toContain(steering);
  });
});

describe('a row that was changed behind the program is named', () => {
  let order: CheckoutAnswer;
  let late: CheckoutAnswer;
  beforeEach(async () => {
    ({ second: order, first: late } = await longStory());
    await refund(late);
  });

  /** What a superuser does who switches the triggers off. */
  async function tamper(statement: string): Promise<string[]> {
    await shop.program.database.transaction(async (tx) => {
      await tx.query('SET LOCAL session_replication_role = replica');
      const values = { $ORDER: order.orderId, $PAID: order.reference, $LATE: late.reference };
      const text = Object.entries(values).reduce(
        (sql, [name, value]) => sql.replaceAll(name, `'${value}'`),
        statement,
      );
      await tx.query(text);
    });
    const story = await explain(shop.program.database, order.orderId);
    expect(story?.isIntact).toBe(false);
    return story?.dossier.contradictions ?? [];
  }

  const verification = `(SELECT max(id) FROM verifications WHERE reference = $PAID)`;
  test.each<[string, string, RegExp[]]>([
    [
      'a journal entry altered',
      `UPDATE journal SET cause = 'operator:nobody' WHERE order_id = $ORDER AND seq = 2`,
      [/^journal entry 2 was changed$/],
    ],
    [
      'a journal entry altered, with a hash that fits',
      `UPDATE journal j SET cause = 'x', hash = journal_hash(jsonb_populate_record(j, '{"cause": "x"}')) WHERE order_id = $ORDER AND seq = 2`,
      [/^journal entry 3 does not follow from the one before it$/],
    ],
    [
      'a journal entry removed from the middle',
      `DELETE FROM journal WHERE order_id = $ORDER AND seq = 2`,
      [/^journal entry 3 comes after one that is missing$/],
    ],
    [
      'the last journal entries removed',
      `DELETE FROM journal WHERE order_id = $ORDER AND event = 'suspense-resolved'`,
      [/^suspense item \d+ was closed, and the journal does not say so$/],
    ],
    [
      'the outcome of evidence altered',
      `UPDATE verifications SET outcome = 'pending' WHERE id = ${verification}`,
      [/^verification \d+ was changed, says journal entry \d+$/, /^release .* is of other money/],
    ],
    [
      'the word of evidence altered',
      `UPDATE verifications SET status_word = 'DECLINED' WHERE id = ${verification}`,
      [/^verification \d+ was changed, says journal entry \d+$/],
    ],
    [
      'the body of evidence altered',
      `UPDATE verifications SET body = 'x' WHERE id = ${verification}`,
      [/^verification \d+ keeps a body that is not the one it was made from$/],
    ],
    [
      'the body of evidence altered, with a digest that fits',
      `UPDATE verifications SET body = 'x', body_sha256 = sha256('x') WHERE id = ${verification}`,
      [/^verification \d+ was changed, says journal entry \d+$/],
    ],
    [
      'evidence removed',
      `DELETE FROM verifications WHERE id = ${verification}`,
      [/^verification \d+ is gone, says journal entry \d+$/, /^release .* is of other money/],
    ],
    [
      'a release of another amount',
      `UPDATE releases SET amount = amount + 1 WHERE order_id = $ORDER`,
      [/^release .* is of other money than its order or its evidence$/],
    ],
    [
      'a release under another id',
      `UPDATE releases SET id = 'rel_eve' WHERE order_id = $ORDER`,
      [/^release rel_eve is not the one that journal entry \d+ made$/],
    ],
    [
      'a release removed',
      `DELETE FROM releases WHERE order_id = $ORDER`,
      [/^release rel_.* is not the one that journal entry \d+ made$/],
    ],
    [
      'a delivery that never happened',
      `UPDATE releases SET delivery = 'dead' WHERE order_id = $ORDER`,
      [/^release .* is dead, and the journal does not say so$/],
    ],
    [
      'an order that is no longer paid',
      `UPDATE orders SET status = 'failed', release_id = NULL, paid_at = NULL WHERE id = $ORDER`,
      [/^the order is failed, and the journal does not say so$/],
    ],
    [
      'a price altered',
      `UPDATE order_lines SET unit_amount = unit_amount - 1 WHERE order_id = $ORDER`,
      [/^the order costs other than its lines$/],
    ],
    [
      'a payment put back',
      `UPDATE payments SET status = 'failed' WHERE reference = $LATE`,
      [/^payment .* is failed, and the journal says held$/],
    ],
    [
      'a finding closed',
      `INSERT INTO reconciliation_runs (id, mode) VALUES ('run_' || $ORDER, 'test');
       INSERT INTO findings (mode, class, reference, order_id, first_run_id, last_run_id, closed_at, closed_by)
       VALUES ('test', 'reversed', $PAID, $ORDER, 'run_' || $ORDER, 'run_' || $ORDER, now(), 'eve')`,
      [/^finding \d+ was closed, and the journal does not say so$/],
    ],
  ])('%s', async (_name, statement, named) => {
    const contradictions = await tamper(statement);
    expect(contradictions).toEqual(named.map((pattern) => expect.stringMatching(pattern) as unknown));
  });
});
