import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openSuspense } from '../../src/cases/suspense.sql.ts';
import { maskEmail } from '../../src/reporting/activity.ts';
import { eventually, post, startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';
import { logIn, signed, TOKEN, type Visitor } from './visitor.ts';

let shop: TestProgram;
let person: Visitor;
beforeAll(async () => {
  shop = await startProgram({ env: { ADMIN_TOKEN: TOKEN } });
  person = await logIn(shop);
});
afterAll(() => shop.close());

const sql = (text: string, ...values: unknown[]) => shop.program.database.query(text, values);
const idOf = (number: number): string => `o${String(number).padStart(23, '0')}`;

/** So many orders, a minute apart, the last one the oldest; each tenth in review, each third in XOF. */
async function place(count: number, email: string): Promise<void> {
  await sql(
    `INSERT INTO orders (id, external_id, mode, email, amount, currency, status, created_at)
     SELECT 'o' || lpad(i::text, 23, '0'), 'own-' || i, 'test', $2, 100, CASE WHEN i % 3 = 0 THEN 'XOF' ELSE 'NGN' END,
       CASE WHEN i % 10 = 0 THEN 'review' ELSE 'pending' END, '2026-03-01T00:00:00Z'::timestamptz - i * interval '1 min'
     FROM generate_series(1, $1::int) i`,
    count,
    email,
  );
}

const idsIn = (page: string): string[] =>
  Array.from(page.matchAll(/href="\/admin\/orders\/(\w{24})"/g), ([, id = '']) => id);

/** Every order that the pages show, by following "Older" to the end. */
async function walk(address: string): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = [];
  let pages = 0;
  for (let next: string | undefined = address; next !== undefined;) {
    const page = await person.text(next);
    pages += 1;
    ids.push(...idsIn(page));
    next = /<a href="([^"]+)" rel="next"/.exec(page)?.[1]?.replaceAll('&amp;', '&');
  }
  return { ids, pages };
}

describe('orders are paged and searched', () => {
  beforeAll(() => place(130, 'ada@example.com'));

  test('each stands on exactly one page, newest first', async () => {
    const { ids, pages } = await walk('/admin/orders');
    expect(ids).toEqual(Array.from({ length: 130 }, (_, index) => idOf(index + 1)));
    expect(pages).toBe(3);
  });

  test('also when many are of the same instant', async () => {
    await sql(`UPDATE orders SET created_at = '2026-02-01T00:00:00.123456Z' WHERE id < $1`, idOf(121));
    const { ids } = await walk('/admin/orders');
    expect(new Set(ids).size).toBe(130);
    expect(ids).toHaveLength(130);
    await sql(
      `UPDATE orders SET created_at = '2026-03-01T00:00:00Z'::timestamptz - right(id, 5)::int * interval '1 min'`,
    );
  });

  test('by status and currency, on all pages', async () => {
    expect((await walk('/admin/orders?status=review')).ids).toHaveLength(13);
    expect((await walk('/admin/orders?status=review&currency=xof')).ids).toHaveLength(4);
    expect((await walk('/admin/orders?currency=NGN')).ids).toHaveLength(87);
    expect((await walk('/admin/orders?status=paid')).ids).toEqual([]);
  });

  test('by days, both inclusive', async () => {
    expect((await walk('/admin/orders?from=2026-02-28&to=2026-02-28')).ids).toHaveLength(130);
    expect((await walk('/admin/orders?from=2026-03-01')).ids).toEqual([]);
    expect((await walk('/admin/orders?to=2026-02-27')).ids).toEqual([]);
  });

  test('by an e-mail address, whole in any case or in part, and by the shop’s own number', async () => {
    await sql(`UPDATE orders SET email = 'leila.ada@example.com' WHERE id = $1`, idOf(9));
    expect((await walk('/admin/orders?q=ADA%40example.com')).ids).toHaveLength(129);
    expect((await walk('/admin/orders?q=ada%40example.com&status=review')).ids).toHaveLength(13);
    expect((await walk('/admin/orders?q=Leila')).ids).toEqual([idOf(9)]);
    expect((await walk('/admin/orders?q=WN-13')).ids).toEqual([13, 130].map(idOf));
    expect((await walk('/admin/orders?q=%25%40example.com')).ids).toEqual([]);
    expect(await person.text('/admin/orders?q=zz')).toContain('No order matches “zz”.');
    await sql(`UPDATE orders SET email = 'ada@example.com' WHERE id = $1`, idOf(9));
  });

  test('days that end before they begin are said to', async () => {
    expect(await person.text('/admin/orders?from=2026-03-02&to=2026-03-01')).toContain(
      '“From” (2026-03-02) is after “To” (2026-03-01)',
    );
  });

  test.each([
    'status=%27',
    'currency=1',
    'from=2026-99-99',
    'before=x',
    'q[]=1',
    'q=a&q=b',
    "before=o'; SELECT 1",
  ])('%s is not understood, and harms nothing', async (query) => {
    expect((await person.get(`/admin/orders?${query}`)).status).toBe(200);
  });
});

