import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { explain } from '../../src/reporting/explain.ts';
import { listFindings } from '../../src/cases/findings.ts';
import { openSuspense } from '../../src/cases/suspense.sql.ts';
import { startProgram, type TestProgram } from '../support/program.ts';
import { logIn, signed, TOKEN, type Visitor } from './visitor.ts';

type Fields = [string, string][];

let shop: TestProgram;
/** Two people with the same list open. */
let ngozi: Visitor;
let tunde: Visitor;
beforeAll(async () => {
  shop = await startProgram({ env: { ADMIN_TOKEN: TOKEN } });
});
beforeEach(async () => {
  ngozi = await logIn(shop);
  tunde = await logIn(shop);
});
afterAll(async () => {
  await shop.close();
});

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);
const entries = (orderId: string) =>
  sql<{ event: string; cause: string; detail: object }>(
    // Without what a decision about money brings about besides.
    `SELECT event, cause, detail FROM journal j WHERE order_id = $1 AND cause LIKE 'operator:%'
       AND event <> 'order-cancelled' AND NOT (event = 'finding-resolved' AND EXISTS (
         SELECT FROM journal s WHERE s.order_id = j.order_id AND s.event = 'suspense-resolved')) ORDER BY seq`,
    orderId,
  );

/** Orders that were paid too little: each has a finding, and money in suspense. */
async function heldOrders(count: number): Promise<string[]> {
  const orderIds: string[] = [];
  for (let each = 0; each < count; each += 1) {
    const { orderId, reference } = await shop.checkout();
    await shop.hand(`transactions/${reference}/pay`, { notify: false, amount: '3' });
    await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
    orderIds.push(orderId);
  }
  await shop.program.reconcile({ dryRun: false });
  return orderIds;
}

/** Orders with a finding that no money in suspense belongs to. */
async function foundOrders(count: number): Promise<string[]> {
  // Not one more: it would close the findings that are not in its list.
  const [last] = await sql<{ id: string }>(
    'SELECT id FROM reconciliation_runs ORDER BY started_at DESC LIMIT 1',
  );
  const runId = last?.id ?? (await shop.program.reconcile({ dryRun: false })).runId;
  const orders = await Promise.all(Array.from({ length: count }, () => shop.checkout()));
  await sql(
    `INSERT INTO findings (mode, class, reference, order_id, currency, expected, first_run_id, last_run_id)
     SELECT mode, 'underpaid', reference, order_id, currency, amount, $2, $2 FROM payments WHERE order_id = ANY($1)`,
    orders.map(({ orderId }) => orderId),
    runId,
  );
  return orders.map(({ orderId }) => orderId);
}
const ordersOn = (list: List, count: number): Promise<string[]> =>
  list === '/admin/findings' ? foundOrders(count) : heldOrders(count);

const ROWS = {
  '/admin/findings': () => listFindings(shop.program.database, 'test'),
  '/admin/suspense': () => openSuspense(shop.program.database, 'test'),
};
type List = keyof typeof ROWS;

/** What the page of a list puts into the box of each order's row. */
async function boxes(list: List, ...orderIds: string[]): Promise<Fields> {
  const page = await ngozi.text(`${list}?class=underpaid`);
  const rows = (await ROWS[list]()).filter(({ orderId }) => orderIds.includes(orderId ?? ''));
  return rows.map(({ id }): [string, string] => {
    const [, value = ''] = new RegExp(`name="id" value="(${id}@-?\\d+)"`).exec(page) ?? [];
    return ['id', value];
  });
}

const RESOLVE: Record<List, Fields> = {
  '/admin/findings': [['operation', 'resolve']],
  '/admin/suspense': [
    ['operation', 'resolve'],
    ['decision', 'refund'],
    ['refund', 'RF-1'],
  ],
};
const assignTo = (owner: string): Fields => [
  ['operation', 'assign'],
  ['owner', owner],
];
const SURE: Fields = [['sure', 'yes']];
const by = (name: string, note = 'because'): Fields => [
  ['by', name],
  ['note', note],
];

