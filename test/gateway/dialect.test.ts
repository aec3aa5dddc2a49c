import { describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { DIALECT_KEYS, DialectError, droppedWords, parseDialect } from '../../src/gateway/dialect/dialect.ts';
import { defaultDialect } from '../support/dialect.ts';

test('a file changes the keys it names and leaves every other default', () => {
  const { dialect } = parseDialect('{"verify":{"status":["/state"]},"webhook":{"signature":null}}');
  expect(dialect).toEqual({
    ...defaultDialect,
    verify: { ...defaultDialect.verify, status: ['/state'] },
    webhook: { ...defaultDialect.webhook, signature: null },
  });
});

test('words may be added to a default list, or replace it', () => {
  const added = parseDialect('{"statuses":{"also":{"paid":["settled"]},"failed":["no"]}}').dialect.statuses;
  expect(added.paid).toEqual([...defaultDialect.statuses.paid, 'settled']);
  expect(added.failed).toEqual(['no']);
  expect(added.pending).toEqual(defaultDialect.statuses.pending);
});

test('a list that drops a default word is warned of, unless another list has the word', () => {
  const dropped = (statuses: string): string[] =>
    droppedWords(parseDialect(`{"statuses":${statuses}}`).dialect);
  expect(dropped('{"paid":["settled"]}')).toEqual([
    expect.stringMatching(/paid.*success, .*statuses\.also\.paid$/),
  ]);
  const moved = '{"failed":["failed","declined","cancelled","canceled","expired"],"expired":[]}';
  expect([dropped('{"also":{"paid":["settled"]}}'), dropped(moved), dropped('{}')]).toEqual([[], [], []]);
});

test('only a scheme that the file itself names binds', () => {
  expect(parseDialect('{}').named.signature).toBe(false);
  expect(parseDialect('{"webhook":{"signature":null}}').named.signature).toBe(false);
  expect(parseDialect('{"webhook":{"signature":{"header":"x-sig"}}}').named.signature).toBe(true);
});

describe('what may be there is told beside the fault', () => {
  test.each([
    [
      '{"verify":{"stauts":["/s"]}}',
      '/verify/stauts: is no key of the dialect; allowed: record, reference, status, amount',
    ],
    ['{"nextCursor":["/n"]}', 'did you mean "/history/paging/nextCursor"?'],
    ['{"transfers":{"url":"/v1/transfers"}}', 'allowed: path, records, reference'],
    ['{"amountUnit":"kobo"}', '/amountUnit: must be "major" or "minor"'],
    ['{"verify":{"status":"/s"}}', '/verify/status: must be a list, like ["/data/reference"]'],
    ['{"verify":{"status":[]}}', '/verify/status: must name at least one pointer'],
    ['{"statuses":{"paid":[""]}}', '/statuses/paid/0: must not be empty'],
    ['{"statuses":{"paid":[1]}}', '/statuses/paid/0: must be a text in quotes'],
    ['{"webhook":{"acknowledgement":404}}', '/webhook/acknowledgement: must be at most 299'],
    ['{"webhook":{"acknowledgement":"200"}}', '/webhook/acknowledgement: must be a number'],
    ['{"history":{"paging":{"size":0}}}', '/history/paging/size: must be at least 1'],
    ['{"history":{"paging":{"size":1.5}}}', '/history/paging/size: must be a whole number'],
    ['{"verify":{"amountMayBeAbsent":"no"}}', '/verify/amountMayBeAbsent: must be true or false'],
    [
      '{"history":{"paging":{"sinceParam":"from","windowDays":30}}}',
      '/history/paging/windowDays: needs sinceParam and untilParam',
    ],
    [
      '{"history":{"paging":{"sinceParam":"a","untilParam":"b","windowDays":2,"windowFormat":"date"}}}',
      '/history/paging/windowDays: must be at least 3 with dates',
    ],
  ])('%s', (text, meant) => {
    expect(() => parseDialect(text)).toThrow(meant);
  });
});

describe('the page on what the reference leaves open', () => {
  const page = readFileSync(new URL('../../docs/what-the-reference-leaves-open.md', import.meta.url), 'utf8');
  const named = [...page.matchAll(/`((?:[A-Za-z]+\.)*[A-Za-z]+)`/g)].map(([, name = '']) => name);
  test('names every key of the dialect', () => {
    const keys = DIALECT_KEYS.map((key) => key.slice(1).replaceAll('/', '.'));
    expect(keys).toContain('webhook.signature.list.timestamp');
    expect(keys.filter((key) => !named.includes(key))).toEqual([]);
  });
  test('shows only examples that are a dialect', () => {
    const examples = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, text = '']) => text);
    expect(examples.length).toBeGreaterThan(5);
    for (const example of examples) expect(() => parseDialect(example)).not.toThrow();
  });
  test('links only to files that are there', () => {
    const links = [...page.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map(([, path = '']) => path);
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url)))).toEqual([]);
  });
});

describe('a fault is told by the path of its key', () => {
  test.each([
    ['{"verify":{"stauts":["/s"]}}', '/verify'],
    ['{"verify":{"status":["s"]}}', '/verify/status/0'],
    ['{"verify":{"status":[]}}', '/verify/status'],
    ['{"amountUnit":"kobo"}', '/amountUnit'],
    ['{"statuses":{"paid":["ok"],"failed":["OK"]}}', '/statuses'],
    ['{"statuses":{"also":{"paid":["Refunded"]}}}', '/statuses: "refunded" stands in two lists'],
    ['{"statuses":{"also":{"payed":["ok"]}}}', '/statuses/also'],
    ['{"history":{"paging":{"size":0}}}', '/history/paging/size'],
    ['not json', 'the file is not JSON'],
    ['[]', '/: must be an object'],
    ['{"verify":[]}', '/verify: must be an object'],
    ['{"webhook":{"signature":{"signs":"timestamp.body"}}}', '/webhook/signature/timestampHeader'],
    ['{"history":{"paging":{"windowDays":30}}}', '/history/paging/windowDays'],
  ])('%s', (text, path) => {
    expect(() => parseDialect(text)).toThrow(DialectError);
    expect(() => parseDialect(text)).toThrow(path);
  });
});