describe('orders are recognised', () => {
  let whole: CheckoutAnswer;
  let part: CheckoutAnswer;
  let held: CheckoutAnswer;
  beforeAll(async () => {
    [whole, part, held] = [
      await paid('chidi@example.com'),
      await paid('chidi@example.com'),
      await paid('fatou@example.com', '3'),
    ];
    for (const [{ orderId }, amount, number] of [
      [whole, 850_000, 'RF-1003'],
      [part, 100_000, 'RF-1004'],
    ] as const)
      await sql(
        `INSERT INTO refunds (id, order_id, mode, amount, currency, reason, external_id, refunded_by)
         VALUES ('re_' || $1, $1, 'test', $2, 'NGN', 'a strap was torn', $3, 'Zainab')`,
        ...[orderId, amount, number],
      );
    await sql(
      `INSERT INTO journal (order_id, event, cause) VALUES ($1, 'check-asked', 'operator:Zainab Bello')`,
      held.orderId,
    );
  });

  async function paid(email: string, amount?: string): Promise<CheckoutAnswer> {
    const order = await shop.checkout({ email, items: [{ sku: 'ankara-tote', quantity: 1 }] });
    await shop.hand(`transactions/${order.reference}/pay`, { notify: false, ...(amount && { amount }) });
    await fetch(`${shop.origin}/checkout/return/${order.reference}`, { redirect: 'manual' });
    return order;
  }
  const found = async (query: string) => (await walk(`/admin/orders?${query}`)).ids;

  test('by who, what, and the state with its reason; the whole address is not shown', async () => {
    const page = await person.text('/admin/orders?q=ankara');
    expect(page).toContain(`>${maskEmail('fatou@example.com')}</td>`);
    expect(page).not.toContain('fatou@');
    expect(page).toContain('1 × Ankara tote');
    expect(page).toContain(
      `in review</span> <a class="reason" href="/admin/cases?q=${held.orderId}">Paid too little`,
    );
    expect(page).toContain('refunded</span>');
    expect(page).toContain('refunded in part</span>');
    expect(page).toContain('3 orders; paid NGN 17,000.00 (of it refunded NGN 9,500.00).');
    expect(page).not.toContain('Your number');
    expect(await person.text('/admin/orders?q=own-')).toContain('Your number');
  });

  test('in views: to do, refunded, paid, not paid', async () => {
    expect(await found('status=refunded')).toEqual([part.orderId, whole.orderId]);
    expect(await found('status=paid')).toEqual([part.orderId, whole.orderId]);
    expect(await found('status=todo&from=2026-04-01')).toEqual([held.orderId]);
    const unpaid = await found('status=unpaid');
    expect(unpaid).toHaveLength(117);
    expect(unpaid).not.toContain(whole.orderId);
  });

  test('by goods, by who acted on them, by what names them, and the file has the same rows', async () => {
    expect(await found('q=TOTE')).toEqual([held, part, whole].map(({ orderId }) => orderId));
    // The whole refund has withheld the release, under the name of the person.
    expect(await found('q=zainab')).toEqual([held.orderId, whole.orderId]);
    const { orderId, reference } = whole;
    const names = [orderId, reference, orderId.slice(0, 8), reference.slice(0, 8), 'RF-1003'];
    for (const [words, id] of [...names.map((name) => [name, orderId]), ['own-7', idOf(7)]])
      expect((await person.get(`/admin/orders?q=${words ?? ''}`)).headers.get('location')).toBe(
        `/admin/orders/${id ?? ''}`,
      );
    const file = await person.text('/admin/exports/orders?q=tote&status=refunded');
    const [, first = '', ...more] = file.trimEnd().split('\r\n');
    expect(more).toHaveLength(1);
    for (const words of [
      orderId,
      reference,
      'c***@example.com',
      'Ankara tote',
      '8500.00',
      'RF-1003',
      'Zainab',
      'a strap was torn',
    ])
      expect(first).toContain(words);
  });

  test('more than a page is summed by the database, as the rows would be, also where less was accepted', async () => {
    const sums = (orders: number, paid: string) =>
      `${orders} orders; paid NGN ${paid} (of it refunded NGN 9,500.00).`;
    expect(await person.text('/admin/orders')).toContain(sums(133, '17,000.00'));
    const { database } = shop.program;
    const [item] = await openSuspense(database, 'test');
    const accepted = { id: item?.id ?? 0n, by: 'Zainab', note: 'it is enough', seen: null };
    expect(await shop.program.accept(accepted)).toBe('accepted');
    expect(await person.text('/admin/orders')).toContain(sums(133, '17,003.00'));
    expect(await person.text('/admin/orders?q=tote')).toContain(sums(3, '17,003.00'));
  });
});

