import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { explain } from '../../src/reporting/explain.ts';
import { openSuspense, resolveSuspense } from '../../src/cases/suspense.sql.ts';
import { assignItem, SUSPENSE } from '../../src/cases/work-lists.sql.ts';
import { eventually, startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';
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
    `INSERT INTO webhooks (mode, body, body_sha256, authenticity, reference, outcome)
     VALUES ('test', '', sha256(convert_to($1, 'UTF8')), 'signed', $1, 'hinted')`,
    first.reference,
  );
  await sql('UPDATE payments SET next_check_at = now() WHERE reference = $1', first.reference);
  await shop.program.duePayments.runOnce();
  // The receiver fails every seventh delivery, whosever it is.
  await eventually(async () => {
    await sql(`UPDATE releases SET next_check_at = now() WHERE delivery = 'waiting'`);
    await shop.program.dueReleases.runOnce();
    const waiting = `SELECT FROM releases WHERE order_id = $1 AND delivery = 'waiting'`;
    return (await sql(waiting, first.orderId)).length === 0;
  });
  return { first, second };
}

async function refund({ orderId }: CheckoutAnswer): Promise<void> {
  const { database } = shop.program;
  const item = (await openSuspense(database, 'test')).find((open) => open.orderId === orderId);
  await assignItem(database, SUSPENSE, 'test', item?.id ?? 0n, 'Tunde', 'Ngozi');
  const how = { by: 'Tunde', note: 'paid back', decision: 'refund', refundNote: 'RF-77' } as const;
  await resolveSuspense(database, 'test', item?.id ?? 0n, how);
}

describe('the whole story of an order', () => {
  test('is told in time order, with everything that any table remembers', async () => {
    const { first, second } = await longStory();
    await shop.program.reconcile({ dryRun: false });
    await refund(first);
    const story = await explain(shop.program.database, first.orderId);
    expect(story?.orderDetail.contradictions).toEqual([]);
    const events = story?.orderDetail.story.map(({ source, what, reference }) => [source, what, reference]);
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
    const times = story?.orderDetail.story.map(({ at }) => at.getTime()) ?? [];
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(story?.orderDetail.payments).toMatchObject([
      { reference: first.reference, status: 'held', checks: 2 },
      { reference: second.reference, status: 'paid', nextCheckAt: null },
    ]);
    for (const word of ['RF-77', 'Tunde', 'duplicate_payment', '850000 NGN', '2 checks, ', 'sha256'])
      expect(story?.evidence).toContain(word);
    for (const text of [story?.text, story?.evidence, JSON.stringify(story?.orderDetail)]) {
      expect(text).not.toContain('c4n4ry');
      expect(text).not.toContain('ada@example.com');
    }
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
    expect(story?.orderDetail).toMatchObject({
      orderId,
      externalId: 'R-1',
      amount: '25.00',
      contradictions: [],
    });
    expect(await explain(shop.program.database, 'R-2')).toBeNull();
  });

  test('cannot steer the terminal that it is printed on', async () => {
    const order = await shop.checkout();
    await sql(
      `INSERT INTO journal (order_id, event, cause, detail) VALUES ($1, 'note', 'operator:eve', '{"note": "a\u202eb"}')`,
      order.orderId,
    );
    await shop.program.database.transaction(async (tx) => {
      await tx.query('SET LOCAL session_replication_role = replica');
      const text = `UPDATE order_lines SET description = E'Tea\\x1b[2J' WHERE order_id = $1`;
      await tx.query(text, [order.orderId]);
    });
    const { text = '', evidence = '' } = (await explain(shop.program.database, order.orderId)) ?? {};
    for (const printed of [text, evidence]) {
      expect(printed).toContain('Tea');
      for (const steering of ['\u001b', '\u202e']) expect(printed).not.toContain(steering);
    }
  });
});

