import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cleanUp, runProcess, type Outcome } from '../support/process.ts';
import { startShop, type ShopProcess } from '../support/shop-process.ts';

let shop: ShopProcess;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(cleanUp);

function run(...args: string[]): Promise<Outcome> {
  return runProcess('local/start.ts', { cwd: shop.folder, env: { PORT: String(shop.port) }, args });
}

test('books and exports are printed, and what is typed wrongly is refused', async () => {
  const { orderId, reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`);
  await shop.becomes(orderId, 'paid');
  expect((await run('reconcile')).code).toBe(0);

  const books = await run('books');
  expect(books).toMatchObject({
    code: 0,
    stderr:
      'NGN test  confirmed 8500.00  refunded 0.00  net 8500.00  held 0.00  decided 0.00  paid_out 0.00\n',
  });
  expect(books.stdout).toMatch(
    new RegExp(`^"day","kind",.*\r\n"[\\d-]{10}","payment","${orderId}","","${reference}","a\\*\\*\\*@`),
  );
  const totals = await run('books', '--totals', '--json');
  expect(JSON.parse(totals.stdout)).toMatchObject({ currency: 'NGN', net: '8500.00' });
  const whole = ['books', '--with-customers', '--by', 'Ada'];
  expect((await run(...whole, '--note', 'audit')).stdout).toContain('"ada@example.com"');

  const exported = await run('export', 'orders', '--status', 'paid', '--json');
  expect(JSON.parse(exported.stdout)).toMatchObject({ id: orderId, reference, amount: '8500.00' });
  const matched = await run('export', 'matched');
  expect(matched.stderr).toMatch(/^Of run_\w+, which counted 1 as matched or repaired\.\n$/);
  expect(matched.stdout).toContain(`"${reference}"`);

  const wrong = [
    whole,
    ['books', '--month', '2026-13'],
    ['books', '--month', '2026-01', '--since', '2026-01-01'],
    ['books', '--mode', 'both'],
    ['export', 'passwords'],
    ['export', 'orders', '--status', 'shipped'],
    ['export', 'matched', '--run', 'run_none'],
  ];
  for (const args of wrong) expect(await run(...args)).toMatchObject({ code: 64, stdout: '' });
});
