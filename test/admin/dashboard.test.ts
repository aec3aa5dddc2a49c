import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startProgram, type TestProgram } from '../support/program.ts';
import { visitor } from './visitor.ts';

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
      'No order today, and nothing is open.',
      'There was none yet.',
      'None has come yet.',
    ])
      expect(page).toContain(sentence);
  });

  test('each currency: collected, confirmed, open and in suspense', async () => {
    await play('pay');
    await play('pay');
    await play('pay', { amount: '3' });
    await shop.checkout();
    // Collected is confirmed and held; open are the held payment and the one that waits.
    expect(await words('/admin')).toContain('NGN 17,003.00 17,000.00 2 0.00 17,000.00 17,000.00 2 3.00');
  });

  test('the verdict, and what waits for a person, each with its list', async () => {
    await shop.program.reconcile({ dryRun: false });
    const page = await words('/admin');
    expect(page).toContain('findings Open disagreements need attention.');
    expect(page).toMatch(/Open findings underpaid &lt;1d 1/);
    expect(page).toMatch(/Items in suspense underpaid NGN &lt;1d 1/);
    expect(await words('/admin/findings?class=underpaid&age=%3C1d')).toContain('1 open, oldest first.');
  });

  test('a refused key', async () => {
    expect(await words('/admin')).toContain('Answers, as far as this process has seen.');
    await shop.hand('keys/refuse', { refuse: true });
    await fetch(
      `${shop.origin}/checkout/return/${(await shop.program.database.query<{ reference: string }>(`SELECT reference FROM payments WHERE status = 'open'`))[0]?.reference ?? ''}`,
      { redirect: 'manual' },
    );
    expect(await words('/admin')).toContain('It refuses the secret key: check GATEWAY_SECRET_KEY.');
    await shop.hand('keys/refuse', { refuse: false });
  });
});

test('every chart stands there as a table, too, with a sentence of its own', async () => {
  const page = await words('/admin/charts');
  expect(page).toContain('NGN 17,000.00 confirmed in 30 days, and money that was not earned besides.');
  expect(page).toMatch(/confirmed underpaid \d{4}-\d\d-\d\d NGN 17,000.00 NGN 3.00/);
  expect(page).toContain('return no webhook 2');
  expect(page).toContain('underpaid &lt;1d 1');
  const markup = await visitor(shop, '').text('/admin/charts');
  expect(markup.match(/<svg class="chart"[^>]*role="img" aria-label="[^"]{20,}"/g)).toHaveLength(3);
  expect(markup).not.toMatch(/style=|<script/);
});
