import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RecordStreamError } from '../../src/gateway/history/streaming/envelope.ts';
import { createRecordSplitter } from '../../src/gateway/history/streaming/record-splitter.ts';
import { IS_WHOLE } from '../support/extent.ts';

const POINTERS = ['/data/data', '/data', ''];

/** Cuts `text`, handed over in pieces of the given lengths, repeated. */
function cut(
  text: string | Buffer,
  lengths: readonly number[] = [Infinity],
  pointers: readonly string[] = POINTERS,
): { records: string[]; envelope: unknown; hasList: boolean } {
  const body = Buffer.from(text);
  const records: string[] = [];
  const cutter = createRecordSplitter(pointers, (bytes, start, end) =>
    records.push(bytes.toString('utf8', start, end)),
  );
  for (let at = 0, piece = 0; at < body.length; piece += 1) {
    const length = Math.max(lengths[piece % lengths.length] ?? 1, 1);
    cutter.push(body.subarray(at, at + length));
    at += length;
  }
  return { records, ...cutter.end() };
}

/** JSON with every kind of text in it, and with space where JSON allows it. */
const jsonValue = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary', noUnicodeString: false } as object);
const lengths = fc.array(fc.integer({ min: 1, max: 17 }), { minLength: 1, maxLength: 5 });
const indent = fc.constantFrom(undefined, 1, '\t', ' \n ');

describe('records are cut out of a stream', () => {
  test('as JSON.parse would have found them, wherever the chunks end', () => {
    fc.assert(
      fc.property(fc.array(jsonValue, { maxLength: 8 }), lengths, indent, (list, pieces, space) => {
        const text = JSON.stringify(list, null, space);
        const { records, hasList } = cut(text, pieces);
        expect(hasList).toBe(true);
        expect(records.map((record) => JSON.parse(record) as unknown)).toEqual(JSON.parse(text));
      }),
      { numRuns: IS_WHOLE ? 2_000 : 60 },
    );
  });

  test('out of any envelope, which remains without them', () => {
    const around = fc.dictionary(
      fc.string({ unit: 'binary' }).filter((key) => key !== 'data' && key !== '__proto__'),
      jsonValue,
      { maxKeys: 4 },
    );
    fc.assert(
      fc.property(
        around,
        around,
        fc.array(jsonValue, { maxLength: 5 }),
        lengths,
        fc.boolean(),
        (a, b, list, pieces, isDeep) => {
          const data = isDeep ? { ...b, data: list } : list;
          const text = JSON.stringify({ ...a, data, last: 1 });
          const { records, hasList } = cut(text, pieces);
          expect(hasList).toBe(true);
          expect(records.map((record) => JSON.parse(record) as unknown)).toEqual(
            JSON.parse(JSON.stringify(list)),
          );
        },
      ),
      { numRuns: IS_WHOLE ? 1_000 : 50 },
    );
  });

  test('with their own text: digits beyond a float, escapes, hostile words', () => {
    const rows = [
      '{"id":90071992547409931234,"a":25.00}',
      '{"r":"\\"]},{[\\\\"}',
      '"plain"',
      '-1.5e3',
      'null',
      '[]',
      '{}',
    ];
    expect(cut(`{"data" : [ ${rows.join(' , ')} ] }`, [1]).records).toEqual(rows);
  });

  test('with the hints around them', () => {
    const { envelope } = cut('{"total":"2","data":{"page":1,"data":[1,2],"hasNextPage":true}}', [3]);
    expect(
      JSON.parse(
        JSON.stringify(envelope, (_key, value: unknown) =>
          typeof value === 'bigint' ? String(value) : value,
        ),
      ),
    ).toMatchObject({
      total: '2',
      data: { data: [], hasNextPage: true },
    });
  });

  test('out of a place named by escaped keys and positions', () => {
    expect(cut('{"a/b":[{"~":[1]}]}', [1], ['/a~1b/0/~0']).records).toEqual(['1']);
  });
});

describe('a body that is not one whole document with one list', () => {
  test.each([
    ['cut inside a record', '{"data":[{"a":1},{"a"', 1],
    ['cut between records', '{"data":[{"a":1},', 1],
    ['cut before its end', '{"data":[{"a":1}]', 1],
    ['cut before the list', '{"data"', 0],
    ['empty', '', 0],
    ['two documents', '[1][2]', 1],
    ['a missing comma', '[1 2]', 1],
    ['a comma too many', '[1,]', 1],
    ['two lists in places where one is looked for', '{"data":[1],"data":[2]}', 1],
    ['HTML', '<html>502 Bad Gateway</html>', 0],
    ['too deep around the list', '{"a":'.repeat(100), 0],
  ])('is refused when it is %s', (_name, text, count) => {
    const records: string[] = [];
    const cutter = createRecordSplitter(POINTERS, (bytes, start, end) =>
      records.push(bytes.toString('utf8', start, end)),
    );
    expect(() => {
      cutter.push(Buffer.from(text));
      cutter.end();
    }).toThrow(RecordStreamError);
    expect(records.length).toBe(count);
  });

  test('is never taken for a shorter whole one, wherever it is cut', () => {
    const text = '{"status":true,"data":{"page":1,"data":[{"a":"]}"},{"b":[1,2]}],"hasNextPage":false}}';
    for (let length = 0; length < text.length; length += 1)
      expect(() => cut(text.slice(0, length))).toThrow(RecordStreamError);
  });

  test('has no list when the pointers find none', () => {
    expect(cut('{"status":true,"data":null,"rows":[1]}')).toMatchObject({ hasList: false, records: [] });
  });

  test('does not fill the memory with one endless record', () => {
    const cutter = createRecordSplitter(POINTERS, () => undefined);
    cutter.push(Buffer.from('[{"a":"'));
    const more = Buffer.alloc(512 * 1024, 0x61);
    expect(() => {
      for (let count = 0; count < 4; count += 1) cutter.push(more);
    }).toThrow(/larger than/);
  });
});
