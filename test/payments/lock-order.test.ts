import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { recordInitialize } from '../../src/checkout/attempts.sql.ts';
import { placeOrder } from '../../src/checkout/checkout.sql.ts';
import { addPayment } from '../../src/checkout/further-payment.sql.ts';
import type { Queryable } from '../../src/platform/database/database.ts';
import { newId, newReference, type OrderId, type Reference } from '../../src/platform/ids.ts';
import { hintAndLease } from '../../src/payments/checks.sql.ts';
import { loadPayment, recordConfirmation } from '../../src/payments/confirm.sql.ts';
import { createWebhookStore } from '../../src/webhooks/webhooks.sql.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { asOrderId, asReference } from '../support/ids.ts';
import { eventually } from '../support/program.ts';

// Statements that write for many payments at once meet at the same two orders. PostgreSQL ends one of them
// when they wait for each other; each would be run again, so what it refused is looked at, and not what came
// of it.

let books: TestDatabase;
beforeAll(async () => {
  books = await createTestDatabase();
});
afterAll(() => books.close());

/** Two orders, each with a payment that is confirmed and one that is being opened. */
type Meeting = { orders: OrderId[]; confirmed: Reference[]; opened: Reference[] };

/** The order of the orders is not that of the first payments' references, and is that of the second ones'. */
async function arrange(): Promise<Meeting> {
  const begin = (letter: string): string => letter + newId().slice(1);
  const meeting = {
    orders: ['A', 'B'].map(begin).map(asOrderId),
    confirmed: ['b', 'a'].map(begin).map(asReference),
    opened: ['c', 'd'].map(begin).map(asReference),
  };
  const { database } = books;
  for (const [at, id] of meeting.orders.entries()) {
    const line = { sku: null, description: 'a thing', unitAmount: 100n, quantity: 1 };
    const order = {
      id,
      mode: 'test',
      email: 'ada@example.com',
      currency: 'NGN',
      lines: [line],
      externalId: null,
      returnUrl: null,
      details: {},
    } as const;
    const reference = meeting.confirmed[at] ?? newReference();
    await placeOrder(database, { order: { ...order, amount: 100n }, reference, key: null });
    await addPayment(database, id, meeting.opened[at] ?? newReference());
  }
  return meeting;
}

type Deed = (db: Queryable, meeting: Meeting) => Promise<unknown>;

const confirm: Deed = async (db, { confirmed }) => {
  const payments = await Promise.all(
    confirmed.map((reference) => loadPayment(books.database, reference, 'test')),
  );
  const decision = { outcome: 'not_found', nextStatus: 'ambiguous', release: false, suspense: null } as const;
  const answer = {
    statusWord: 'PENDING',
    contradiction: null,
    answeredAmount: null,
    answeredCurrency: null,
    httpStatus: 200,
    body: null,
  };
  const rest = {
    decision,
    nextStatus: 'ambiguous',
    nextCheckSec: 60,
    cause: 'schedule',
    bodySha256: Buffer.alloc(32),
  } as const;
  return Promise.all(
    payments.map((payment) => {
      if (payment === null) throw new Error('no such payment');
      return recordConfirmation(db, { payment, ...answer, ...rest }, { id: newId(), delivery: 'unneeded' });
    }),
  );
};

const open: Deed = (db, { opened }) =>
  Promise.all(
    opened.map((reference) => {
      const checkoutUrl = `https://pay.example.com/${reference}`;
      return recordInitialize(db, {
        reference,
        result: { outcome: 'opened', checkoutUrl },
        mode: 'test',
        key: null,
      });
    }),
  );

const comeBack: Deed = (db, { confirmed, opened }) =>
  Promise.all([...confirmed, ...opened].map((reference) => hintAndLease(db, reference, 'test')));

const callUs: Deed = (db, { confirmed, opened }) => {
  const store = createWebhookStore(db, () => ({ slots: 0, take: () => undefined }));
  const kind = { mode: 'test', contentType: 'application/json', authenticity: 'signed' } as const;
  return Promise.all(
    [...confirmed, ...opened].map((reference) => {
      const body = Buffer.from(JSON.stringify({ reference }));
      const bodySha256 = createHash('sha256').update(body).digest();
      return store({ ...kind, body, bodySha256, reference: reference }, true);
    }),
  );
};

const DEEDS: readonly [string, Deed][] = [
  ['confirmation', confirm],
  ['checkouts that open', open],
  ['shoppers who come back', comeBack],
  ['webhooks', callUs],
];
const PAIRS = DEEDS.flatMap(([one, first]) =>
  DEEDS.flatMap(([other, second]) => (first === second ? [] : [[one, other, first, second] as const])),
);

test.each(PAIRS)(
  '%s, then %s, of the same orders: one waits for the other',
  async (_one, _other, ...deeds) => {
    for (const held of ['orders WHERE id', 'payments WHERE order_id']) {
      const meeting = await arrange();
      const refused: string[] = [];
      const db: Queryable = {
        query: async (statement, values) =>
          books.database.query<never>(statement, values).catch((error: unknown) => {
            refused.push(String(error));
            throw error;
          }),
      };
      const done: Promise<unknown>[] = [];
      let underWay = 0;
      await books.database.transaction(async (other) => {
        // Everybody who wants the first order's rows queues behind this.
        await other.query(`SELECT FROM ${held} = $1 FOR NO KEY UPDATE`, [meeting.orders[0]]);
        for (const deed of deeds) {
          underWay += 1;
          done.push(deed(db, meeting).finally(() => (underWay -= 1)));
          await eventually(async () => (await waiting()) >= underWay);
        }
      });
      await Promise.all(done);
      expect(refused).toEqual([]);
    }
  },
);

/** How many wait for a row. */
async function waiting(): Promise<number> {
  const [row] = await books.database.query<{ count: number }>(
    `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return row?.count ?? 0;
}
