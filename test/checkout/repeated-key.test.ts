import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../src/platform/ids.ts';
import { someOf } from '../support/extent.ts';
import { aBasket, post, startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';

// A repeated Idempotency-Key is answered as its order stands at that moment. One table of states, for every
// way in which the same request can be sent: JSON, a form, and `{orderId}`.

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram();
});
afterAll(() => shop.close());

const query = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);

type Answer = { status: number; type?: string; page?: string | null };

/** Sends the request of one shopper, again and again the same. */
type Send = (key: string) => Promise<Answer>;

async function read(answer: Response): Promise<Answer> {
  const location = answer.headers.get('location');
  if (location !== null) return { status: 201, page: location };
  const body = (await answer.json()) as { type?: string; checkoutUrl?: string };
  return { status: answer.status, ...(body.type && { type: body.type }), page: body.checkoutUrl ?? null };
}

const sendJson: Send = async (key) =>
  read(await post(`${shop.origin}/checkout`, aBasket, { 'idempotency-key': key }));
const sendForm: Send = async (key) =>
  read(
    await fetch(`${shop.origin}/checkout`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'idempotency-key': key },
      body: 'email=ada%40example.com&sku=ankara-tote&quantity=1',
      redirect: 'manual',
    }),
  );

const WAYS: [string, () => Promise<Send>][] = [
  ['a JSON basket', () => Promise.resolve(sendJson)],
  ['a form', () => Promise.resolve(sendForm)],
  [
    'an {orderId}',
    async () => {
      const { orderId } = await shop.checkout();
      await query(`UPDATE payments SET status = 'failed' WHERE order_id = $1`, orderId);
      return async (key) =>
        read(await post(`${shop.origin}/checkout`, { orderId }, { 'idempotency-key': key }));
    },
  ],
  [
    'an {orderId} in a form',
    async () => {
      const { orderId } = await shop.checkout();
      await query(`UPDATE payments SET status = 'failed' WHERE order_id = $1`, orderId);
      return async (key) =>
        read(
          await fetch(`${shop.origin}/checkout`, {
            method: 'POST',
            headers: { 'content-type': 'application/x-www-form-urlencoded', 'idempotency-key': key },
            body: `orderId=${orderId}`,
            redirect: 'manual',
          }),
        );
    },
  ],
];

/** The order and the payment that a key was answered with. */
async function known(key: string): Promise<{ orderId: string; reference: string }> {
  const [row] = await query<{ orderId: string; reference: string }>(
    'SELECT order_id AS "orderId", reference FROM idempotency_keys WHERE key = $1',
    key,
  );
  if (row === undefined) throw new Error('the key is unknown');
  return row;
}

async function pay(reference: string, body: object = {}): Promise<void> {
  await shop.hand(`transactions/${reference}/pay`, { notify: false, ...body });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
}

const become = (reference: string, status: string): Promise<object[]> =>
  query('UPDATE payments SET status = $2 WHERE reference = $1', reference, status);
const orderStatus = async (orderId: string): Promise<string | undefined> =>
  (await query<{ status: string }>('SELECT status FROM orders WHERE id = $1', orderId))[0]?.status;

