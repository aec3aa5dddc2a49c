import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { REFUNDS } from '../../src/commands/refunds.ts';
import { WorkListError, type Request } from '../../src/commands/work-list.ts';
import { startProgram, type TestProgram } from '../support/program.ts';

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram();
});
afterAll(() => shop.close());

const add = (request: Partial<Request>): Promise<{ isDone: boolean; told: string }> => {
  const { add: command } = REFUNDS.subcommands;
  if (command === undefined) throw new Error('there is no such subcommand');
  const given = { id: '', by: 'Ngozi', amount: '5.00', refund: 'N-1', note: 'scratched' };
  return command.perform(shop.program, { ...given, ...request });
};

test('npm run refunds writes down by order id or reference, tells what is refused, and lists', async () => {
  expect(await REFUNDS.list(shop.program, {})).toEqual([]);
  const { orderId, reference } = await shop.checkout();
  expect(await add({ id: orderId })).toMatchObject({ isDone: false });
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
  expect(await add({ id: reference })).toMatchObject({ isDone: true });
  expect((await add({ id: orderId })).told).toContain('It was written down before');
  expect((await add({ id: orderId, amount: '6.00' })).told).toContain('another refund');
  expect((await add({ id: orderId, amount: '8500.00', refund: 'N-2' })).told).toBe(
    'Only NGN 8,495.00 of what was paid is left.',
  );
  expect((await add({ id: 'nobody' })).told).toBe('There is no such order.');
  await expect(add({ id: orderId, amount: '0' })).rejects.toThrow(WorkListError);
  const [entry] = await REFUNDS.list(shop.program, {});
  expect(entry?.cells).toEqual([expect.anything(), 'NGN 5.00', orderId, 'N-1']);
  expect(entry?.below).toEqual(['by Ngozi: scratched']);
  expect(entry?.json).toMatchObject({ orderId, amount: '5.00', currency: 'NGN', externalId: 'N-1' });
});
