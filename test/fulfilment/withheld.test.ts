import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { listFindings, resolveFinding } from '../../src/cases/findings.ts';
import { LISTS } from '../../src/commands/work-lists.ts';
import { DEFAULTS } from '../../src/extensions.ts';
import { EVENT_TYPES } from '../../src/fulfilment/event.ts';
import { markDelivered, RELEASES } from '../../src/fulfilment/delivery.sql.ts';
import { unsentReleases, withheldReleases } from '../../src/fulfilment/releases.sql.ts';
import { recordRefund } from '../../src/orders/refunds.sql.ts';
import type { Queryable } from '../../src/platform/database/database.ts';
import { explain } from '../../src/reporting/explain.ts';
import { contradictionsOf } from '../../src/reporting/integrity.sql.ts';
import { createGate } from '../support/gate.ts';
import { asOrderId } from '../support/ids.ts';
import { eventually, startProgram, type TestProgram } from '../support/program.ts';
import { logIn, TOKEN } from '../admin/visitor.ts';

// Goods whose money went back before they were sent. Every order is of 8,500.00 NGN.

let shop: TestProgram;
/** What reached the shop's own system, in order. */
let told: string[] = [];
let take: () => Promise<void> = () => Promise.resolve();
beforeAll(async () => {
  const receiver = async (): Promise<void> => {
    told.push('order.paid');
    await take();
  };
  const onEvent = ({ type }: { type: string }): Promise<void> => Promise.resolve(void told.push(type));
  shop = await startProgram({
    env: { FULFILMENT_EVENTS: EVENT_TYPES.join(','), ADMIN_TOKEN: TOKEN },
    extensions: { ...DEFAULTS, receiver, onEvent },
  });
  await shop.program.dueEvents.runOnce();
});
afterAll(() => shop.close());
afterEach(async () => {
  take = () => Promise.resolve();
  await sql(`UPDATE releases SET delivery = 'delivered', next_check_at = NULL, leased_until = NULL`);
  await sql(`UPDATE events SET delivery = 'delivered', next_check_at = NULL`);
  told = [];
});

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);