describe('F5: what may change is no alarm', () => {
  const wholeIs = async (orderId: string): Promise<void> => {
    const seen = await explain(shop.program.database, orderId);
    expect(seen?.orderDetail).toMatchObject({ contradictions: [] });
  };

  test('an address that was erased, from an order that is over', async () => {
    const email = `${Math.random()}@erase.example`.slice(2);
    const order = await shop.checkout({ email, items: [{ sku: 'ankara-tote', quantity: 1 }] });
    await shop.hand(`transactions/${order.reference}/fail`, { notify: false });
    await comeBack(order.reference);
    await sql('SELECT erase_email($1, $2, $3)', email, 'Ngozi', 'asked to be forgotten');
    await wholeIs(order.orderId);
    expect(await sql('SELECT email, email_salt FROM orders WHERE id = $1', order.orderId)).toEqual([
      { email: 'erased', email_salt: null },
    ]);
  });

  test('money that rises while it is in suspense, and pays the order in the end', async () => {
    const order = await shop.checkout();
    for (const amount of ['1.00', '2.00', '8500.00']) {
      await shop.hand(`transactions/${order.reference}/pay`, { amount, notify: false });
      await sql(
        'UPDATE payments SET last_hinted_at = NULL, leased_until = NULL WHERE reference = $1',
        order.reference,
      );
      await comeBack(order.reference);
      await wholeIs(order.orderId);
    }
  });

  test('a delivery that is asked for again', async () => {
    const { second } = await longStory();
    await shop.program.redeliver({ idOrOrderId: second.orderId, by: 'Ngozi', note: null });
    await wholeIs(second.orderId);
    await shop.program.dueReleases.runOnce();
    await wholeIs(second.orderId);
  });
});

test("F5: a finding's money that was changed is named", async () => {
  const { first } = await longStory();
  await shop.program.reconcile({ dryRun: false });
  await sql('UPDATE findings SET actual = actual + 1 WHERE order_id = $1', first.orderId);
  const seen = await explain(shop.program.database, first.orderId);
  expect(seen?.orderDetail.contradictions).toEqual([
    expect.stringMatching(/^finding \d+ says other money than when it was raised$/),
  ]);
  // A run that still sees it writes down what it sees.
  await shop.program.reconcile({ dryRun: false });
  expect((await explain(shop.program.database, first.orderId))?.orderDetail.contradictions).toEqual([]);
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
    return story?.orderDetail.contradictions ?? [];
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
    [
      "F5: an order's e-mail address",
      `UPDATE orders SET email = 'eve@example.com' WHERE id = $ORDER`,
      [/^the order's e-mail address was changed$/],
    ],
    [
      "F5: an order's e-mail address, erased without a word",
      `UPDATE orders SET email = 'erased', email_salt = NULL WHERE id = $ORDER`,
      [/^the order's e-mail address was erased, and the journal does not say so$/],
    ],
    [
      "F5: an order's external id",
      `UPDATE orders SET external_id = 'EVE-1' WHERE id = $ORDER`,
      [/^the order, or one of its lines, is not the one that was placed$/],
    ],
    [
      'F5: what was bought',
      `UPDATE order_lines SET description = 'gold', sku = NULL WHERE order_id = $ORDER`,
      [/^the order, or one of its lines, is not the one that was placed$/],
    ],
    [
      'F5: when it was paid',
      `UPDATE orders SET paid_at = paid_at - interval '1 day' WHERE id = $ORDER`,
      [/^the order was paid by another release, or at another time$/],
    ],
    [
      'F5: money in suspense',
      `UPDATE suspense_items SET amount = amount - 1 WHERE reference = $LATE`,
      [/^suspense item \d+ is of 849999 NGN \(\w+\), and the journal says 850000 NGN/],
    ],
    [
      'F5: what was decided about money in suspense',
      `UPDATE suspense_items SET refund_note = 'RF-78' WHERE reference = $LATE`,
      [/^suspense item \d+ was closed, and the journal does not say so$/],
    ],
    [
      'F5: a checkout address',
      `UPDATE payments SET checkout_url = 'https://eve.example/' WHERE reference = $LATE`,
      [/^payment \w+ has another checkout address than it was opened with$/],
    ],
    [
      'F5: a checkout address taken away',
      `UPDATE payments SET checkout_url = NULL WHERE reference = $LATE`,
      [/^payment \w+ has another checkout address than it was opened with$/],
    ],
    [
      'F5: a delivery put back',
      `UPDATE releases SET delivery = 'waiting', next_check_at = NULL WHERE order_id = $ORDER`,
      [/^release .* is waiting, and the journal does not say so$/],
    ],
    [
      'F5: a delivery that is said to be unneeded',
      `UPDATE releases SET delivery = 'unneeded' WHERE order_id = $ORDER`,
      [/^release .* is unneeded, and the journal does not say so$/],
    ],
  ])('%s', async (_name, statement, named) => {
    const contradictions = await tamper(statement);
    expect(contradictions).toEqual(named.map((pattern) => expect.stringMatching(pattern) as unknown));
  });
});
