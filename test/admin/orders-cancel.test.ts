import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ORDERS } from '../../src/commands/orders.ts';
import { workList } from '../../src/commands/work-list.ts';
import { startProgram, type TestProgram } from '../support/program.ts';
import { logIn, signed, TOKEN, type Visitor } from './visitor.ts';

let shop: TestProgram;
let person: Visitor;
beforeAll(async () => {
  shop = await startProgram({ env: { ADMIN_TOKEN: TOKEN } });
  person = await logIn(shop);
});
afterAll(() => shop.close());

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);
const endOf = (orderId: string) =>
  sql('SELECT status, cancelled_by, cancel_reason FROM orders WHERE id = $1', orderId);
const entryOf = (orderId: string) =>
  sql(`SELECT cause FROM journal WHERE order_id = $1 AND event = 'order-cancelled'`, orderId);
const OPEN = [{ status: 'pending', cancelled_by: null, cancel_reason: null }];

test('a person cancels on the order page, after reading what the shopper will read', async () => {
  const { orderId } = await shop.checkout();
  expect(await person.text(`/admin/orders/${orderId}`)).toContain('Cancel the order');
  const fields: [string, string][] = [['id', orderId], ...signed('sold out')];
  const asked = await (await person.send('/admin/orders/cancel', fields)).text();
  expect(asked).toContain('nothing will be delivered for it');
  expect(await endOf(orderId)).toEqual(OPEN);
  expect(await person.sendAndRead('/admin/orders/cancel', [...fields, ['sure', 'yes']])).toContain(
    'The order is cancelled.',
  );
  expect(await endOf(orderId)).toEqual([
    { status: 'cancelled', cancelled_by: 'Ngozi', cancel_reason: 'sold out' },
  ]);
  expect(await entryOf(orderId)).toEqual([{ cause: 'operator:Ngozi' }]);
  expect(await person.text(`/admin/orders/${orderId}`)).not.toContain('Cancel the order');
  expect(await person.text('/admin/orders?status=cancelled')).toContain(orderId);
  expect(await (await fetch(`${shop.origin}/shop/orders/${orderId}`)).text()).toContain(
    'nothing will be delivered for it',
  );
});

test('what the service says is paid is not cancelled, and an order needs a reason', async () => {
  const { orderId, reference } = await shop.checkout();
  const sure: [string, string] = ['sure', 'yes'];
  await person.send('/admin/orders/cancel', [['id', orderId], sure, ['by', 'Ngozi']]);
  expect(await endOf(orderId)).toEqual(OPEN);
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  expect(await person.sendAndRead('/admin/orders/cancel', [['id', orderId], sure, ...signed()])).toContain(
    'the service says that the order is paid',
  );
  expect(await endOf(orderId)).toMatchObject([{ status: 'paid' }]);
});

test('and on the command line, by any name of the order', async () => {
  const { orderId, reference } = await shop.checkout();
  const cancel = (values: object) =>
    workList(shop.program, ORDERS, {
      positionals: ['cancel', reference],
      values: { json: false, ...values },
    });
  expect(await cancel({ by: 'Ngozi' })).toBe(64);
  expect(await cancel({ by: 'shop', note: 'sold out' })).toBe(64);
  expect(await endOf(orderId)).toEqual(OPEN);
  expect(await cancel({ by: 'Ngozi', note: 'sold out' })).toBe(0);
  expect(await entryOf(orderId)).toEqual([{ cause: 'operator:Ngozi' }]);
  const reopen = (id: string) =>
    workList(shop.program, ORDERS, {
      positionals: ['reopen', id],
      values: { json: false, by: 'Ada', note: 'they came back' },
    });
  expect([await reopen(reference), await reopen(reference), await reopen('nobody')]).toEqual([0, 1, 1]);
  expect(await endOf(orderId)).toEqual(OPEN);
  expect(await workList(shop.program, ORDERS, { positionals: ['list'], values: { json: true } })).toBe(0);
});
