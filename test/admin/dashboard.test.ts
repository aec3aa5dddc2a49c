import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startProgram, type TestProgram } from '../support/program.ts';
import { signed, visitor } from './visitor.ts';

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram();
});
afterAll(() => shop.close());

/** A page as words: what a screen reader would read, one line per block. */
const words = async (path: string): Promise<string> =>
  (await visitor(shop, '').text(path)).replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');

async function play(deed: string, body: object = {}): Promise<string> {
  const { reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/${deed}`, { notify: false, ...body });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
  return reference;
}

describe('today at a glance', () => {
  test('an empty shop says so', async () => {
    const page = await words('/admin');
    for (const sentence of [
      'Nothing to do',
      'No order today, and no payment is waited for.',
      'Not yet checked against the service: npm run reconcile',
      'service answers no webhook yet',
    ])
      expect(page).toContain(sentence);
  });

  test('each currency: takings, orders paid, waiting, held back, went back', async () => {
    await play('pay');
    await play('pay');
    await play('pay', { amount: '3' });
    await shop.checkout();
    expect(await words('/admin')).toContain('NGN 17,000.00 2 8,500.00 (1) 3.00 0.00');
  });

  test('what waits for a person: a finding and its money are one, with the list of its kind', async () => {
    const toDo = '1 thing to do Paid too little: 1 , today';
    expect(await words('/admin')).toContain(toDo);
    await shop.program.reconcile({ dryRun: false });
    const page = await words('/admin');
    expect(page).toContain(toDo);
    expect(page).toMatch(/Checked against the service \d+ s ago : not agreed/);
    expect(await visitor(shop, '').text('/admin')).toContain('href="/admin/cases?class=underpaid"');
  });

  test('a case is as old as the first that was known of it, here and in the list', async () => {
    const seen = (change: string) =>
      shop.program.database.query(
        `UPDATE findings SET first_seen_at = first_seen_at ${change} interval '3 days'`,
      );
    await seen('-');
    expect(await words('/admin')).toContain('Paid too little: 1 , this week');
    expect(await words('/admin/cases?age=1-7d')).toContain('1 open, oldest first.');
    expect(await words('/admin/cases?age=%3C1d')).toContain('Nothing to do matches.');
    await seen('+');
  });

  test('a check says why it did not agree and which payment, also when it was the same in the one before', async () => {
    const { runId } = await shop.program.reconcile({ dryRun: false });
    expect(await words('/admin/runs')).toContain('not agreed Paid too little: 1');
    const page = await words(`/admin/runs/${runId}`);
    expect(page).toContain('Not agreed: 1 payment differs (NGN 8,497.00 missing).');
    expect(page).toContain(`npm run reconcile -- --diff RUN ${runId}`);
    expect(page).toMatch(
      /Paid too little a\S+@example\.com Paid NGN 3\.00 of NGN 8,500\.00: NGN 8,497\.00 is missing\. \d{4}-/,
    );
    expect(await visitor(shop, '').text(`/admin/runs/${runId}`)).toMatch(/href="\/admin\/cases\?q=\w{24}"/);
    expect(page).not.toContain('ada@example.com');
  });

  test('a check that could not be completed says so without a table of money, and what came after it', async () => {
    await shop.hand('faults', { fault: 'answer-html', endpoint: 'history' });
    const { runId, incompleteReason } = await shop.program.reconcile({ dryRun: false });
    await shop.hand('faults/clear');
    expect(incompleteReason).toBe('the answer is not whole JSON');
    const page = await words(`/admin/runs/${runId}`);
    expect(page).toContain('Could not be checked. The service’s list of payments came back unreadable (');
    expect(page).toContain('No payment was reported missing because of it. Try again: npm run reconcile');
    expect(page).toContain('details for your developer');
    expect(page).not.toContain('The money');
    expect(await words('/admin')).toMatch(
      /The last check against the service, \d+ s ago, could not be completed\. Why/,
    );
    await shop.program.reconcile({ dryRun: false });
    expect(await words(`/admin/runs/${runId}`)).toMatch(/Checked again at [-\d: ]+: not agreed/);
    expect(await words('/admin/runs')).toContain('not checked The service’s list of payments came back');
  });

  test('the list of checks shows one day, or only those that did not agree, and remembers both on its pages', async () => {
    await shop.program.database.query(
      `INSERT INTO reconciliation_runs (id, mode, started_at, finished_at, complete, verdict)
       SELECT 'run_' || i, 'test', '2026-02-01T00:00Z'::timestamptz + i * interval '10 min', now(), true,
         CASE WHEN i % 2 = 0 THEN 'agreed' ELSE 'findings' END FROM generate_series(0, 149) i`,
    );
    const ids: string[] = [];
    const person = visitor(shop, '');
    for (let next: string | undefined = '/admin/runs?only=not-agreed&day=2026-02-01'; next !== undefined;) {
      const page = await person.text(next);
      ids.push(...Array.from(page.matchAll(/href="\/admin\/runs\/(\w+)"/g), ([, id = '']) => id));
      next = /<a href="([^"]+)" rel="next"/.exec(page)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(ids).toEqual(Array.from({ length: 72 }, (_, at) => `run_${143 - 2 * at}`));
    for (const odd of ['day=2026-02-31', 'day=x', 'only=x', 'day=9999-99-99'])
      expect((await person.get(`/admin/runs?${odd}`)).status).toBe(200);
    expect(await words('/admin/runs?day=2026-02-03')).toContain('No such reconciliation.');
  });

  test('a refused key', async () => {
    await shop.hand('keys/refuse', { refuse: true });
    await fetch(
      `${shop.origin}/checkout/return/${(await shop.program.database.query<{ reference: string }>(`SELECT reference FROM payments WHERE status = 'open'`))[0]?.reference ?? ''}`,
      { redirect: 'manual' },
    );
    expect(await words('/admin')).toContain(
      'The payment service refuses the secret key: check GATEWAY_SECRET_KEY.',
    );
    await shop.hand('keys/refuse', { refuse: false });
  });

  test('a currency that came in another unit is on top, with what came and a form that allows it again', async () => {
    for (let times = 0; times < 2; times += 1) await play('pay', { amount: '850000' });
    const page = await words('/admin');
    expect(page).toMatch(
      /Today No new checkout begins in NGN since [-0-9: ]{19} \. Open payments go on\. A payment of NGN 8,500.00 came in as NGN 850,000.00, 100 times its price\./,
    );
    const here = visitor(shop, '', '/admin');
    expect(
      await here.sendAndRead('/admin/checkouts', [['id', 'NGN'], ['operation', 'release'], ...signed()]),
    ).toContain('New checkouts begin again.');
    expect(await words('/admin')).not.toContain('No new checkout begins');
  });
});

test('every chart stands there as a table, too, with a sentence of its own', async () => {
  const page = await words('/admin/charts');
  expect(page).toContain('NGN 17,000.00 earned in 30 days, and NGN 1,700,003.00 held back.');
  expect(page).toMatch(/earned held back \d{4}-\d\d-\d\d NGN 17,000.00 NGN 1,700,003.00/);
  expect(page).toContain('0 of the 0 orders with a webhook were confirmed within 5 s; 2 came without one.');
  expect(page).toContain('shopper came back none 2');
  expect(page).toContain('3 things to do.');
  const markup = await visitor(shop, '').text('/admin/charts');
  // One for wide screens and one for phones.
  expect(markup.match(/<svg class="chart[^>]*role="img" aria-label="[^"]{20,}"/g)).toHaveLength(6);
  expect(markup).not.toMatch(/style=|<script/);
  const axes = Array.from(markup.matchAll(/text-anchor="end">([^<]*)</g), ([, tick]) => tick);
  expect(axes).toContain('2M');
  for (const tick of axes) expect(tick).toMatch(/^[\d,]+(\.\d+[KM])?[KM]?$/);
});
