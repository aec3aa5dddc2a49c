import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { actionsOf, mayDo } from '../../src/admin/login/require-form.ts';
import { openSuspense } from '../../src/cases/suspense.sql.ts';
import { plant } from '../reconciliation/books.ts';
import { startProgram, type TestProgram } from '../support/program.ts';
import { logIn, signed, TOKEN, type Visitor } from './visitor.ts';

const [ADA, ZAINAB, EVE] = ['a-long-token-of-ada', 'a-long-token-of-zainab', 'a-long-token-of-eve'];
let shop: TestProgram;
let item: string;
beforeAll(async () => {
  const OPERATORS = `Ada:operator:${ADA},Zainab:clerk:${ZAINAB},Eve:viewer:${EVE}`;
  shop = await startProgram({ env: { ADMIN_TOKEN: TOKEN, OPERATORS } });
  const { reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`, { notify: false, amount: '3' });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
  await shop.program.reconcile({ dryRun: false });
  item = String((await openSuspense(shop.program.database, 'test'))[0]?.id);
});
afterAll(() => shop.close());

const ends = (decision: string): [string, string][] => [
  ['id', `money-${item}`],
  ['operation', 'resolve'],
  ['decision', decision],
  ['sure', 'yes'],
  ...signed(),
];
const isOpen = async (): Promise<boolean> =>
  (await openSuspense(shop.program.database, 'test')).some(({ id }) => String(id) === item);

describe('a clerk acts, and gives no money up', () => {
  test('asks the service, assigns and notes', async () => {
    const zainab = await logIn(shop, ZAINAB);
    const { reference } = await plant(shop.program.database);
    const asked = await zainab.send('/admin/checks', [['id', reference], ...signed()]);
    const assign: [string, string][] = [
      ['id', `money-${item}`],
      ['operation', 'assign'],
      ['owner', 'Zainab'],
    ];
    const assigned = await zainab.send('/admin/cases', [...assign, ...signed()]);
    const noted = await zainab.send('/admin/cases', [
      ['id', `money-${item}`],
      ['operation', 'note'],
      ...signed(),
    ]);
    expect([asked.status, assigned.status, noted.status]).toEqual([303, 303, 303]);
  });

  test.each(['keep', 'write_off', 'credit', 'accept', 'other', 'a_decision_of_tomorrow'])(
    'but does not decide %s: 403 says who may, and the item stays open',
    async (decision) => {
      const answer = await (
        await logIn(shop, ZAINAB)
      ).send('/admin/cases', ends(decision), {
        accept: 'text/html',
      });
      expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining('role operator')]);
      expect(await isOpen()).toBe(true);
    },
  );

  test('nor close a case without money', async () => {
    const fields: [string, string][] = [['id', 'finding-1'], ['operation', 'close'], ...signed()];
    expect((await (await logIn(shop, ZAINAB)).send('/admin/cases', fields)).status).toBe(403);
  });

  test.each(['/admin/checkouts', '/admin/a-form-of-tomorrow'])(
    'a button of another form does not open %s',
    (path) => {
      const actions = actionsOf(path, new URLSearchParams({ operation: 'note', decision: 'refund' }));
      expect(actions.every((action) => mayDo('clerk', action))).toBe(false);
    },
  );

  test('and writes down what goes back to the shopper', async () => {
    const zainab = await logIn(shop, ZAINAB);
    await zainab.send('/admin/cases', [...ends('refund'), ['refund', 'RF-1001']]);
    expect(await isOpen()).toBe(false);
  });
});

describe('pages hide what the role may not do', () => {
  const buttons = async (visitor: Visitor, path: string): Promise<string> =>
    (await visitor.text(path)).replace(/[^]*<main/, '');

  test('each sees the own decisions', async () => {
    const { reference, orderId } = await shop.checkout({ ...aTote, email: 'b@example.com' });
    await shop.hand(`transactions/${reference}/pay`, { notify: false, amount: '3' });
    await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
    await shop.program.reconcile({ dryRun: false });
    const [ada, zainab, eve] = [await logIn(shop, ADA), await logIn(shop, ZAINAB), await logIn(shop, EVE)];
    expect(await buttons(ada, '/admin/cases')).toContain('value="write_off"');
    const clerk = await buttons(zainab, '/admin/cases');
    expect(clerk).toContain('value="refund"');
    expect(clerk).not.toContain('write_off');
    expect(clerk).not.toContain('value="close"');
    const one = /\/admin\/cases\/money-\d+/.exec(clerk)?.[0] ?? '';
    expect(await buttons(zainab, one)).toContain('value="refund"');
    expect(await buttons(zainab, one)).not.toContain('write_off');
    expect(await buttons(ada, '/admin/books')).toContain('name="note"');
    expect(await buttons(zainab, '/admin/books')).not.toContain('name="note"');
    for (const path of ['/admin/cases', one, '/admin/books', `/admin/orders/${orderId}`])
      expect(await buttons(eve, path)).not.toContain('name="note"');
  });
});

test('a viewer sees no form on the page of a paid order, and of a cancelled one that has events', async () => {
  const eve = await logIn(shop, EVE);
  const [paid, cancelled] = [
    await shop.checkout({ ...aTote, email: 'c@example.com' }),
    await shop.checkout({ ...aTote, email: 'd@example.com' }),
  ];
  await shop.hand(`transactions/${paid.reference}/pay`, { notify: false });
  await fetch(`${shop.origin}/checkout/return/${paid.reference}`, { redirect: 'manual' });
  const zainab = await logIn(shop, ZAINAB);
  await shop.hand(`transactions/${cancelled.reference}/fail`, { notify: false });
  const fields: [string, string][] = [['id', cancelled.orderId], ['sure', 'yes'], ...signed()];
  await zainab.send('/admin/orders/cancel', fields);
  for (const [{ orderId }, action] of [
    [paid, '/admin/refunds'],
    [cancelled, '/admin/orders/reopen'],
  ] as const) {
    expect(await zainab.text(`/admin/orders/${orderId}`)).toContain(`action="${action}"`);
    expect(await eve.text(`/admin/orders/${orderId}`)).not.toMatch(/name="note"/);
  }
});

test('a clerk notes that the surplus was refunded, and takes no books with whole addresses', async () => {
  const zainab = await logIn(shop, ZAINAB);
  const surplus: [string, string][] = [
    ['id', `money-${item}`],
    ['operation', 'surplus'],
    ['refund', 'RF-7'],
    ...signed(),
  ];
  expect((await zainab.send('/admin/cases', surplus)).status).toBe(303);
  const books: [string, string][] = [['month', '2026-01'], ...signed()];
  expect((await zainab.send('/admin/books.csv', books)).status).toBe(403);
});

const aTote = { items: [{ sku: 'ankara-tote', quantity: 1 }] };
