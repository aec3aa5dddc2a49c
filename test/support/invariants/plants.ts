import type { Queryable } from '../../../src/platform/database/database.ts';
import type { CheckoutAnswer } from '../program.ts';
import type { Observed } from '../invariants.ts';

export type Orders = Record<'paid' | 'other' | 'held' | 'failed' | 'open' | 'duplicate', CheckoutAnswer>;

/** A violation, and exactly the invariants that see it: some are one fact seen from two books. */
export type Plant = {
  violation: string;
  breaks: readonly string[];
  plant: (db: Queryable, orders: Orders, observed: Observed) => Promise<unknown>;
};

/** Plants by SQL; `$1` is the reference, `$2` the order of the named story. */
function sql(
  violation: string,
  breaks: readonly string[],
  story: keyof Orders,
  ...statements: readonly string[]
): Plant {
  return {
    violation,
    breaks,
    plant: async (db, orders) => {
      const { reference, orderId } = orders[story];
      for (const text of statements)
        await db.query(text.replaceAll('$1', `'${reference}'`).replaceAll('$2', `'${orderId}'`));
    },
  };
}

/** Plants in what the service's books, the receiver or the logs say. */
function said(
  violation: string,
  breaks: readonly string[],
  change: (observed: Observed, orders: Orders) => unknown,
): Plant {
  return {
    violation,
    breaks,
    plant: async (_db, orders, observed) => Promise.resolve(change(observed, orders)),
  };
}

const entryOf = ({ service }: Observed, { reference }: CheckoutAnswer) => {
  const found = service.ledger.find((entry) => entry.reference === reference);
  if (found === undefined) throw new Error(`the ledger does not know ${reference}`);
  return found;
};
const tallyOf = ({ service }: Observed, { reference }: CheckoutAnswer) => {
  const found = service.calls.references[reference];
  if (found === undefined) throw new Error(`nobody called about ${reference}`);
  return found;
};
const WEBHOOK = `INSERT INTO webhooks (mode, body, body_sha256, authenticity, reference, outcome, deliveries)`;

