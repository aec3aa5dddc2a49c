import { afterEach, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { booked, openBooks, type Books } from './books.ts';

// A run continues where an interrupted one stopped, but not on a page that a faulty adapter led to.

const GATEWAY_ADAPTER = fileURLToPath(new URL('../support/adapters/astray.ts', import.meta.url));

let books: Books;
afterEach(() => books.close());

test('a run that an adapter led to a missing page starts again after the adapter is corrected, and completes', async () => {
  books = await openBooks();
  const before = await booked(books.database);
  const { exit, report } = await books.reconcile([], { GATEWAY_ADAPTER });
  expect({ exit, ...report }).toMatchObject({ exit: 2, complete: false, verdict: 'incomplete' });
  expect(books.service.calls.pages).toEqual([1, 2]);
  books.service.calls.pages = [];
  const mended = await books.reconcile();
  expect({ exit: mended.exit, ...mended.report }).toMatchObject({
    ...{ exit: 0, complete: true, verdict: 'agreed', payments: 24, matched: 24 },
    history: { records: 24, pages: 6 },
  });
  expect(books.service.calls.pages).toEqual([1, 2, 3, 4, 5, 6]);
  expect(await booked(books.database)).toEqual(before);
});
