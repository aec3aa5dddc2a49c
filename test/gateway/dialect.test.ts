import { describe, expect, test } from '@jest/globals';
import { DialectError, parseDialect } from '../../src/gateway/dialect.ts';
import { defaultDialect } from '../support/dialect.ts';

test('a file changes the keys it names and leaves every other default', () => {
  const { dialect } = parseDialect('{"verify":{"status":["/state"]},"webhook":{"signature":null}}');
  expect(dialect).toEqual({
    ...defaultDialect,
    verify: { ...defaultDialect.verify, status: ['/state'] },
    webhook: { ...defaultDialect.webhook, signature: null },
  });
});

test('only a scheme that the file itself names binds', () => {
  expect(parseDialect('{}').named.signature).toBe(false);
  expect(parseDialect('{"webhook":{"signature":null}}').named.signature).toBe(false);
  expect(parseDialect('{"webhook":{"signature":{"header":"x-sig"}}}').named.signature).toBe(true);
});

describe('a fault is told by the path of its key', () => {
  test.each([
    ['{"verify":{"stauts":["/s"]}}', '/verify'],
    ['{"verify":{"status":["s"]}}', '/verify/status/0'],
    ['{"verify":{"status":[]}}', '/verify/status'],
    ['{"amountUnit":"kobo"}', '/amountUnit'],
    ['{"statuses":{"paid":["ok"],"failed":["OK"]}}', '/statuses'],
    ['{"history":{"paging":{"size":0}}}', '/history/paging/size'],
    ['not json', 'the file is not JSON'],
  ])('%s', (text, path) => {
    expect(() => parseDialect(text)).toThrow(DialectError);
    expect(() => parseDialect(text)).toThrow(path);
  });
});
