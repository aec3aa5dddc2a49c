import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startProgram, type TestProgram } from '../support/program.ts';
import { logIn, signed, TOKEN } from './visitor.ts';

// What no page of ours sends: days that PostgreSQL cannot read, and the one character that its texts cannot hold.

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram({ env: { ADMIN_TOKEN: TOKEN } });
});
afterAll(() => shop.close());

test.each([
  '/admin/activity?day=9999-12-31',
  '/admin/activity?before=9999-99-99T99:99:99.999999Z%20journal%20a',
  '/admin/activity?before=2026-02-30T00:00:00.000000Z%20journal%20a',
  '/admin/activity?before=0000-01-01T00:00:00.000000Z%20journal%20a',
  '/admin/books.csv?month=9999-12',
  '/admin/books.csv?month=9999-12&totals=yes',
  '/admin/exports/orders?from=9999-12-31&to=9999-12-31',
  '/admin/exports/orders?from=0000-01-01&to=0000-01-01',
  '/admin/orders?from=2026-02-31&to=0000-01-01',
  '/admin/webhooks?result=refused&before=2026-02-31T00:00Z%20malformed',
  '/admin/webhooks?result=refused&before=2026-02-28T29:00Z%20malformed',
])('%s is answered to its end', async (path) => {
  const answer = await (await logIn(shop)).get(path);
  expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
});

test.each(['/admin/activity?by=%00', '/admin/orders?q=%00', '/admin/exports/orders?q=a%00@example.com'])(
  '%s is not there',
  async (path) => {
    expect((await (await logIn(shop)).get(path)).status).toBe(404);
  },
);

test('a form is read without that character', async () => {
  const visitor = await logIn(shop);
  const stop: [string, string][] = [['id', 'NGN'], ['operation', 'stop'], ...signed('a\0flood')];
  expect((await visitor.send('/admin/checkouts', stop)).headers.get('location')).toContain('stopped:1');
  const books: [string, string][] = [['month', '9999-12'], ...signed('the\0audit')];
  const answer = await visitor.send('/admin/books.csv', books);
  expect([answer.status, (await answer.text()).startsWith('"day"')]).toEqual([200, true]);
  const notes = await shop.program.database.query('SELECT note FROM disclosures');
  expect(notes).toEqual([{ note: 'theaudit' }]);
});
