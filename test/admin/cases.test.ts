import { afterAll, beforeAll, describe, expect, test as testOfBoth } from '@jest/globals';
import { explain } from '../../src/reporting/explain.ts';
import { listFindings } from '../../src/cases/findings.ts';
import { openSuspense } from '../../src/cases/suspense.sql.ts';
import { someOf } from '../support/extent.ts';
import { testOfFew as test } from '../support/test-of-all.ts';
import { startProgram, type TestProgram } from '../support/program.ts';
import { logIn, signed, TOKEN, type Visitor } from './visitor.ts';

type Fields = [string, string][];

let shop: TestProgram;
/** Two people with the same list open. */
let ngozi: Visitor;
let tunde: Visitor;
beforeAll(async () => {
  shop = await startProgram({ env: { ADMIN_TOKEN: TOKEN } });
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
const KINDS = { 'money in suspense': heldOrders, 'a finding without money': foundOrders };
type Kind = keyof typeof KINDS;

/** What the list puts into the box of each order's case. */
async function boxes(...orderIds: string[]): Promise<Fields> {
  const rows = (await ngozi.text('/admin/cases?class=underpaid')).split('<tr>');
  return orderIds.flatMap((orderId): Fields => {
    const row = rows.find((each) => each.includes(orderId));
    return row === undefined ? [] : [['id', /name="id" value="([^"]+)"/.exec(row)?.[1] ?? '']];
  });
}

const DECIDE: Fields = [
  ['operation', 'resolve'],
  ['decision', 'refund'],
  ['refund', 'RF-1'],
];
const CLOSE: Record<Kind, Fields> = {
  'money in suspense': DECIDE,
  'a finding without money': [['operation', 'close']],
};
const LIST = '/admin/cases';
const assignTo = (owner: string): Fields => [
  ['operation', 'assign'],
  ['owner', owner],
];
const SURE: Fields = [['sure', 'yes']];
const by = (name: string, note = 'because'): Fields => [
  ['by', name],
  ['note', note],
];

/** What the form of a page sends by itself. */
const hiddenIn = (page: string): Fields =>
  [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
    .map(([, name = '', value = '']): [string, string] => [name, value])
    .filter(([name]) => name !== 'form');

describe.each(Object.keys(KINDS) as Kind[])('cases of %s', (kind) => {
  test('several are closed with one deed, each in its own journal; one that is gone is counted as such', async () => {
    const [one = '', other = ''] = await KINDS[kind](2);
    const ticks = await boxes(one, other);
    expect(ticks).toHaveLength(2);
    const page = await ngozi.sendAndRead(LIST, [
      ...ticks,
      ['id', 'money-999999@0'],
      ...by('Ngozi', 'asked for the rest'),
      ...CLOSE[kind],
      ...SURE,
    ]);
    expect(page).toContain('2 cases are closed. 1 was not open any more');
    for (const orderId of [one, other])
      expect(await entries(orderId)).toMatchObject([
        {
          event: kind === 'money in suspense' ? 'suspense-resolved' : 'finding-resolved',
          cause: 'operator:Ngozi',
          detail: { note: 'asked for the rest' },
        },
      ]);
  });

  test('before anything is closed, the page shows once more what that would be', async () => {
    const [orderId = ''] = await KINDS[kind](1);
    const answer = await ngozi.send(LIST, [
      ...(await boxes(orderId)),
      ...by('Ngozi', 'his bank sent it back'),
      ...CLOSE[kind],
    ]);
    expect(answer.status).toBe(200);
    const page = await answer.text();
    for (const words of [
      'Close this case?',
      'This cannot be undone. You can still add a note later.',
      orderId,
      'his bank sent it back',
    ])
      expect(page).toContain(words);
    expect(await entries(orderId)).toEqual([]);

    // What that page sends, and nothing else, closes it.
    expect(await ngozi.sendAndRead(LIST, [...hiddenIn(page), ...SURE])).toContain('1 case is closed.');
    expect(await entries(orderId)).toHaveLength(1);
  });

  test('they are assigned, with who and why in the row, the page and the journal', async () => {
    const [orderId = ''] = await KINDS[kind](1);
    const ticks = await boxes(orderId);
    expect(await ngozi.sendAndRead(LIST, [...ticks, ...signed(), ...assignTo(' ')])).toContain(
      'say who is to work on it',
    );
    const page = await ngozi.sendAndRead(LIST, [
      ...ticks,
      ...by('Ngozi', 'he knows the bank'),
      ...assignTo('Tunde'),
    ]);
    for (const words of ['1 case is assigned.', '>Tunde</td>', 'Ngozi: he knows the bank'])
      expect(page).toContain(words);
    expect(await entries(orderId)).toMatchObject([
      { cause: 'operator:Ngozi', detail: { owner: 'Tunde', note: 'he knows the bank' } },
    ]);
    expect((await explain(shop.program.database, orderId))?.text).toContain('he knows the bank');
  });

  test('a note is written to several at once and does nothing else', async () => {
    const orderIds = await KINDS[kind](2);
    const page = await ngozi.sendAndRead(LIST, [
      ...(await boxes(...orderIds)),
      ...by('Ngozi', `wrote to <both> about ${kind}`),
      ['operation', 'note'],
    ]);
    expect(page).toContain('Note added to 2 cases.');
    expect(page.split(`Ngozi: wrote to &lt;both> about ${kind}`)).toHaveLength(3);
    for (const orderId of orderIds)
      expect((await explain(shop.program.database, orderId))?.text).toContain('wrote to <both>');
  });

  test.each<[string, Fields, string]>([
    ['closed it', [...CLOSE[kind], ...SURE], '1 was not open any more when you acted.'],
    [
      'gave it to somebody',
      assignTo('Ada'),
      '1 was left alone: another operator has changed it since you looked.',
    ],
    ['wrote something down', [['operation', 'note']], '1 was left alone: another operator has changed it'],
  ])('of two people at once, the second is told that the first %s', async (_what, first, told) => {
    const [orderId = ''] = await KINDS[kind](1);
    const ticks = await boxes(orderId);
    await ngozi.sendAndRead(LIST, [...ticks, ...by('Ngozi'), ...first]);
    const before = await entries(orderId);
    for (const second of [assignTo('Tunde'), [...CLOSE[kind], ...SURE], CLOSE[kind]])
      expect(await tunde.sendAndRead(LIST, [...ticks, ...by('Tunde'), ...second])).toContain(told);
    expect(await entries(orderId)).toEqual(before);
  });

  test('two who close the same case in the same instant: one does, one is told', async () => {
    const [orderId = ''] = await KINDS[kind](1);
    const fields = [...(await boxes(orderId)), ...CLOSE[kind], ...SURE];
    const told = await Promise.all([
      ngozi.sendAndRead(LIST, [...fields, ...by('Ngozi')]),
      tunde.sendAndRead(LIST, [...fields, ...by('Tunde')]),
    ]);
    expect(told.filter((page) => page.includes('1 case is closed.'))).toHaveLength(1);
    expect(told.filter((page) => page.includes('not open any more'))).toHaveLength(1);
    expect(await entries(orderId)).toHaveLength(1);
  });

  test('"all on this page" means the rows that the page showed, and not what came since', async () => {
    const [orderId = ''] = await KINDS[kind](1);
    const shown = (await boxes(orderId)).map(([, value]): [string, string] => ['shown', value]);
    const [later = ''] = await KINDS[kind](1);
    const page = await ngozi.sendAndRead(LIST, [
      ...shown,
      ['all', 'yes'],
      ...signed(),
      ...CLOSE[kind],
      ...SURE,
    ]);
    expect(page).toContain('1 case is closed.');
    expect([await entries(orderId), await entries(later)].map((all) => all.length)).toEqual([1, 0]);
  });

  test('a form without a button of ours, or from a page that is not ours, does nothing', async () => {
    const [orderId = ''] = await KINDS[kind](1);
    const fields = [...(await boxes(orderId)), ...signed(), ...CLOSE[kind], ...SURE];
    const noButton = fields.filter(([name]) => name !== 'operation');
    expect(await ngozi.sendAndRead(LIST, noButton)).toContain('press one of the buttons');
    expect((await ngozi.send(LIST, fields, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect(await entries(orderId)).toEqual([]);
  });

  test('they are filtered by kind, owner, age and any part of customer, order and reference', async () => {
    const [orderId = ''] = await KINDS[kind](1);
    for (const [filter, isThere] of [
      ['class=underpaid', true],
      ['class=overpaid', false],
      [`owner=-&q=${orderId.slice(3, 15)}`, true],
      ['owner=Nobody%20knows', false],
      ['q=a•••@example.com', true],
      ['q=nobody@example.com', false],
    ] as const)
      expect([filter, (await ngozi.text(`${LIST}?${filter}`)).includes(orderId)]).toEqual([filter, isThere]);
    expect(await ngozi.text(`${LIST}?age=%3C1d`)).toContain(orderId);
    expect(await ngozi.text(`${LIST}?age=7-30d`)).not.toContain(orderId);
  });
});

test('money leaves suspense by a decision that somebody chose, and a refund number belongs to a refund', async () => {
  const [orderId = ''] = await heldOrders(1);
  const ticks = await boxes(orderId);
  const choices: Fields[] = [
    [],
    [['decision', 'earned']],
    [
      ['decision', 'keep'],
      ['refund', 'RF-1'],
    ],
  ];
  for (const choice of choices) {
    const fields = [
      ...ticks,
      ...signed('typed once'),
      ['operation', 'resolve'] as [string, string],
      ...choice,
    ];
    const again = await (await ngozi.send(LIST, [...fields, ...SURE])).text();
    for (const words of ['choose what happens to the money', 'value="typed once"'])
      expect(again).toContain(words);
  }
  await ngozi.sendAndRead(LIST, [...ticks, ...signed(), ...DECIDE, ...SURE]);
  expect(await entries(orderId)).toMatchObject([{ detail: { decision: 'refund', refund: 'RF-1' } }]);
});

test('money and finding of one reference are one case: it is no row twice, and the decision closes both', async () => {
  const [orderId = ''] = await heldOrders(1);
  const ticks = await boxes(orderId);
  expect((await ngozi.text(`${LIST}?class=underpaid`)).split(`/admin/orders/${orderId}`)).toHaveLength(2);
  const early = await ngozi.sendAndRead(LIST, [...ticks, ...signed(), ['operation', 'close'], ...SURE]);
  expect(early).toContain('1 stays open: money of it is held.');
  await ngozi.sendAndRead(LIST, [...ticks, ...by('Ngozi', 'sent back'), ...DECIDE, ...SURE]);
  expect(await boxes(orderId)).toEqual([]);
  expect((await listFindings(shop.program.database, 'test')).map((each) => each.orderId)).not.toContain(
    orderId,
  );
  expect(await sql(`SELECT status, cancelled_by AS by FROM orders WHERE id = $1`, orderId)).toEqual([
    { status: 'cancelled', by: 'Ngozi' },
  ]);
  expect((await shop.program.reconcile({ dryRun: false })).items.map((item) => item.orderId)).not.toContain(
    orderId,
  );
});

test('a case without money takes no decision about money', async () => {
  const [orderId = ''] = await foundOrders(1);
  const fields = [...(await boxes(orderId)), ...signed(), ...DECIDE, ...SURE];
  expect(await ngozi.sendAndRead(LIST, fields)).toContain('1 was left alone: no money of it is held.');
  expect(await entries(orderId)).toEqual([]);
});

test('a case that a person accepts pays its order', async () => {
  const [orderId = ''] = await heldOrders(1);
  const fields: Fields = [
    ...(await boxes(orderId)),
    ...signed(),
    ['operation', 'resolve'],
    ['decision', 'accept'],
  ];
  expect(await ngozi.sendAndRead(LIST, [...fields, ...SURE])).toContain('1 is accepted: the order is paid.');
  expect(await sql('SELECT status FROM orders WHERE id = $1', orderId)).toEqual([{ status: 'paid' }]);
  expect(await tunde.sendAndRead(LIST, [...fields, ...SURE])).toContain('not open any more');
});

test.each(['money', 'finding'])(
  'a case whose %s has changed since the page was shown is not closed',
  async (what) => {
    const [orderId = ''] = await heldOrders(1);
    const ticks = await boxes(orderId);
    await sql(
      what === 'money'
        ? 'UPDATE suspense_items SET amount = amount + 1 WHERE order_id = $1'
        : 'UPDATE findings SET actual = actual + 1 WHERE order_id = $1',
      orderId,
    );
    expect(await ngozi.sendAndRead(LIST, [...ticks, ...signed(), ...DECIDE, ...SURE])).toContain(
      '1 was left alone',
    );
    expect(await entries(orderId)).toEqual([]);
  },
);

const text = (html: string): string => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');

describe('the page of one case', () => {
  const pathOf = async (orderId: string): Promise<string> =>
    (await ngozi.get(`/admin/cases?q=${orderId}`)).headers.get('location') ?? '';

  test.each(['refund', 'credit', 'keep', 'write_off', 'other', 'accept'])(
    'shows before %s what the shopper reads after it, and Back keeps what was typed',
    async (decision) => {
      const [orderId = ''] = await heldOrders(1);
      const path = await pathOf(orderId);
      const filled: Fields = [
        ...hiddenIn(await ngozi.text(path))
          .filter(([name]) => name === 'id')
          .slice(0, 1),
        ...by('Ngozi', 'as we <agreed>'),
        ['operation', 'resolve'],
        ['decision', decision],
        ['refund', decision === 'refund' ? 'RF-7' : ''],
      ];
      const confirm = await (await ngozi.send(path, filled)).text();
      expect(await entries(orderId)).toEqual([]);
      const [, preview = ''] = /class="preview"[^]*?<\/h2>([^]*?)<\/section>/.exec(confirm) ?? [];
      const read = [...preview.matchAll(/<p>(?:<strong>)?([^<]+)/g)].map(([, sentence = '']) => sentence);
      expect(read).toHaveLength(3);

      const back = await (await ngozi.send(path, [...filled, ['back', 'yes']])).text();
      expect(back).toContain(`value="${decision}" required checked`);
      expect(back).toContain('value="as we &lt;agreed>"');
      if (decision === 'refund') expect(back).toContain('value="RF-7"');

      await ngozi.sendAndRead(path, [...filled, ...SURE]);
      const page = await (await fetch(`${shop.origin}/shop/orders/${orderId}`)).text();
      for (const sentence of read) expect(page).toContain(sentence);
    },
  );

  test('of too much names the surplus and waits for the service after its refund; of a closed one takes notes', async () => {
    const { orderId, reference } = await shop.checkout();
    await shop.hand(`transactions/${reference}/pay`, { notify: false, amount: '9000' });
    await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
    const path = await pathOf(orderId);
    const page = await ngozi.text(path);
    for (const words of [
      'Paid NGN 9,000.00 for NGN 8,500.00: NGN 500.00 too much.',
      'Refund NGN 500.00 at',
      'a•••@',
    ])
      expect(text(page)).toContain(words);
    const surplus = hiddenIn(page)
      .filter(([name]) => name === 'id' || name === 'note')
      .slice(0, 2);
    const after = await ngozi.sendAndRead(path, [
      ...surplus,
      ['by', 'Ngozi'],
      ['refund', 'RF-8'],
      ['operation', 'surplus'],
    ]);
    for (const words of ['waits for the service', 'NGN 500.00 was refunded, number RF-8.'])
      expect(text(after)).toContain(words);

    const idIn = (shown: string) => hiddenIn(shown).find(([name]) => name === 'id') ?? ['', ''];
    const accept: Fields = [
      ['operation', 'resolve'],
      ['decision', 'accept'],
    ];
    const accepted = await ngozi.sendAndRead(path, [idIn(after), ...signed(), ...accept, ...SURE]);
    expect(text(accepted)).toContain('NGN 500.00 was refunded, number RF-8. Do not refund it again.');
    const twice = await ngozi.sendAndRead(path, [idIn(accepted), ...signed(), ...DECIDE, ...SURE]);
    expect(text(twice)).toContain('1 was left alone: the surplus was refunded before.');
    const once = DECIDE.map(([name, value]): [string, string] => [name, name === 'refund' ? 'RF-8' : value]);
    await ngozi.sendAndRead(path, [idIn(twice), ...signed(), ...once, ...SURE]);
    expect(await pathOf(orderId)).toBe(path);
    const closed = await ngozi.sendAndRead(path, [
      ['id', path.replace('/admin/cases/', '')],
      ...signed('she called'),
      ['operation', 'note'],
    ]);
    for (const words of [
      'Closed. You can still add a note.',
      'Ngozi closed it: Refund all, number RF-8',
      'Ngozi: she called',
    ])
      expect(text(closed)).toContain(words);
  });

  test('is found under the addresses of before, which keep their filters', async () => {
    const answer = await ngozi.get('/admin/findings?class=underpaid&age=%3C1d');
    expect([answer.status, answer.headers.get('location')]).toEqual([
      302,
      '/admin/cases?class=underpaid&age=%3C1d',
    ]);
    expect((await ngozi.get('/admin/cases/money-999999')).status).toBe(404);
    expect((await ngozi.get('/admin/cases/else')).status).toBe(404);
  });
});

test('the list says how much is held, and is a file for a spreadsheet, without whole addresses', async () => {
  await heldOrders(1);
  expect(text(await ngozi.text(LIST))).toMatch(/\d+ open, oldest first\. Held in all of them: NGN [\d,.]+\./);
  const [, row = ''] = (await ngozi.text('/admin/cases.csv?class=underpaid')).split('\r\n');
  expect(row).toMatch(
    /^"Paid too little","a•••@example\.com","Paid NGN 3\.00 of NGN 8,500\.00: .*","3\.00","NGN",/,
  );
});

describe.each(someOf(['held', 'seen'] as const, 1))('more than a page holds, %s', (prefix) => {
  /** Under references of nobody, so many, the first the oldest. */
  const RAISE: Record<typeof prefix, string> = {
    seen: `INSERT INTO findings (mode, class, reference, first_run_id, last_run_id, first_seen_at)
      SELECT 'test', 'unreadable', 'seen-' || i, $2, $2, now() - make_interval(hours => 800 - 6 * i)
      FROM generate_series(1, $1::int) i`,
    held: `INSERT INTO suspense_items (mode, class, reference, amount, currency, opened_at)
      SELECT 'test', 'unreadable', 'held-' || i, length($2) + i, 'NGN', now() - make_interval(hours => 800 - 6 * i)
      FROM generate_series(1, $1::int) i`,
  };
  const many = (count: number): string[] => Array.from({ length: count }, (_, at) => `${prefix}-${at + 1}`);
  const referencesOn = (page: string): string[] =>
    Array.from(page.matchAll(/aria-label="Select [^"]*, (\w+-\d+)"/g), ([, reference = '']) => reference);

  testOfBoth('stands on exactly one page each, oldest first, and every filter adds up', async () => {
    const { runId } = await shop.program.reconcile({ dryRun: false });
    await sql(RAISE[prefix], 130, runId);
    const first = await ngozi.text(`${LIST}?q=${prefix}-`);
    expect(first).toContain('130 open, oldest first.');
    const next = /<a href="([^"]+)" rel="next"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = await ngozi.text(next);
    expect([...referencesOn(first), ...referencesOn(second)]).toEqual(many(130));
    expect(referencesOn(first)).toHaveLength(100);
    expect(second).not.toContain('rel="next"');
    const ages = ['<1d', '1-7d', '7-30d', '>30d'];
    const shown = await Promise.all(
      ages.map(async (age) =>
        referencesOn(await ngozi.text(`${LIST}?q=${prefix}-&age=${encodeURIComponent(age)}`)),
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
  await ngozi.sendAndRead(LIST, [
    ['id', `money-${item?.id ?? ''}`],
    ...by('Ngozi', 'ask the bank'),
    ...assignTo('Tunde'),
  ]);
  expect(await sql('SELECT written_by, note FROM suspense_notes WHERE item_id = $1', item?.id ?? 0n)).toEqual(
    [{ written_by: 'Ngozi', note: 'ask the bank' }],
  );
  await expect(sql('DELETE FROM suspense_notes')).rejects.toThrow('notes of suspense are kept');
});

test('of a payment that the list lacks the case says whether verify still confirms it', async () => {
  const { runId } = await shop.program.reconcile({ dryRun: false });
  const { orderId, reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
  await sql(
    `INSERT INTO findings (mode, class, reference, order_id, currency, expected, first_run_id, last_run_id)
     SELECT mode, 'absent_from_history', reference, order_id, currency, amount, $2, $2 FROM payments WHERE order_id = $1`,
    orderId,
    runId,
  );
  const confirmed = 'does not list this payment of NGN 8,500.00. Verify still confirms it.';
  expect(await ngozi.text(`${LIST}?class=absent_from_history`)).toContain(confirmed);
  await sql(
    `INSERT INTO verifications (reference, order_id, mode, outcome, http_status, body_sha256, cause)
     SELECT reference, order_id, mode, 'not_found', 404, sha256(''), 'reconciliation' FROM payments WHERE order_id = $1`,
    orderId,
  );
  expect(await ngozi.text(`${LIST}?class=absent_from_history`)).not.toContain('Verify still confirms it');
});

test('whoever looks reads amounts as they write them', async () => {
  await heldOrders(1);
  const { runId } = await shop.program.reconcile({ dryRun: false });
  for (const path of ['/admin', LIST, '/admin/orders', '/admin/charts', `/admin/runs/${runId}`]) {
    const page = await fetch(shop.origin + path, {
      headers: { cookie: ngozi.cookie, 'accept-language': 'de' },
    });
    expect(await page.text()).toMatch(/\d,\d\d\b/);
    expect(await ngozi.text(path)).not.toMatch(/[>\s]\d+,\d\d[<\s]/);
  }
});