export const PLANTS: readonly Plant[] = [
  sql(
    'evidence of a lower amount',
    ['I1'],
    'paid',
    `UPDATE verifications SET amount = amount - 1 WHERE reference = $1`,
  ),
  sql(
    'evidence that came after the payment',
    ['I1'],
    'paid',
    `UPDATE verifications SET answered_at = now() WHERE reference = $1`,
  ),
  said('paid here, never paid there', ['I1'], (observed, { paid }) => {
    entryOf(observed, paid).payments = [];
  }),
  sql('paid with no release', ['I1', 'I2', 'I3', 'I20'], 'paid', `DELETE FROM releases WHERE order_id = $2`),
  sql(
    'released and not paid',
    ['I2', 'I3', 'I19'],
    'paid',
    `UPDATE orders SET status = 'pending', release_id = NULL, paid_at = NULL WHERE id = $2`,
  ),
  said('a delivery under another id', ['I2'], (observed, { paid }) => {
    observed.sink = [{ orderId: paid.orderId, releaseId: 'rel_other' }];
  }),
  {
    violation: 'a delivery that never arrived',
    breaks: ['I2'],
    plant: async (db, { paid }, observed) => {
      await db.query(`UPDATE releases SET delivery = 'delivered' WHERE order_id = $1`, [paid.orderId]);
      observed.sink = [];
    },
  },
  sql(
    'a suspense item that is gone',
    ['I3', 'I5', 'I20'],
    'held',
    `DELETE FROM suspense_items WHERE reference = $1`,
  ),
  said('a transaction of nobody', ['I3', 'I5', 'I20'], (observed, { paid }) => {
    const entry = { ...entryOf(observed, paid), reference: 'nobody' };
    observed.service.ledger = [...observed.service.ledger, entry];
  }),
  sql(
    'a journal entry that is gone',
    ['I4'],
    'paid',
    `DELETE FROM journal WHERE order_id = $2 AND event = 'payment-open'`,
  ),
  sql(
    'a journal entry that was rewritten',
    ['I4'],
    'paid',
    `UPDATE journal SET cause = 'operator:nobody' WHERE order_id = $2 AND seq = 1`,
  ),
  sql(
    'a way back from paid',
    ['I4', 'I19'],
    'paid',
    `ALTER TABLE journal ENABLE ALWAYS TRIGGER journal_append`,
    // At the time of the answer, however long ago the honest day was by now: otherwise it would not be a
    // fresh one.
    `INSERT INTO journal (order_id, event, reference, cause, at)
     SELECT $2, 'payment-failed', $1, 'schedule', max(answered_at) FROM verifications WHERE reference = $1`,
  ),
  said('a failure that nobody noticed', ['I5'], (observed, { open }) => {
    Object.assign(entryOf(observed, open), { state: 'failed' });
  }),
  said('initialized twice', ['I8'], (observed, { open }) => {
    tallyOf(observed, open).initialize = 2;
  }),
  sql(
    'a line that was changed',
    ['I9'],
    'open',
    `UPDATE order_lines SET unit_amount = unit_amount + 1 WHERE order_id = $2`,
  ),
  said('another amount on the wire', ['I9'], (observed, { open }) => {
    entryOf(observed, open).asked.amount = '1.00';
  }),
  said('paid and never asked', ['I11'], (observed, { paid }) => {
    const { calls } = observed.service;
    calls.log = calls.log.filter(
      ({ reference, endpoint }) => reference !== paid.reference || endpoint !== 'verify',
    );
  }),
  said('an acknowledged webhook that is gone', ['I12'], (observed) => {
    observed.acknowledged = ['{"reference":"x"}'];
  }),
  sql(
    'a webhook that hinted at nothing',
    ['I12'],
    'open',
    `${WEBHOOK} VALUES ('test', 'x', 'x', 'signed', $1, 'ignored', 1)`,
  ),
  sql(
    'a webhook whose hint was lost',
    ['I12'],
    'open',
    `${WEBHOOK} VALUES ('test', 'x', 'x', 'signed', $1, 'hinted', 9)`,
  ),
  said('asked about a stranger', ['I13'], (observed) => {
    observed.service.calls.references.stranger = { initialize: 0, verify: 1 };
  }),
  sql(
    'a checkout address with a script',
    ['I14'],
    'open',
    `UPDATE payments SET checkout_url = 'javascript:alert(1)' WHERE reference = $1`,
  ),
  sql(
    'a live verification of a test payment',
    ['I15'],
    'held',
    `UPDATE verifications SET mode = 'live' WHERE reference = $1`,
  ),
  said('asked with the key of the other mode', ['I15'], (observed, { open }) => {
    for (const call of observed.service.calls.log) if (call.reference === open.reference) call.mode = 'live';
  }),
  said('asked far too often', ['I16'], (observed, { open }) => {
    tallyOf(observed, open).verify = 500;
  }),
  sql(
    'due and forgotten',
    ['I17'],
    'open',
    `UPDATE payments SET next_check_at = now() - interval '2 min', leased_until = NULL WHERE reference = $1`,
  ),
  sql(
    'open and watched by nobody',
    ['I18'],
    'open',
    `UPDATE payments SET next_check_at = NULL WHERE reference = $1`,
  ),
  sql(
    'a hint that nobody will answer',
    ['I18'],
    'paid',
    `UPDATE payments SET hints = hints + 1 WHERE reference = $1`,
  ),
  sql(
    'a state that no entry tells',
    ['I19'],
    'open',
    `UPDATE payments SET status = 'ambiguous' WHERE reference = $1`,
  ),
  sql(
    'an order that nobody has cancelled',
    ['I19'],
    'open',
    `UPDATE orders SET status = 'cancelled', cancelled_at = now(), cancelled_by = 'x', cancel_reason = 'x' WHERE id = $2`,
  ),
  sql('an order beside its payments', ['I19'], 'open', `UPDATE orders SET status = 'failed' WHERE id = $2`),
  sql(
    'a minor unit too few in suspense',
    ['I5', 'I20'],
    'held',
    `UPDATE suspense_items SET amount = amount - 1 WHERE reference = $1`,
  ),
  sql(
    'one proof for two orders',
    ['I1', 'I11', 'I21'],
    'paid',
    `UPDATE releases SET verification_id =
    (SELECT verification_id FROM releases WHERE order_id = $2)`,
  ),
  sql('failed without an answer', ['I22'], 'failed', `DELETE FROM verifications WHERE reference = $1`),
  sql(
    'odd evidence that holds nobody',
    ['I23'],
    'open',
    `INSERT INTO verifications
    (reference, order_id, mode, outcome, http_status, body_sha256, cause) VALUES ($1, $2, 'test', 'unproven', 200, 'x', 'schedule')`,
  ),
  said('an e-mail address in a log', ['I28'], (observed) => {
    observed.logs = ['{"msg":"checkout for ada@example.com"}'];
  }),
  said('a card number in a log', ['I28'], (observed) => {
    observed.logs = ['{"msg":"card 4111111111111111"}'];
  }),
  said('a part of the key in a log', ['I28'], (observed) => {
    observed.key = 'sk_test_abcdefghijklmnopqrstuvwxyz';
    observed.logs = ['{"msg":"bad header defghijklmnopq"}'];
  }),
  {
    violation: 'the body of a webhook in a log',
    breaks: ['I28'],
    plant: async (db, _orders, observed) => {
      const [row] = await db.query<{ body: Buffer }>(`${WEBHOOK}
        VALUES ('test', '{"data":{"reference":"nobody"}}', 'x', 'signed', NULL, 'ignored', 1) RETURNING body`);
      observed.logs = [JSON.stringify({ msg: `got ${row?.body.toString() ?? ''}` })];
    },
  },
];