describe.each(someOf(WAYS, 2))('G6: %s repeated under its key', (_name, prepare) => {
  test('gets the same page while its payment is open, however old it is', async () => {
    const [send, key] = [await prepare(), newId()];
    const first = await send(key);
    expect(first).toMatchObject({ status: 201, page: expect.any(String) as unknown });
    expect(await send(key)).toEqual(first);
    const { reference } = await known(key);
    await query(`UPDATE payments SET created_at = now() - interval '5 h' WHERE reference = $1`, reference);
    expect(await send(key)).toEqual(first);
  });

  test('is told that the order is paid, and gets no page', async () => {
    const [send, key] = [await prepare(), newId()];
    await send(key);
    const { orderId, reference } = await known(key);
    await pay(reference);
    expect(await orderStatus(orderId)).toBe('paid');
    for (let times = 0; times < 2; times += 1) {
      expect(await send(key)).toEqual({ status: 409, type: '/problems/already-paid', page: null });
    }
    expect(await query('SELECT FROM payments WHERE order_id = $1 AND status = $2', orderId, 'open')).toEqual(
      [],
    );
  });

  test('is told that the order is paid by another payment than the one it was answered with', async () => {
    const [send, key] = [await prepare(), newId()];
    await send(key);
    const { orderId, reference } = await known(key);
    await become(reference, 'failed');
    const other = await shop.checkout({ orderId });
    await become(reference, 'open');
    await pay(other.reference);
    expect(await send(key)).toEqual({ status: 409, type: '/problems/already-paid', page: null });
  });

  test('is told that the order is under review, and gets no page', async () => {
    const [send, key] = [await prepare(), newId()];
    await send(key);
    const { orderId, reference } = await known(key);
    await pay(reference, { amount: '3' });
    expect(await orderStatus(orderId)).toBe('review');
    expect(await send(key)).toEqual({ status: 409, type: '/problems/under-review', page: null });
  });

  test.each(['failed', 'expired', 'refused'])(
    'gets the next payment of the same order when the first has %s, and that one from then on',
    async (status) => {
      const [send, key] = [await prepare(), newId()];
      const first = await send(key);
      const before = await known(key);
      await become(before.reference, status);
      expect(await orderStatus(before.orderId)).not.toBe('pending');
      const second = await send(key);
      expect(second.status).toBe(201);
      expect(second.page).not.toBe(first.page);
      const after = await known(key);
      expect(after.orderId).toBe(before.orderId);
      expect(after.reference).not.toBe(before.reference);
      expect(await orderStatus(after.orderId)).toBe('pending');
      expect(await send(key)).toEqual(second);
    },
  );

  test('gets the page that another request opened for the order meanwhile', async () => {
    const [send, key] = [await prepare(), newId()];
    await send(key);
    const { orderId, reference } = await known(key);
    await become(reference, 'failed');
    const other = await shop.checkout({ orderId });
    expect(await send(key)).toEqual({ status: 201, page: other.checkoutUrl });
  });

  test('many times at once after a declined card opens one payment', async () => {
    const [send, key] = [await prepare(), newId()];
    await send(key);
    const { orderId, reference } = await known(key);
    await become(reference, 'failed');
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(key)));
    const pages = new Set(answers.filter(({ status }) => status === 201).map(({ page }) => page));
    expect(pages.size).toBe(1);
    const others = answers.filter(({ status }) => status !== 201);
    expect(others.every(({ type }) => type === '/problems/request-in-flight')).toBe(true);
    expect(await query(`SELECT FROM payments WHERE order_id = $1 AND status = 'open'`, orderId)).toHaveLength(
      1,
    );
  });

  test.each(['paid', 'review', 'failed', 'pending'])(
    'with another body is refused, also when the order is %s',
    async (state) => {
      const [send, key] = [await prepare(), newId()];
      await send(key);
      const { reference } = await known(key);
      if (state === 'paid') await pay(reference);
      if (state === 'review') await pay(reference, { amount: '3' });
      if (state === 'failed') await become(reference, 'failed');
      const bodies = [{ ...aBasket, email: 'eve@example.com' }, { orderId: (await shop.checkout()).orderId }];
      for (const body of bodies) {
        const answer = await post(`${shop.origin}/checkout`, body, { 'idempotency-key': key });
        expect([answer.status, ((await answer.json()) as { type: string }).type]).toEqual([
          422,
          '/problems/idempotency-key-reused',
        ]);
      }
    },
  );

  test('while the first one is being worked on is told so', async () => {
    const [send, key] = [await prepare(), newId()];
    await send(key);
    const { reference } = await known(key);
    await query(
      `UPDATE idempotency_keys SET reference = NULL, locked_until = now() + interval '1 min' WHERE key = $1`,
      key,
    );
    await become(reference, 'sending');
    expect(await send(key)).toEqual({ status: 409, type: '/problems/request-in-flight', page: null });
  });
});

test('G6: a request that the service refuses is sent once, and its repetition once more', async () => {
  const key = newId();
  const { orderId } = (await (
    await post(`${shop.origin}/checkout`, aBasket, { 'idempotency-key': key })
  ).json()) as CheckoutAnswer;
  await query(`UPDATE payments SET status = 'refused' WHERE order_id = $1`, orderId);
  await shop.hand('outage', { status: 422 });
  const answer = await post(`${shop.origin}/checkout`, aBasket, { 'idempotency-key': key });
  await shop.hand('outage', { status: null });
  expect(answer.status).toBe(502);
  expect(await query('SELECT FROM payments WHERE order_id = $1', orderId)).toHaveLength(2);
});
