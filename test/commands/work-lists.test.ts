import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { REFUNDS } from '../../src/commands/orders.ts';
import { workList, WorkListError, type Request } from '../../src/commands/work-list.ts';
import { LISTS } from '../../src/commands/work-lists.ts';
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

test('an underpayment is a finding and held money, which nothing but a decision by name ends', async () => {
  const { reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`, { notify: false, amount: '3' });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
  await shop.program.reconcile({ dryRun: false });
  const ids: Record<'findings' | 'suspense', string> = { findings: '', suspense: '' };
  for (const name of ['findings', 'suspense'] as const) {
    const [entry] = await LISTS[name].list(shop.program, {});
    const id = (ids[name] = entry?.names?.[0] ?? '');
    for (const [typed, by, note] of [
      [id, 'Ngozi', '  '],
      [id, 'reconciliation', 'paid back'],
      [undefined, 'Ngozi', 'paid back'],
    ]) {
      const { code, stdout, stderr } = await typedOn(name, ['resolve', typed], { by, note });
      expect([code, stdout, stderr]).toEqual([64, '', expect.stringMatching(/--by/)]);
    }
  }
  const why = { by: 'Ngozi', note: 'paid back' };
  const first = await typedOn('findings', ['resolve', ids.findings], why);
  expect(first.stderr).toContain('npm run suspense -- resolve');
  const decided = { ...why, decision: 'refund', refund: 'RF-1' };
  expect(await typedOn('suspense', ['resolve', ids.suspense], decided)).toMatchObject({
    ...{ code: 0, stdout: 'Resolved.\n' },
  });
  expect(await typedOn('suspense', ['resolve', ids.suspense], why)).toMatchObject({
    ...{ code: 1, stdout: expect.stringContaining('There is no such open item, or its surplus was') },
  });
  expect((await typedOn('findings', [])).stdout).toBe('No open findings.\n');
  expect((await typedOn('suspense', [])).stdout).toBe('No money is held.\n');
});

/** What somebody types behind `npm run <list> --`, and sees. */
async function typedOn(list: 'findings' | 'suspense', words: (string | undefined)[], values: object = {}) {
  const seen = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    jest.spyOn(process[name], 'write').mockImplementation((text) => {
      seen[name] += String(text);
      return true;
    }),
  );
  const positionals = words.filter((word) => word !== undefined);
  const code = await workList(shop.program, LISTS[list], { positionals, values: { json: false, ...values } });
  for (const spy of spies) spy.mockRestore();
  return { code, ...seen };
}
