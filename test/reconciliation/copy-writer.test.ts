import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseDialect } from '../../src/gateway/dialect/dialect.ts';
import { collectRows } from '../../src/gateway/history/row.ts';
import { createRowReader } from '../../src/gateway/history/row-reader.ts';
import { createCopyWriter } from '../../src/reconciliation/import/copy-writer.ts';
import { IS_WHOLE } from '../support/extent.ts';

const { dialect } = parseDialect('{}');
const name = fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 30 });
const record = fc.record({
  id: fc.oneof(name, fc.constantFrom('\\N', '\\.', 'a\tb', 'é'), fc.nat()),
  reference: fc.oneof(name, fc.constantFrom('\\N', '\\', 'a\nb', 'r 1'), fc.nat()),
  status: fc.constantFrom('SUCCESS', 'PENDING', 'failed', 'odd'),
  amount: fc.oneof(fc.nat(), fc.constantFrom(0, 0.01, 9.99, 25, 9_999_999_999_999)),
  currency: fc.constantFrom('NGN', 'KWD', 'JPY', 'none'),
});
const list = fc.array(record, { minLength: 2, maxLength: 30 });
const FIRST = 999_998;
const RUNS = IS_WHOLE ? 500 : 60;

test('a tuple made from the bytes of a plain record is that of the row that it shows', () => {
  let plain = 0;
  fc.assert(
    fc.property(list, (records) => {
      const [asBytes, asRows, rows] = [createCopyWriter(FIRST), createCopyWriter(FIRST), collectRows()];
      const readers = [
        createRowReader(dialect, null, {
          add: asBytes.add,
          addPlain: (row) => {
            plain += 1;
            asBytes.addPlain(row);
          },
        }),
        createRowReader(dialect, null, rows),
      ];
      for (const one of records) {
        const bytes = Buffer.from(JSON.stringify(one));
        for (const reader of readers) reader.read(bytes, 0, bytes.length);
      }
      for (const row of rows.handOver()) asRows.add(row);
      expect(asBytes.handOver()).toEqual(asRows.handOver());
      expect(asBytes.bytes().equals(asRows.bytes())).toBe(true);
    }),
    { numRuns: RUNS },
  );
  expect(plain).toBeGreaterThan(RUNS / 3);
});

test('what is sent stays as it is while the next tuples are written, however long they are', () => {
  const writer = createCopyWriter(0);
  const row = (reference: string) => ({
    reference,
    serviceId: null,
    status: 'paid' as const,
    statusWord: 'SUCCESS',
    amount: 1n,
    currency: 'NGN',
    isMoneyAssumed: false,
    fee: null,
    digest: null,
  });
  writer.add(row('first'));
  const sent = writer.bytes();
  const text = sent.toString();
  for (let at = 0; at < 10; at += 1) writer.add(row('x'.repeat(100_000)));
  expect(sent.toString()).toBe(text);
  expect(writer.bytes().toString('latin1').split('x'.repeat(100_000))).toHaveLength(11);
});