type Paid = { orderId: string; reference: string; releaseId: string };
async function paid(): Promise<Paid> {
  const { orderId, reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
  const [row] = await sql<{ id: string }>('SELECT id FROM releases WHERE order_id = $1', orderId);
  return { orderId, reference, releaseId: row?.id ?? '' };
}

/** What became of a delivery before, with its entry in the journal. */
async function become({ orderId, releaseId }: Paid, delivery: string): Promise<void> {
  await sql(
    `UPDATE releases SET delivery = $2, next_check_at = CASE $2 WHEN 'waiting' THEN now() END WHERE id = $1`,
    ...[releaseId, delivery],
  );
  if (delivery === 'dead')
    await sql(
      `INSERT INTO journal (order_id, event, cause, detail) VALUES ($1, 'release-dead', 'schedule', '{}')`,
      orderId,
    );
}

const refund = async ({ orderId }: Paid, amount = 850_000n, database = shop.program.database) => {
  const given = { amount, reason: 'sold out', externalId: null, by: 'Ngozi' };
  const { outcome } = await recordRefund(database, 'test', { orderId: asOrderId(orderId), ...given });
  expect(outcome).toBe('recorded');
};
const run = () => shop.program.reconcile({ dryRun: false });
/** Everything that is due, and what is due after it. */
async function deliver(): Promise<void> {
  const { dueReleases, dueEvents } = shop.program;
  while ((await dueReleases.runOnce()) + (await dueEvents.runOnce()) > 0);
}
const due = () => sql(`UPDATE releases SET next_check_at = now() WHERE delivery = 'waiting'`);
const deliveryOf = async ({ releaseId }: Paid): Promise<string | undefined> =>
  (await sql<{ delivery: string }>('SELECT delivery FROM releases WHERE id = $1', releaseId))[0]?.delivery;
const journalOf = ({ orderId }: Paid): Promise<object[]> =>
  sql(
    `SELECT event, cause, detail - 'release' AS detail FROM journal
     WHERE order_id = $1 AND event LIKE 'release-%' ORDER BY seq`,
    orderId,
  );
const asked = (order: Paid, withheld = false) =>
  shop.program.redeliver({ idOrOrderId: order.releaseId, by: 'Ngozi', note: 'goodwill', withheld });
const contradictions = ({ orderId }: Paid) => contradictionsOf(shop.program.database, [asOrderId(orderId)]);

/** The newest answer about it, as `confirm` stores it. */
const answered = ({ orderId, reference }: Paid, outcome: string) =>
  sql(
    `INSERT INTO verifications (reference, order_id, mode, outcome, amount, currency, http_status,
       body_sha256, cause)
     VALUES ($1, $2, 'test', $3, 850000, 'NGN', 200, '', 'webhook')`,
    ...[reference, orderId, outcome],
  );

/** Starts what has to wait, each when the one before it does. */
const waiting = async (): Promise<number> => {
  const [row] = await sql<{ count: number }>(
    `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return row?.count ?? 0;
};

describe('a release whose order was refunded as a whole', () => {
  test.each(['waiting', 'unneeded'])(
    'while it was %s, is not sent by anything but a person who means it',
    async (was) => {
      const order = await paid();
      await become(order, was);
      await refund(order, 500_000n);
      expect(await deliveryOf(order)).toBe(was);
      await refund(order, 350_000n);
      await deliver();
      await shop.program.sendUnsent({ by: 'Ngozi', note: null });
      expect(await asked(order)).toBe('withheld');
      await deliver();
      expect(told).toEqual(['order.refunded', 'order.refunded']);
      expect((await unsentReleases(shop.program.database, 'test')).count).toBe(0);
      expect(await withheldReleases(shop.program.database, 'test', 9)).toMatchObject([
        { id: order.releaseId, delivery: 'withheld' },
      ]);
      expect(await asked(order, true)).toBe('due');
      await deliver();
      expect(told).toEqual(['order.refunded', 'order.refunded', 'order.paid']);
      expect(await journalOf(order)).toEqual([
        { event: 'release-withheld', cause: 'operator:Ngozi', detail: { was, attempts: 0, why: 'refunded' } },
        {
          ...{ event: 'release-redelivery', cause: 'operator:Ngozi' },
          detail: { was: 'withheld', attempts: 0, note: 'goodwill' },
        },
        { event: 'release-delivered', cause: 'schedule', detail: { attempts: 1 } },
      ]);
    },
  );

  test('while it was dead, is not one of those that are sent again', async () => {
    const order = await paid();
    await become(order, 'dead');
    await refund(order);
    expect(await contradictions(order)).toEqual([]);
    expect(await asked(order)).toBe('withheld');
    await deliver();
    expect(told).toEqual(['order.refunded']);
  });

  test('in part only is sent, and so is one that was sent before', async () => {
    const order = await paid();
    await refund(order, 849_999n);
    await deliver();
    expect(told).toEqual(['order.paid', 'order.refunded']);
    await refund(order, 1n);
    expect(await deliveryOf(order)).toBe('delivered');
    expect(await contradictions(order)).toEqual([]);
  });

  test('and was sent before, is sent again only by a person who means it', async () => {
    const order = await paid();
    await deliver();
    await refund(order, 849_999n);
    expect(await asked(order)).toBe('due');
    await deliver();
    await refund(order, 1n);
    expect(await asked(order)).toBe('withheld');
    await deliver();
    expect(told.filter((type) => type === 'order.paid')).toHaveLength(2);
    expect(await asked(order, true)).toBe('due');
    // A run of reconciliation leaves it alone from now on.
    expect((await journalOf(order)).at(-1)).toMatchObject({ detail: { was: 'withheld' } });
    await deliver();
    expect(told.filter((type) => type === 'order.paid')).toHaveLength(3);
  });

  test('is sent when the refund was never committed: a kill in between leaves both undone', async () => {
    const order = await paid();
    const { database } = shop.program;
    const killed = database.transaction(async (tx) => {
      await noteRefund(tx, order);
      const [row] = await tx.query<{ delivery: string; pid: number }>(
        'SELECT delivery, pg_backend_pid() AS pid FROM releases WHERE id = $1',
        [order.releaseId],
      );
      expect(row?.delivery).toBe('withheld');
      await database.query('SELECT pg_terminate_backend($1)', [row?.pid]);
      await tx.query('SELECT 1');
    });
    await expect(killed).rejects.toThrow();
    expect(await deliveryOf(order)).toBe('waiting');
    await deliver();
    expect(told).toEqual(['order.paid']);
  });
});

const noteRefund = (db: Queryable, { orderId }: Paid) =>
  db.query(
    `INSERT INTO refunds (id, order_id, mode, amount, currency, reason, refunded_by)
     VALUES ('re_' || $1, $1, 'test', 850000, 'NGN', 'sold out', 'Ngozi')`,
    [orderId],
  );

describe('a refund and a delivery at the same moment', () => {
  test('the delivery had begun, and is taken: it stays sent, and the refund is told after it', async () => {
    const order = await paid();
    const gate = createGate();
    take = () => gate.opened;
    const passing = shop.program.dueReleases.runOnce();
    await eventually(() => Promise.resolve(told.length === 1));
    await refund(order);
    expect(await deliveryOf(order)).toBe('withheld');
    await shop.program.dueEvents.runOnce();
    expect(told).toEqual(['order.paid']);
    gate.open();
    await passing;
    expect(await deliveryOf(order)).toBe('delivered');
    await deliver();
    expect(told).toEqual(['order.paid', 'order.refunded']);
    expect(await contradictions(order)).toEqual([]);
  });

  test.each(['fails', 'dies with its worker'])(
    'the delivery had begun, and %s: no other follows',
    async (how) => {
      const order = await paid();
      const gate = createGate();
      take = async () => {
        await gate.opened;
        throw new Error('no answer');
      };
      const passing = shop.program.dueReleases.runOnce();
      await eventually(() => Promise.resolve(told.length === 1));
      await refund(order);
      // Of a worker that died only the lease is left, which ends.
      if (how !== 'fails') await sql('UPDATE releases SET leased_until = now(), attempts = 7');
      gate.open();
      await passing;
      expect(await deliveryOf(order)).toBe('withheld');
      await due();
      await deliver();
      expect(told).toEqual(['order.paid', 'order.refunded']);
      expect(await contradictions(order)).toEqual([]);
    },
  );

  test('the refund holds the release first: the worker does not wait, and sends nothing', async () => {
    const order = await paid();
    await shop.program.database.transaction(async (tx) => {
      await noteRefund(tx, order);
      expect(await shop.program.dueReleases.runOnce()).toBe(0);
    });
    await deliver();
    expect(told).toEqual(['order.refunded']);
  });

  test.each(['refund', 'delivery'])(
    'the %s is noted first: neither locks what the other waits for',
    async (first) => {
      const order = await paid();
      const { database } = shop.program;
      await sql(
        "UPDATE releases SET attempts = 1, leased_until = now() + interval '30 s' WHERE id = $1",
        order.releaseId,
      );
      const deeds = [() => refund(order), () => markDelivered(database, RELEASES, order.releaseId)];
      if (first === 'delivery') deeds.reverse();
      const done: Promise<void>[] = [];
      await database.transaction(async (tx) => {
        // Both queue before the journal of the order.
        await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [order.orderId]);
        for (const deed of deeds) {
          const before = await waiting();
          done.push(deed());
          await eventually(async () => (await waiting()) > before);
        }
      });
      await Promise.all(done);
      expect(await deliveryOf(order)).toBe('delivered');
      expect(await contradictions(order)).toEqual([]);
    },
  );
});

describe('a release whose money the service took back as a whole', () => {
  test('is withheld by the run that raises it, and one of which a part went back is not', async () => {
    const [whole, part] = [await paid(), await paid()];
    await shop.hand(`transactions/${whole.reference}/reverse`);
    await refund(part, 500_000n);
    await run();
    await deliver();
    expect([await deliveryOf(whole), await deliveryOf(part)]).toEqual(['withheld', 'delivered']);
    expect(told.sort()).toEqual(['order.paid', 'order.refunded', 'order.reversed']);
    expect(await contradictions(whole)).toEqual([]);
    expect(await journalOf(whole)).toMatchObject([{ event: 'release-withheld', cause: 'reconciliation' }]);
  });

  test('is sent when a person says so, and no later run withholds it again', async () => {
    const order = await paid();
    await shop.hand(`transactions/${order.reference}/reverse`);
    await run();
    expect(await asked(order, true)).toBe('due');
    await run();
    await deliver();
    expect(told).toEqual(['order.paid', 'order.reversed']);
    expect(await contradictions(order)).toEqual([]);
  });
});

describe('a release of which verify shows the money as gone', () => {
  /** As one line: the page is wrapped. */
  const standing = async ({ orderId }: Paid) =>
    ((await explain(shop.program.database, orderId))?.text ?? '').replace(/\s+/g, ' ');

  test('by a webhook is not sent before a run withholds it, but by a person who means it', async () => {
    const order = await paid();
    await shop.hand(`transactions/${order.reference}/reverse`);
    await eventually(async () => {
      await shop.program.duePayments.runOnce();
      const found = await sql(
        `SELECT FROM verifications WHERE reference = $1 AND outcome = 'reversed'`,
        order.reference,
      );
      return found.length === 1;
    });
    await deliver();
    expect(await asked(order)).toBe('withheld');
    expect([told, await deliveryOf(order)]).toEqual([[], 'waiting']);
    await run();
    expect(await deliveryOf(order)).toBe('withheld');
    expect(await asked(order, true)).toBe('due');
    await deliver();
    expect(told).toContain('order.paid');
  });

  test.each(['reversed', 'failed', 'expired'])(
    'as %s waits, also where it had no receiver, and is sent once verify shows it again',
    async (outcome) => {
      const [order, unsent] = [await paid(), await paid()];
      await become(unsent, 'unneeded');
      for (const each of [order, unsent]) await answered(each, outcome);
      await shop.program.sendUnsent({ by: 'Ngozi', note: null });
      await deliver();
      await answered(order, 'pending');
      await deliver();
      expect(told).toEqual([]);
      expect(await standing(order)).toContain(
        'The delivery waits: the service shows its money as gone. Next: Ask the service about this payment.',
      );
      for (const each of [order, unsent]) await answered(each, 'paid');
      await shop.program.sendUnsent({ by: 'Ngozi', note: null });
      await deliver();
      expect(told).toEqual(['order.paid', 'order.paid']);
    },
  );

  test('as failed is sent when a person asks for it', async () => {
    const order = await paid();
    await answered(order, 'failed');
    await deliver();
    expect(told).toEqual([]);
    expect(await asked(order)).toBe('due');
    expect(await standing(order)).not.toContain('shows its money as gone');
    await deliver();
    expect(told).toEqual(['order.paid']);
  });
});

describe('a release that was delivered before the service took its money back', () => {
  test('is sent again only by a person who means it, also after the finding was closed by hand', async () => {
    const order = await paid();
    await deliver();
    await shop.hand(`transactions/${order.reference}/reverse`);
    await run();
    expect(await asked(order)).toBe('withheld');
    const { database } = shop.program;
    const findings = await listFindings(database, 'test');
    const id = findings.find(({ orderId }) => orderId === order.orderId)?.id ?? 0n;
    expect(await resolveFinding(database, 'test', id, 'Ngozi', 'a chargeback, lost')).toBe(true);
    await run();
    expect(await asked(order)).toBe('withheld');
    // What the run has seen in the list counts by itself, too.
    await answered(order, 'paid');
    expect(await asked(order)).toBe('withheld');
    await deliver();
    expect(told).toEqual(['order.paid', 'order.reversed']);
    expect(await asked(order, true)).toBe('due');
  });
});

describe('a person', () => {
  test('sees on the pages what is withheld, and sends it with the button that says so', async () => {
    const order = await paid();
    const person = await logIn(shop);
    await refund(order);
    const words = 'It was not sent, and will not be sent by itself.';
    expect(await person.text(`/admin/orders/${order.orderId}`)).toContain(words);
    expect((await explain(shop.program.database, order.orderId))?.text).toContain(words);
    const page = await person.text('/admin/releases');
    expect(page).toContain('<span class="status withheld">withheld</span>');
    const fields: [string, string][] = [
      ['id', order.releaseId],
      ['by', 'Ngozi'],
      ['note', 'goodwill'],
    ];
    expect(await person.sendAndRead('/admin/releases', fields)).toContain(
      '1 was not sent: the money went back.',
    );
    await deliver();
    expect(told).toEqual(['order.refunded']);
    await person.sendAndRead('/admin/releases', [...fields, ['operation', 'withheld']]);
    await deliver();
    expect(told).toEqual(['order.refunded', 'order.paid']);
    expect(
      await (await fetch(`${shop.origin}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })).text(),
    ).toContain('integrator_undelivered_releases{delivery="withheld"} 0');
  });

  test('sends it by a command that needs a reason; the usual one says how', async () => {
    const order = await paid();
    await refund(order);
    const request = { id: order.orderId, by: 'Ngozi' };
    const { redeliver, 'send-withheld': sendWithheld } = LISTS.releases.subcommands;
    expect(sendWithheld?.needs).toEqual(['note']);
    expect(await redeliver?.perform(shop.program, request)).toMatchObject({
      isDone: false,
      told: expect.stringContaining('npm run releases -- send-withheld'),
    });
    expect(await sendWithheld?.perform(shop.program, { ...request, note: 'goodwill' })).toEqual({
      ...{ isDone: true, told: 'Due now.' },
    });
    await deliver();
    expect(told).toEqual(['order.paid', 'order.refunded']);
  });
});
