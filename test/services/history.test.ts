import { expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServiceAdapter } from '../../src/gateway/adapter.ts';
import { at, cursor, link, offsets, pages, rows as list } from '../../src/gateway/adapter-helpers.ts';
import plain from './adapters/plain.ts';
import { readList } from './service.ts';

const byPage = pages({ page: 'page' });
const byCursor = cursor({ parameter: 'c', at: 'next' });
const byOffset = offsets({ offset: 'skip' });
const p = (rows: number[], next: string | null = null) => ({ rows, next });
const whole = { complete: true };
const broken = (reason: RegExp) => ({ complete: false, reason: expect.stringMatching(reason) as unknown });

type Case = [what: string, next: ServiceAdapter['history']['next'], pages: object, rows: number[], end: object];
test.each<Case>([
  ['a link', link({ at: 'next' }), { '/': p([1, 2], 'https://other.example/?c=b'), '/?c=b': p([3]) }, [1, 2, 3], whole],
  ['a cursor', byCursor, { '/': p([1], 'b'), '/?c=b': p([2], '') }, [1, 2], whole],
  [
    'a page size that is silently limited',
    byOffset,
    { '/': p([1, 2]), '/?skip=2': p([3]), '/?skip=3': p([]) },
    [1, 2, 3],
    whole,
  ],
  ['every page is the first page', byPage, { '*': p([1, 2]) }, [1, 2], broken(/page 2 .*no new row/)],
  ['no end', byPage, { '/': p([1]), '/?page=2': p([2]), '*': p([3]) }, [1, 2, 3], broken(/page 4 .*no new row/)],
  ['a loop', byCursor, { '/': p([1], 'b'), '/?c=b': p([2], 'c'), '/?c=c': p([3], 'b') }, [1, 2, 3], broken(/before/)],
  ['an empty page before others', byCursor, { '/': p([], 'b'), '/?c=b': p([1], 'c'), '/?c=c': p([]) }, [1], whole],
  ['a failure inside HTTP 200', byPage, { '/': p([1]), '*': { error: 1 } }, [1], broken(/2 is not a page/)],
  ['an answer without a list', byPage, { '/': p([1]), '*': { rows: { 0: 1 } } }, [1], broken(/2 is not a page/)],
  ['HTTP 500 with a page', byPage, { '/': p([1]) }, [1], broken(/page 2 .*HTTP 500/)],
  [
    'an error that the adapter throws',
    () => JSON.parse('no') as null,
    { '/': p([1]) },
    [],
    broken(/adapter.*SyntaxError/),
  ],
])('the history is read to its end, or reported as incomplete: %s', async (_what, next, answers, rows, end) => {
  const server = createServer((req, res) => {
    const answer: unknown = new Map(Object.entries(answers)).get(req.url ?? '') ?? at(answers, '*');
    res.writeHead(answer === undefined ? 500 : 200).end(JSON.stringify(answer ?? p([9])));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const history = { ...plain.history, first: () => '/', rows: (page: unknown) => list(at(page, 'rows')), next };
  const read = await readList(url, { ...plain, history }).finally(() => server.close());
  expect(read).toEqual({ rows, end });
});