describe.each(Object.keys(ROWS) as List[])('the work list at %s', (list) => {
  test('several are resolved with one deed, each in its own journal; one that is gone is counted as such', async () => {
    const [one = '', other = ''] = await ordersOn(list, 2);
    const ticks = await boxes(list, one, other);
    expect(ticks).toHaveLength(2);
    const page = await ngozi.sendAndRead(list, [
      ...ticks,
      ['id', '999999@0'],
      ...by('Ngozi', 'asked for the rest'),
      ...RESOLVE[list],
      ...SURE,
    ]);
    expect(page).toContain('2 are resolved. 1 was not open any more');
    for (const orderId of [one, other])
      expect(await entries(orderId)).toMatchObject([
        {
          event: list === '/admin/findings' ? 'finding-resolved' : 'suspense-resolved',
          cause: 'operator:Ngozi',
          detail: { note: 'asked for the rest' },
        },
      ]);
  });

  test('before anything is resolved, the page shows once more what that would be', async () => {
    const [orderId = ''] = await ordersOn(list, 1);
    const answer = await ngozi.send(list, [
      ...(await boxes(list, orderId)),
      ...by('Ngozi', 'his bank sent it back'),
      ...RESOLVE[list],
    ]);
    expect(answer.status).toBe(200);
    const page = await answer.text();
    for (const words of ['Resolve this one?', 'this cannot be undone', orderId, 'his bank sent it back'])
      expect(page).toContain(words);
    expect(await entries(orderId)).toEqual([]);

    // What that page sends, and nothing else, resolves it.
    const fields = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
      .map(([, name = '', value = '']): [string, string] => [name, value])
      .filter(([name]) => name !== 'form');
    expect(await ngozi.sendAndRead(list, fields)).toContain('1 is resolved.');
    expect(await entries(orderId)).toHaveLength(1);
  });

  test('they are assigned, with who and why in the row, the page and the journal', async () => {
    const [orderId = ''] = await ordersOn(list, 1);
    const ticks = await boxes(list, orderId);
    expect(await ngozi.sendAndRead(list, [...ticks, ...signed(), ...assignTo(' ')])).toContain(
      'say who is to work on it',
    );
    const page = await ngozi.sendAndRead(list, [
      ...ticks,
      ...by('Ngozi', 'he knows the bank'),
      ...assignTo('Tunde'),
    ]);
    for (const words of ['1 is assigned.', '<td>Tunde</td>', 'Ngozi: he knows the bank'])
      expect(page).toContain(words);
    expect(await entries(orderId)).toMatchObject([
      { cause: 'operator:Ngozi', detail: { owner: 'Tunde', note: 'he knows the bank' } },
    ]);
    expect((await explain(shop.program.database, orderId))?.text).toContain('he knows the bank');
  });

  test('a note is written to several at once and does nothing else', async () => {
    const orderIds = await ordersOn(list, 2);
    const page = await ngozi.sendAndRead(list, [
      ...(await boxes(list, ...orderIds)),
      ...by('Ngozi', 'wrote to <both>'),
      ['operation', 'note'],
    ]);
    expect(page).toContain('The note stands at 2 rows.');
    expect(page.split('Ngozi: wrote to &lt;both>')).toHaveLength(3);
    for (const orderId of orderIds)
      expect((await explain(shop.program.database, orderId))?.text).toContain('wrote to <both>');
  });

  test.each<[string, Fields, string]>([
    ['resolved it', [...RESOLVE[list], ...SURE], '1 was not open any more when you acted.'],
    [
      'gave it to somebody',
      assignTo('Ada'),
      '1 was left alone: another operator has changed it since you looked.',
    ],
    ['wrote something down', [['operation', 'note']], '1 was left alone: another operator has changed it'],
  ])('of two people at once, the second is told that the first %s', async (_what, first, told) => {
    const [orderId = ''] = await ordersOn(list, 1);
    const ticks = await boxes(list, orderId);
    await ngozi.sendAndRead(list, [...ticks, ...by('Ngozi'), ...first]);
    const before = await entries(orderId);
    for (const second of [assignTo('Tunde'), [...RESOLVE[list], ...SURE], RESOLVE[list]])
      expect(await tunde.sendAndRead(list, [...ticks, ...by('Tunde'), ...second])).toContain(told);
    expect(await entries(orderId)).toEqual(before);
  });

  test('two who resolve the same row in the same instant: one does, one is told', async () => {
    const [orderId = ''] = await ordersOn(list, 1);
    const fields = [...(await boxes(list, orderId)), ...RESOLVE[list], ...SURE];
    const told = await Promise.all([
      ngozi.sendAndRead(list, [...fields, ...by('Ngozi')]),
      tunde.sendAndRead(list, [...fields, ...by('Tunde')]),
    ]);
    expect(told.filter((page) => page.includes('1 is resolved.'))).toHaveLength(1);
    expect(told.filter((page) => page.includes('not open any more'))).toHaveLength(1);
    expect(await entries(orderId)).toHaveLength(1);
  });

  test('"all on this page" means the rows that the page showed, and not what came since', async () => {
    const [orderId = ''] = await ordersOn(list, 1);
    const shown = (await boxes(list, orderId)).map(([, value]): [string, string] => ['shown', value]);
    const [later = ''] = await ordersOn(list, 1);
    const page = await ngozi.sendAndRead(list, [
      ...shown,
      ['all', 'yes'],
      ...signed(),
      ...RESOLVE[list],
      ...SURE,
    ]);
    expect(page).toContain('1 is resolved.');
    expect([await entries(orderId), await entries(later)].map((all) => all.length)).toEqual([1, 0]);
  });

  test('a form without a button of ours, or from a page that is not ours, does nothing', async () => {
    const [orderId = ''] = await ordersOn(list, 1);
    const fields = [...(await boxes(list, orderId)), ...signed(), ...RESOLVE[list], ...SURE];
    const noButton = fields.filter(([name]) => name !== 'operation');
    expect(await ngozi.sendAndRead(list, noButton)).toContain('press one of the buttons');
    expect((await ngozi.send(list, fields, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect(await entries(orderId)).toEqual([]);
  });

  test('it is filtered by class and age', async () => {
    const [orderId = ''] = await ordersOn(list, 1);
    expect(await ngozi.text(`${list}?class=underpaid`)).toContain(orderId);
    expect(await ngozi.text(`${list}?class=overpaid`)).not.toContain(orderId);
    expect(await ngozi.text(`${list}?age=%3C1d`)).toContain(orderId);
    expect(await ngozi.text(`${list}?age=7-30d`)).not.toContain(orderId);
  });
});

test('money leaves suspense by a decision that somebody chose, and a refund number belongs to a refund', async () => {
  const [orderId = ''] = await heldOrders(1);
  const ticks = await boxes('/admin/suspense', orderId);
  const choices: Fields[] = [
    [],
    [['decision', 'earned']],
    [
      ['decision', 'keep'],
      ['refund', 'RF-1'],
    ],
  ];
  for (const choice of choices)
    expect(
      await ngozi.sendAndRead('/admin/suspense', [
        ...ticks,
        ...signed(),
        ['operation', 'resolve'],
        ...choice,
        ...SURE,
      ]),
    ).toContain('choose a decision');
  await ngozi.sendAndRead('/admin/suspense', [...ticks, ...signed(), ...RESOLVE['/admin/suspense'], ...SURE]);
  expect(await entries(orderId)).toMatchObject([{ detail: { decision: 'refund', refund: 'RF-1' } }]);
});

test('a finding whose money waits in suspense stays open, and the decision about the money closes both', async () => {
  const [orderId = ''] = await heldOrders(1);
  const finding = await boxes('/admin/findings', orderId);
  expect(finding).toHaveLength(1);
  const page = await ngozi.sendAndRead('/admin/findings', [
    ...finding,
    ...signed(),
    ...RESOLVE['/admin/findings'],
    ...SURE,
  ]);
  expect(page).toContain('1 stays open: money of it waits in suspense');
  const ticks = await boxes('/admin/suspense', orderId);
  await ngozi.sendAndRead('/admin/suspense', [
    ...ticks,
    ...by('Ngozi', 'sent back'),
    ...RESOLVE['/admin/suspense'],
    ...SURE,
  ]);
  expect(await boxes('/admin/findings', orderId)).toEqual([]);
  expect(await sql(`SELECT status, cancelled_by AS by FROM orders WHERE id = $1`, orderId)).toEqual([
    { status: 'cancelled', by: 'Ngozi' },
  ]);
  expect((await shop.program.reconcile({ dryRun: false })).items.map((item) => item.orderId)).not.toContain(
    orderId,
  );
});

test('an item that a person accepts pays its order', async () => {
  const [orderId = ''] = await heldOrders(1);
  const fields: Fields = [
    ...(await boxes('/admin/suspense', orderId)),
    ...signed(),
    ['operation', 'resolve'],
    ['decision', 'accept'],
  ];
  expect(await ngozi.sendAndRead('/admin/suspense', [...fields, ...SURE])).toContain(
    '1 is accepted: the order is paid.',
  );
  expect(await sql('SELECT status FROM orders WHERE id = $1', orderId)).toEqual([{ status: 'paid' }]);
  expect(await tunde.sendAndRead('/admin/suspense', [...fields, ...SURE])).toContain('not open any more');
});

test('an item whose money has changed since the page was shown is not resolved', async () => {
  const [orderId = ''] = await heldOrders(1);
  const ticks = await boxes('/admin/suspense', orderId);
  await sql('UPDATE suspense_items SET amount = amount + 1 WHERE order_id = $1', orderId);
  const fields = [...ticks, ...signed(), ...RESOLVE['/admin/suspense'], ...SURE];
  expect(await ngozi.sendAndRead('/admin/suspense', fields)).toContain('1 was left alone');
  expect(await entries(orderId)).toEqual([]);
});

describe.each(Object.keys(ROWS) as List[])('more than a page holds, at %s', (list) => {
  /** Of a class of their own and under references of nobody, so many, the first the oldest. */
  const RAISE: Record<List, string> = {
    '/admin/findings': `INSERT INTO findings (mode, class, reference, first_run_id, last_run_id, first_seen_at)
      SELECT 'test', 'unreadable', 'many-' || i, $2, $2, now() - make_interval(hours => 800 - 6 * i)
      FROM generate_series(1, $1::int) i`,
    '/admin/suspense': `INSERT INTO suspense_items (mode, class, reference, amount, currency, opened_at)
      SELECT 'test', 'unreadable', 'many-' || i, length($2) + i, 'NGN', now() - make_interval(hours => 800 - 6 * i)
      FROM generate_series(1, $1::int) i`,
  };
  const many = (count: number): string[] => Array.from({ length: count }, (_, at) => `many-${at + 1}`);
  const referencesOn = (page: string): string[] =>
    Array.from(page.matchAll(/<code>(many-\d+)<\/code>/g), ([, reference = '']) => reference);

  test('stands on exactly one page each, oldest first, and every filter adds up', async () => {
    const { runId } = await shop.program.reconcile({ dryRun: false });
    await sql(RAISE[list], 130, runId);
    const first = await ngozi.text(`${list}?class=unreadable`);
    expect(first).toContain('130 open, oldest first.');
    const next = /<a href="([^"]+)" rel="next"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = await ngozi.text(next);
    expect([...referencesOn(first), ...referencesOn(second)]).toEqual(many(130));
    expect(referencesOn(first)).toHaveLength(100);
    expect(second).not.toContain('rel="next"');
    const ages = ['<1d', '1-7d', '7-30d', '>30d'];
    const shown = await Promise.all(
      ages.map(async (age) =>
        referencesOn(await ngozi.text(`${list}?class=unreadable&age=${encodeURIComponent(age)}`)),
      ),
    );
    expect(shown.map((references) => references.length > 0)).toEqual([true, true, true, true]);
    expect(shown.flat().sort()).toEqual(many(130).sort());
  });
});

test('notes about money that belongs to no order are kept with it, too', async () => {
  await sql(
    `INSERT INTO suspense_items (mode, class, reference, amount, currency)
     VALUES ('test', 'unknown_reference', 'not-ours-1', 500, 'NGN')`,
  );
  const item = (await openSuspense(shop.program.database, 'test')).find(
    ({ reference }) => reference === 'not-ours-1',
  );
  await ngozi.sendAndRead('/admin/suspense', [
    ['id', `${item?.id ?? ''}@${item?.version ?? ''}`],
    ...by('Ngozi', 'ask the bank'),
    ...assignTo('Tunde'),
  ]);
  expect(await sql('SELECT written_by, note FROM suspense_notes WHERE item_id = $1', item?.id ?? 0n)).toEqual(
    [{ written_by: 'Ngozi', note: 'ask the bank' }],
  );
  await expect(sql('DELETE FROM suspense_notes')).rejects.toThrow('notes of suspense are kept');
});

test('whoever looks reads amounts as they write them', async () => {
  await heldOrders(1);
  const { runId } = await shop.program.reconcile({ dryRun: false });
  for (const path of [
    '/admin',
    '/admin/findings',
    '/admin/orders',
    '/admin/charts',
    `/admin/runs/${runId}`,
  ]) {
    const page = await fetch(shop.origin + path, {
      headers: { cookie: ngozi.cookie, 'accept-language': 'de' },
    });
    expect(await page.text()).toMatch(/\d,\d\d\b/);
    expect(await ngozi.text(path)).not.toMatch(/[>\s]\d+,\d\d[<\s]/);
  }
});

describe("a run's page", () => {
  test('tells what opened, closed and changed since the run before, or any other', async () => {
    const quiet = await shop.program.reconcile({ dryRun: false });
    const [orderId = ''] = await heldOrders(1);
    const latest = await shop.program.reconcile({ dryRun: false });
    const since = await ngozi.text(`/admin/runs/${latest.runId}?against=${quiet.runId}`);
    expect(since).toContain('1 opened, 0 closed, 0 changed their class.');
    expect(since).toContain(orderId);
    // Whichever of the two is looked at.
    expect(await ngozi.text(`/admin/runs/${quiet.runId}?against=${latest.runId}`)).toContain('1 opened');
    expect(await ngozi.text(`/admin/runs/${latest.runId}`)).toContain(
      'The same findings are open after both.',
    );
    await ngozi.sendAndRead('/admin/suspense', [
      ...(await boxes('/admin/suspense', orderId)),
      ...by('Ngozi'),
      ...RESOLVE['/admin/suspense'],
      ...SURE,
    ]);
    const { runId } = await shop.program.reconcile({ dryRun: false });
    const after = await ngozi.text(`/admin/runs/${runId}?against=${latest.runId}`);
    expect(after).toContain('0 opened, 1 closed');
    expect(after).toContain('<td>Ngozi</td>');
  });

  test('says so when two runs cannot be compared', async () => {
    const { runId } = await shop.program.reconcile({ dryRun: false });
    expect(await ngozi.text(`/admin/runs/${runId}?against=run_unknown`)).toContain('cannot be compared');
  });
});