describe('an order is shown as its story', () => {
  test('with what the service answered, as text', async () => {
    const order = await shop.checkout();
    await shop.hand(`transactions/${order.reference}/pay`, { notify: false });
    await fetch(`${shop.origin}/checkout/return/${order.reference}`, { redirect: 'manual' });
    const page = await person.text(`/admin/orders/${order.orderId}`);
    for (const words of ['order-placed', 'order-paid', 'none missing or altered', 'HTTP 200', 'SUCCESS'])
      expect(page).toContain(words);
    const answer = /href="#(verification-\d+)"/.exec(page)?.[1] ?? 'none';
    expect(page).toContain(`id="${answer}"`);
    expect(page).toContain('"reference":"'.replaceAll('"', '&quot;') + order.reference);
  });

  test('and first in one sentence, with what is next and a link to the case', async () => {
    const order = await shop.checkout({
      email: 'fatou@example.com',
      items: [{ sku: 'ankara-tote', quantity: 1 }],
    });
    const address = `/admin/orders/${order.orderId}`;
    const textOf = async () => (await person.text(address)).replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
    expect(await textOf()).toMatch(/1 × Ankara tote bag · NGN 8,500\.00 .* Not paid yet\./);
    expect(await person.text(address)).not.toContain('/admin/cases?q=');
    await shop.hand(`transactions/${order.reference}/pay`, { notify: false, amount: '1.00' });
    await fetch(`${shop.origin}/checkout/return/${order.reference}`, { redirect: 'manual' });
    const text = await textOf();
    const [box, happened] = [
      'Paid NGN 1.00 of NGN 8,500.00: NGN 8,499.00 is missing. Nothing was delivered.',
      'What happened',
    ];
    for (const words of [box, 'Next: Accept it', 'We asked the service: paid NGN 1.00', 'For developers'])
      expect(text).toContain(words);
    expect(text.indexOf(box)).toBeLessThan(text.indexOf(happened));
    expect(text.indexOf(happened)).toBeLessThan(text.indexOf('sha256'));
    expect(await person.text(address)).toContain(`href="/admin/cases?q=${order.orderId}"`);
  });

  test('whose customer is masked, until somebody says why; the journal keeps that', async () => {
    const email = 'kwame@example.com';
    const { orderId } = await shop.checkout({ email, items: [{ sku: 'ankara-tote', quantity: 1 }] });
    const page = await person.text(`/admin/orders/${orderId}`);
    expect(page).toContain(maskEmail(email));
    expect(page).not.toContain(email);
    const looked = () =>
      sql(`SELECT cause, detail FROM journal WHERE order_id = $1 AND event = 'person-shown'`, orderId);
    const show = async (fields: [string, string][]) =>
      (await person.send('/admin/orders/customer', [['id', orderId], ...fields])).text();
    expect(await show([['by', 'Ngozi']])).not.toContain(email);
    expect(await looked()).toEqual([]);
    const shown = await show(signed('she asked to be called'));
    expect(shown).toContain(email);
    expect(shown).toContain('Ngozi looked at the customer’s address: ‘she asked to be called’.');
    expect(await looked()).toEqual([{ cause: 'operator:Ngozi', detail: { note: 'she asked to be called' } }]);
    expect(await person.text(`/admin/orders/${orderId}`)).not.toContain(email);
    expect((await person.send('/admin/orders/customer', [['id', 'x'.repeat(24)], ...signed()])).status).toBe(
      303,
    );
  });

  test('and says aloud when somebody changed it by other means', async () => {
    const order = await shop.checkout();
    await shop.program.database.transaction(async (tx) => {
      await tx.query('SET LOCAL session_replication_role = replica');
      await tx.query(`UPDATE journal SET cause = 'x' WHERE order_id = $1 AND seq = 2`, [order.orderId]);
    });
    const page = await person.text(`/admin/orders/${order.orderId}`);
    expect(page).toContain('journal entry 2 was changed');
    expect(page).not.toContain('none missing or altered');
  });
});

