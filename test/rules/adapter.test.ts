import { afterAll, beforeAll, expect, test } from '@jest/globals';
import sandbox from '../../local/sandbox-adapter.ts';
import adapter from '../../src/custom/service.ts';
import { differencesIn, loadExamples, openReader, SECTIONS, type Reader } from '../../tools/examples.ts';

// Tests the shop's own adapter, src/custom/service.ts, with the answers in
// src/custom/service.examples.json. No other test depends on this adapter.

let reader: Reader;
beforeAll(async () => {
  reader = await openReader(adapter);
});
afterAll(() => reader.close());

test.each(SECTIONS)(
  '%s: src/custom/service.ts reads each example as src/custom/service.examples.json expects',
  async (section) => {
    expect(await differencesIn(section, loadExamples(), reader)).toEqual([]);
  },
);

test('a difference shows the section, the number and the name of the example, and what differs', async () => {
  const examples = loadExamples();
  const reads = { outcome: 'paid', amount: '1.00 NGN', rows: ['a'] };
  examples.verify = [{ name: 'nothing', status: 200, answer: {}, reads: 'not_found' }];
  examples.verify.push({ name: 'a payment', status: 200, answer: { data: null }, reads });
  examples.verify.push({ name: 'no payment', status: 200, answer: { data: null }, reads: 'not_found' });
  const webhook = { ...sandbox.webhook, references: () => ['a'] };
  const other = { ...sandbox, verify: { record: () => null }, webhook };
  examples.webhooks = [{ name: 'an event', body: {}, reads: ['b', 'c'] }];
  const another = await openReader(other);
  try {
    expect(await differencesIn('verify', examples, another)).toEqual([
      `verify[1] "a payment": it should be read as ${JSON.stringify(reads)}, and is read as "not_found"`,
    ]);
    expect(await differencesIn('webhooks', examples, another)).toEqual([
      'webhooks[0] "an event": 0 should be read as "b", and is read as "a"',
      'webhooks[0] "an event": 1 should be read as "c", and is read as nothing',
    ]);
  } finally {
    await another.close();
  }
});
