import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { createDueReleases } from '../../src/fulfilment/due-deliveries.ts';
import { undeliveredReleases } from '../../src/fulfilment/releases.sql.ts';
import { createRedeliver } from '../../src/fulfilment/redeliver.sql.ts';
import { newId } from '../../src/platform/ids.ts';
import { createGate } from '../support/gate.ts';
import { eventually, startProgram, type TestProgram } from '../support/program.ts';
import { startReleaseReceiver, type ReleaseReceiver } from '../support/release-receiver.ts';

let receiver: ReleaseReceiver;
let shop: TestProgram;
beforeAll(async () => {
  receiver = await startReleaseReceiver();
  shop = await startProgram({ env: receiver.env });
});
afterAll(async () => {
  await shop.close();
  await receiver.close();
});
afterEach(async () => {
  await sql(`UPDATE releases SET delivery = 'delivered', next_check_at = NULL`);
  receiver.deliveries.length = 0;
});

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);
const pass = () => shop.program.dueReleases.runOnce();
const undelivered = () => undeliveredReleases(shop.program.database, 'test');

/** A paid order. @returns its id and its release's */
async function released(): Promise<{ orderId: string; id: string }> {
  const { orderId, reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
  const [row] = await sql<{ id: string }>('SELECT id FROM releases WHERE order_id = $1', orderId);
  return { orderId, id: row?.id ?? '' };
}

const become = (id: string, delivery: string) =>
  sql(
    `UPDATE releases SET delivery = $2, attempts = 17, next_check_at = NULL, last_error = 'HTTP 500' WHERE id = $1`,
    id,
    delivery,
  );

describe('a release is delivered again by hand', () => {
  test.each(['dead', 'waiting', 'delivered', 'unneeded'])(
    'one that is %s, under the id it has had from the start',
    async (delivery) => {
      const { orderId, id } = await released();
      await become(id, delivery);
      const asked = { idOrOrderId: id, by: 'Ngozi', note: 'they lost it' };
      expect(await shop.program.redeliver(asked)).toBe('due');
      await pass();
      expect(receiver.deliveries).toEqual([{ orderId, releaseId: id }]);
      expect(await sql('SELECT delivery FROM releases WHERE id = $1', id)).toEqual([
        { delivery: 'delivered' },
      ]);
      const entries = await sql(
        `SELECT event, cause, detail FROM journal WHERE order_id = $1 AND event LIKE 'release-%' ORDER BY seq`,
        orderId,
      );
      expect(entries).toEqual([
        {
          event: 'release-redelivery',
          cause: 'operator:Ngozi',
          detail: { release: id, was: delivery, attempts: 17, note: 'they lost it' },
        },
        { event: 'release-delivered', cause: 'schedule', detail: { release: id, attempts: 1 } },
      ]);
    },
  );

  test("by its order's id as well", async () => {
    const { orderId, id } = await released();
    await pass();
    expect(await shop.program.redeliver({ idOrOrderId: orderId, by: 'Ngozi', note: null })).toBe('due');
    await pass();
    expect(receiver.deliveries).toEqual([
      { orderId, releaseId: id },
      { orderId, releaseId: id },
    ]);
  });

  test('with three days of its own, though its first three are long over', async () => {
    const { id } = await released();
    await sql('ALTER TABLE releases DISABLE TRIGGER releases_are_frozen');
    await sql(`UPDATE releases SET released_at = now() - interval '9 days' WHERE id = $1`, id);
    await sql('ALTER TABLE releases ENABLE TRIGGER releases_are_frozen');
    await become(id, 'dead');
    await shop.program.redeliver({ idOrOrderId: id, by: 'Ngozi', note: null });
    // The receiver takes every seventh delivery and says that it did not.
    receiver.deliveries.length = 6;
    await pass();
    expect(await undelivered()).toMatchObject([{ id, delivery: 'waiting', attempts: 1 }]);
  });

  test('what does not exist, and what is of the other mode, is unknown', async () => {
    const { id } = await released();
    expect(await shop.program.redeliver({ idOrOrderId: 'rel_x', by: 'Ngozi', note: null })).toBe('unknown');
    const parts = {
      database: shop.program.database,
      receiver: () => Promise.resolve(),
      onDue: () => undefined,
    };
    const live = createRedeliver({ ...parts, mode: 'live' });
    expect(await live({ idOrOrderId: id, by: 'Ngozi', note: null })).toBe('unknown');
  });

  test('without a receiver nothing is changed', async () => {
    const { id } = await released();
    await become(id, 'unneeded');
    const { database } = shop.program;
    const redeliver = createRedeliver({ database, mode: 'test', receiver: null, onDue: () => undefined });
    expect(await redeliver({ idOrOrderId: id, by: 'Ngozi', note: null })).toBe('no-receiver');
    expect(await sql('SELECT delivery FROM releases WHERE id = $1', id)).toEqual([{ delivery: 'unneeded' }]);
  });

  test('a delivery in hand that fails does not undo what a person asked for meanwhile', async () => {
    const { id } = await released();
    await become(id, 'waiting');
    const answered = createGate();
    const { database, alarm, logger } = shop.program;
    const loop = createDueReleases({
      database,
      alarm,
      mode: 'test',
      logger,
      receiver: async () => {
        await answered.opened;
        throw new Error('too late');
      },
    });
    await sql('UPDATE releases SET next_check_at = now() WHERE id = $1', id);
    const passing = loop.runOnce();
    await eventually(async () => (await sql('SELECT FROM releases WHERE leased_until > now()')).length === 1);
    await shop.program.redeliver({ idOrOrderId: id, by: 'Ngozi', note: null });
    answered.open();
    await passing;
    expect(
      await sql('SELECT delivery, attempts, next_check_at <= now() AS due FROM releases WHERE id = $1', id),
    ).toEqual([{ delivery: 'waiting', attempts: 0, due: true }]);
  });
});

test('the list holds what waits and what is dead, oldest first, with the last error', async () => {
  const [first, second, third] = [await released(), await released(), await released()];
  await become(first.id, 'dead');
  await become(second.id, 'delivered');
  expect(await undelivered()).toMatchObject([
    { id: first.id, orderId: first.orderId, delivery: 'dead', attempts: 17, lastError: 'HTTP 500' },
    { id: third.id, delivery: 'waiting', attempts: 0, lastError: null },
  ]);
});

test('metrics count the dead ones, and say zero when there are none', async () => {
  const metrics = async () => (await request(shop.origin).get('/metrics')).text;
  expect(await metrics()).toMatch(/^integrator_dead_releases 0$/m);
  const { id } = await released();
  await become(id, 'dead');
  expect(await metrics()).toMatch(/^integrator_dead_releases 1$/m);
});

test('a request waits for a refund that is being written down, and then leaves the release alone', async () => {
  const { orderId, id } = await released();
  await pass();
  let asked: Promise<string> | undefined;
  await shop.program.database.transaction(async (tx) => {
    await tx.query(
      `INSERT INTO refunds (id, order_id, mode, amount, currency, reason, refunded_by)
       SELECT $2, id, mode, amount, currency, 'x', 'shop' FROM orders WHERE id = $1`,
      [orderId, `re_${newId()}`],
    );
    asked = shop.program.redeliver({ idOrOrderId: id, by: 'Ngozi', note: null });
    await eventually(async () => {
      const waiting = await sql(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return waiting.length > 0;
    });
  });
  expect(await asked).toBe('withheld');
  expect(await sql('SELECT delivery FROM releases WHERE id = $1', id)).toEqual([{ delivery: 'delivered' }]);
});
