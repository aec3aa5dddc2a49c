import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fileOf } from '../../tools/smaller/blocks.ts';
import { DEFAULTS } from '../../src/extensions.ts';
import { priceFrom, type Catalogue } from '../../src/orders/catalogue.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { newId } from '../../src/platform/ids.ts';
import { cleanUp } from '../support/process.ts';
import { post, startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';
import { copyCheckout } from './checkout.ts';
import { readPages } from './markdown.ts';

// The voucher of the guide, as the page shows it: it lowers one order that is paid, whatever became of another.

const SHOWN = [
  'src/custom/migrations/1_stock/migration.sql',
  'src/custom/migrations/2_vouchers/migration.sql',
  'src/custom/vouchers.sql.ts',
];
const TOKEN = 'shop-token-for-tests';

const lamp = { sku: 'brass-lamp', name: 'Brass lamp', price: { amount: 125_000n, currency: 'NGN' } };
const lamps: Catalogue = {
  products: () => Promise.resolve([]),
  price: (items) => Promise.resolve(priceFrom([lamp], items)),
};

let shop: TestProgram;
beforeAll(async () => {
  const { folder, write } = await copyCheckout();
  const blocks = readPages().flatMap((page) => page.blocks);
  for (const file of SHOWN) {
    const shown = blocks.find((block) => fileOf(block) === file);
    if (shown === undefined) throw new Error(`no page shows ${file}`);
    write(shown);
  }
  const here = (path: string): URL => pathToFileURL(join(folder, 'src/custom', path));
  const { withVouchers } = (await import(here('vouchers.sql.ts').href)) as {
    withVouchers(database: Database, catalogue: Catalogue): Catalogue;
  };
  shop = await startProgram({
    env: { SHOP_API_TOKEN: TOKEN },
    extensions: {
      ...DEFAULTS,
      catalogue: (database) => withVouchers(database, lamps),
      migrations: here('migrations/'),
    },
  });
});
afterAll(async () => {
  await shop.close();
  await cleanUp();
});

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);

/** One that no order has. */
async function newVoucher(): Promise<string> {
  const code = `VOUCHER-${newId()}`;
  await sql('INSERT INTO shop.vouchers (code, worth) VALUES ($1, 50000)', code);
  return code;
}

const buyWith = (voucher: string): Promise<Response> =>
  post(`${shop.origin}/checkout`, {
    email: 'ada@example.com',
    items: [
      { sku: 'brass-lamp', quantity: 1 },
      { sku: voucher, quantity: 1 },
    ],
  });

const comeBack = (reference: string): Promise<Response> =>
  fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });

/** The shopper pays on every page that was opened for the order, also on one whose card was declined. */
async function payAll(orderId: string): Promise<void> {
  await post(`${shop.origin}/checkout`, { orderId });
  for (const { reference } of await sql<{ reference: string }>(
    'SELECT reference FROM payments WHERE order_id = $1 ORDER BY created_at',
    orderId,
  )) {
    await shop.hand(`transactions/${reference}/pay`, { notify: false });
    await comeBack(reference);
  }
}

const DEEDS = {
  decline: async ({ reference }: CheckoutAnswer) => {
    await shop.hand(`transactions/${reference}/fail`, { notify: false });
    await comeBack(reference);
  },
  /** As if the order had been placed two hours ago. */
  pass: async ({ orderId }: CheckoutAnswer) => {
    for (const table of ['orders', 'payments'])
      await sql(
        `UPDATE ${table} SET created_at = created_at - interval '2 hours'
         ${table === 'orders' ? `, pay_by = pay_by - interval '2 hours', deadline_check_at = now()` : ''}
         WHERE ${table === 'orders' ? 'id' : 'order_id'} = $1`,
        orderId,
      );
  },
  work: async () => {
    await shop.program.duePayments.runOnce();
  },
  cancel: async ({ orderId }: CheckoutAnswer) => {
    const authorization = `Bearer ${TOKEN}`;
    const answer = await post(`${shop.origin}/orders/${orderId}/cancel`, { reason: 'x' }, { authorization });
    expect(answer.status).toBe(200);
  },
};

test.each<[first: string, (keyof typeof DEEDS)[], second: 201 | 409, paid: number]>([
  ['is open', [], 409, 1],
  ['was declined', ['decline'], 409, 1],
  ['was declined, and its deadline has passed', ['decline', 'pass'], 409, 1],
  ['has expired for good', ['pass', 'work'], 201, 1],
  ['was declined and has expired for good', ['decline', 'pass', 'work'], 201, 1],
  ['was cancelled', ['cancel'], 409, 0],
  ['was declined and cancelled', ['decline', 'cancel'], 409, 0],
  ['was cancelled, and its deadline has passed', ['cancel', 'pass'], 201, 1],
])('lowers no second paid order, though the first that took it %s', async (_what, deeds, second, paid) => {
  const voucher = await newVoucher();
  const first = (await (await buyWith(voucher)).json()) as CheckoutAnswer;
  expect(first.amount).toBe('750.00');
  for (const deed of deeds) await DEEDS[deed](first);
  const answer = await buyWith(voucher);
  await payAll(first.orderId);
  if (answer.ok) await payAll(((await answer.json()) as CheckoutAnswer).orderId);
  await shop.program.duePayments.runOnce();
  const lowered = await sql(
    `SELECT FROM orders o JOIN order_lines l ON l.order_id = o.id
     WHERE o.status = 'paid' AND l.description = 'Voucher ' || $1`,
    voucher,
  );
  expect({ second: answer.status, paid: lowered.length }).toEqual({ second, paid });
});

test('is taken by one of the baskets that come together', async () => {
  const voucher = await newVoucher();
  const answers = await Promise.all(Array.from({ length: 4 }, () => buyWith(voucher)));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
});