describe('the other lists are paged, too', () => {
  test('webhooks, newest first', async () => {
    await sql(
      `INSERT INTO webhooks (mode, body, body_sha256, authenticity, outcome)
       SELECT 'test', '{}', sha256(convert_to(i::text, 'UTF8')), 'unsigned', 'ignored' FROM generate_series(1, 120) i`,
    );
    const ids: number[] = [];
    for (let next: string | undefined = '/admin/webhooks'; next !== undefined;) {
      const page = await person.text(next);
      ids.push(...Array.from(page.matchAll(/href="\/admin\/webhooks\/(\d+)"/g), ([, id]) => Number(id)));
      next = /<a href="([^"]+)" rel="next"/.exec(page)?.[1];
    }
    expect(ids).toHaveLength(120);
    expect(ids).toEqual([...ids].sort((a, b) => b - a));
  });

  test('a webhook says what became of it, and a payment without one how it was found', async () => {
    const order = await shop.checkout();
    const search = () => person.text(`/admin/webhooks?reference=${order.orderId}`);
    expect(await search()).toContain('No webhook came for this payment, and it has not been paid.');
    await shop.hand(`transactions/${order.reference}/pay`, { notify: false });
    await fetch(`${shop.origin}/checkout/return/${order.reference}`, { redirect: 'manual' });
    expect(await search()).toContain(
      'No webhook came for this payment; it was found when the shopper came back',
    );
    const receive = (body: string, when: string) =>
      sql(
        `INSERT INTO webhooks (mode, body, body_sha256, authenticity, outcome, reference, received_at)
         VALUES ('test', convert_to($1, 'UTF8'), sha256(convert_to($1, 'UTF8')), 'signed', 'hinted', $2,
           now() + $3::interval)`,
        ...[body, order.reference, when],
      );
    await receive('before', '-1 min');
    expect(await search()).toContain('>checked with the service: order paid');
    await receive('after', '1 min');
    expect(await search()).toContain('already known: order paid');
    expect(await search()).toContain(
      `<a href="/admin/orders/${order.orderId}">${order.orderId.slice(0, 8)}</a>`,
    );
    expect(await person.text('/admin/webhooks?reference=nobody')).toContain(
      'No payment or order of ours is “nobody”.',
    );
  });

  test('refused webhooks are told on top, and listed with what they were about', async () => {
    const order = await shop.checkout();
    const body = { data: { reference: order.reference } };
    const sent = await Promise.all([1, 2].map(() => post(`${shop.origin}/webhooks/payments`, body)));
    expect(sent.map(({ status }) => status)).toEqual([401, 401]);
    await eventually(async () =>
      (await person.text('/admin/webhooks')).includes('2 refused in the last hour'),
    );
    const page = await person.text('/admin/webhooks?result=refused');
    expect(page).toContain('(signature does not match)');
    expect(page).toContain('from 127.0.0.1');
    expect(page).toContain('refused: signature does not match');
    expect(page).toContain(`<a href="/admin/orders/${order.orderId}">`);
    expect(page).toContain(`reference ${order.reference}`);
    expect(page).toContain('&quot;header&quot;:&quot;x-signature&quot;');
  });

  test('runs, newest first, each with its own page', async () => {
    await sql(
      `INSERT INTO reconciliation_runs (id, mode, started_at, finished_at, complete, verdict)
       SELECT 'run_' || i, 'test', now() - i * interval '1 s', now(), true, 'agreed' FROM generate_series(1, 120) i`,
    );
    const ids: string[] = [];
    for (let next: string | undefined = '/admin/runs'; next !== undefined;) {
      const page = await person.text(next);
      ids.push(...Array.from(page.matchAll(/href="\/admin\/runs\/(\w+)"/g), ([, id = '']) => id));
      next = /<a href="([^"]+)" rel="next"/.exec(page)?.[1];
    }
    expect(ids).toEqual(Array.from({ length: 120 }, (_, index) => `run_${index + 1}`));
    expect(await person.text('/admin/runs/run_7')).toContain('It wrote no report.');
    const { runId } = await shop.program.reconcile({ dryRun: false });
    expect(await person.text(`/admin/runs/${runId}`)).toContain('= confirmed here');
  });
});
