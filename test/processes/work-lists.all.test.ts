import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/program.ts';
import { startReleaseReceiver, type ReleaseReceiver } from '../support/release-receiver.ts';
import { cleanUp, runProcess, type Outcome } from '../support/process.ts';
import { startShop, type ShopProcess } from '../support/shop-process.ts';

let receiver: ReleaseReceiver;
let shop: ShopProcess;
beforeAll(async () => {
  receiver = await startReleaseReceiver();
  shop = await startShop({ env: receiver.env });
});
afterAll(async () => {
  await cleanUp();
  await receiver.close();
});

function run(...args: string[]): Promise<Outcome> {
  return runProcess('local/start.ts', {
    cwd: shop.folder,
    env: { PORT: String(shop.port), ...receiver.env },
    args,
  });
}

const only = ({ stdout }: Outcome): Record<string, unknown> => {
  const items = JSON.parse(stdout) as Record<string, unknown>[];
  expect(items).toHaveLength(1);
  return items[0] ?? {};
};

test('money in suspense is listed, given to somebody, and ended with a decision', async () => {
  const order = await shop.checkout({ email: 'dalia@example.com', items: [{ sku: 'dallah', quantity: 1 }] });
  await shop.hand(`transactions/${order.reference}/pay`, { amount: '10.000' });
  await shop.becomes(order.orderId, 'review');
  const { orderId, reference } = order;
  const item = only(await run('suspense', 'list', '--json'));
  expect(item).toMatchObject({
    class: 'underpaid',
    amount: '10.000',
    currency: 'KWD',
    orderId,
    reference,
    ageDays: 0,
    owner: null,
  });
  const id = String(item.id);
  const usage: unknown = expect.stringContaining('assign <id> --owner');
  const wrong: [told: unknown, ...args: string[]][] = [
    [usage, 'assign', id, '--by', 'Ngozi'],
    [usage, 'assign', id, '--owner', 'Tunde'],
    [
      '"confirmation" is not a person: give your name with --by',
      'resolve',
      id,
      '--by',
      'confirmation',
      '--note',
      'x',
    ],
    ['--decision must be one of', 'resolve', id, '--by', 'Ngozi', '--note', 'x', '--decision', 'earned'],
    [
      '--refund belongs to --decision refund',
      'resolve',
      id,
      '--by',
      'Ngozi',
      '--note',
      'x',
      '--decision',
      'keep',
      '--refund',
      'RF-1',
    ],
    [usage, 'forget', id, '--by', 'Ngozi'],
  ];
  await Promise.all(
    wrong.map(async ([told, ...args]) => {
      const { code, stdout, stderr } = await run('suspense', ...args);
      expect([code, stdout, stderr.split('\n')[0]]).toEqual([64, '', told]);
    }),
  );
  expect(await run('suspense', 'assign', id, '--owner', 'Tunde', '--by', 'Ngozi')).toMatchObject({
    code: 0,
    stdout: 'Assigned.\n',
  });
  const [payment, shortOrder] = [reference.slice(0, 8), orderId.slice(0, 8)];
  const { stdout: list } = await run('suspense');
  expect(list).toMatch(/^id +what is wrong +money +age +payment +order\n/);
  expect(list).toMatch(
    new RegExp(`^${id} +Paid too little +KWD 10.000 +0 d +${payment} +${shortOrder}$`, 'm'),
  );
  expect(list).toContain('Paid KWD 10.000 of KWD 18.500: KWD 8.500 is missing.');
  expect(list).toMatch(/^ +d•••@example.com, assigned to Tunde\n +Next: \S/m);
  for (const line of list.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  expect(await run('suspense', 'note', 'abcdefgh', '--by', 'Tunde', '--note', 'x')).toMatchObject({
    code: 64,
  });
  // What the list shows of an order or a payment names it.
  const resolve = [
    'suspense',
    'resolve',
    shortOrder,
    '--by',
    'Tunde',
    '--note',
    'sent back',
    '--refund',
    'RF-1',
  ];
  expect(await run(...resolve)).toMatchObject({ code: 0, stdout: 'Resolved.\n' });
  const story = JSON.parse((await run('explain', orderId, '--json')).stdout) as { story: { what: string }[] };
  expect(story.story.map(({ what }) => what)).toEqual(
    expect.arrayContaining(['suspense-assigned', 'suspense-resolved', 'refund']),
  );
});

test('a release that its receiver lost is delivered again, by its order or its own id', async () => {
  const { orderId, reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`);
  await shop.becomes(orderId, 'paid');
  const came = (times: number) => eventually(() => Promise.resolve(receiver.deliveries.length >= times));
  await came(1);
  expect(await run('releases', 'redeliver', orderId)).toMatchObject({ code: 64, stdout: '' });
  expect(await run('releases', 'redeliver', orderId, '--by', 'Ngozi')).toMatchObject({
    code: 0,
    stdout: 'Due now.\n',
  });
  await came(2);
  expect(new Set(receiver.deliveries.map(({ releaseId }) => releaseId)).size).toBe(1);
  expect(await run('releases', 'redeliver', 'x'.repeat(24), '--by', 'Ngozi')).toMatchObject({
    code: 1,
    stdout: 'There is no such release or event.\n',
  });
});
