import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseDialect, type Dialect } from '../../src/gateway/dialect/dialect.ts';
import { createCarefulReader } from '../../src/gateway/history/row-parser.ts';
import { createQuickReader } from '../../src/gateway/history/streaming/row-fast-path.ts';
import { createRowReader } from '../../src/gateway/history/row-reader.ts';
import { readJson } from '../../src/gateway/dialect/json-pointer.ts';
import { IS_WHOLE } from '../support/extent.ts';
import { CONTRADICTORY, HONEST, PLAIN_RECORD } from './contradictory-records.ts';
import { collectRows, type HistoryRow, type ReadRow } from '../../src/gateway/history/row.ts';

const dialects = new Map<string, Dialect>();
/** Thousands of lists are read with the same few. */
function dialectOf(settings: object = {}): Dialect {
  const text = JSON.stringify(settings);
  const dialect = dialects.get(text) ?? parseDialect(text).dialect;
  dialects.set(text, dialect);
  return dialect;
}

/** As a whole list is read. */
function createReader(dialect: Dialect): ReadRow {
  const collector = collectRows();
  const reader = createRowReader(dialect, null, collector);
  return (bytes, start, end) => {
    reader.read(bytes, start, end);
    const [row, ...more] = collector.handOver();
    if (row === undefined || more.length > 0) throw new Error('not one row');
    return row;
  };
}

/** Reads texts one after the other, so that later ones meet the layouts of earlier ones. */
function readAll(
  texts: readonly (string | Buffer)[],
  dialect: Dialect,
): { quick: HistoryRow[]; careful: HistoryRow[] } {
  const quick = createReader(dialect);
  const careful = createCarefulReader(dialect, null);
  // Records lie in the middle of a chunk, with others around them.
  const read = (reader: typeof quick, text: string | Buffer): HistoryRow => {
    const record = Buffer.from(text);
    const bytes = Buffer.concat([Buffer.from('{"a":1},'), record, Buffer.from(',{"reference":"next"}]')]);
    return reader(bytes, 8, 8 + record.length);
  };
  return {
    quick: texts.map((text) => read(quick, text)),
    careful: texts.map((text) => read(careful, text)),
  };
}

const SAMPLE =
  '{"id":"t0","reference":"r0","status":"SUCCESS","amount":25.00,"currency":"NGN","note":"x","more":{"a":1}}';

describe('a record written like the one before is read without parsing, and never differently', () => {
  // One field at a time is replaced, in a record that otherwise follows the sample.
  const fields: [string, string][] = [
    ['"t0"', 'id'],
    ['"r0"', 'reference'],
    ['"SUCCESS"', 'status'],
    ['25.00', 'amount'],
    ['"NGN"', 'currency'],
    ['"x"', 'note'],
  ];
  const odd = [
    '""',
    '" "',
    '" r"',
    '"r "',
    '"\\u00a0r"',
    '"\u00a0r"',
    '"é"',
    '"\\n"',
    '"a\\tb"',
    '"\\x"',
    '"\\u12"',
    '"\\u12ab"',
    '"a\tb"',
    '"\u0000"',
    '"\\u0000"',
    '"\u007f"',
    '"paid"',
    '"Failed"',
    '"in_review"',
    '"ngn"',
    '"XXX"',
    '"XAU"',
    '"KWD"',
    '"JPY"',
    '"CLF"',
    'null',
    'true',
    'false',
    'nul',
    'truely',
    '0',
    '-0',
    '00',
    '01.5',
    '.5',
    '5.',
    '5.5',
    '-5',
    '+5',
    '1e3',
    '1E-2',
    '1e',
    '1.0e5',
    '0.005',
    '0.050',
    '25.000',
    '25.001',
    '9007199254740993',
    '900719925474099.93',
    '999999999999.99',
    '9999999999999.99',
    '1e400',
    'NaN',
    'Infinity',
    '0x10',
    '1,000',
    '"25.00"',
    '" 25.00"',
    '"25,00"',
    '"1e3"',
    '"25."',
    '".25"',
    '"-25"',
    '"007.5"',
    '"9007199254740993.00"',
    '[]',
    '{}',
    '[1]',
    '{"value":25,"currency":"NGN"}',
    '{"a":1,"a":2}',
    '"unclosed',
    '"',
    '',
    '"x","reference":"r9"',
    '"x","note":"x"',
    '"r0","reference":"r1"',
    `"${'r'.repeat(160)}"`,
    `"${'r'.repeat(161)}"`,
    '"a\\"b"',
    '"a\\\\"',
    '"\\ud800"',
  ];

  test.each(fields)('whatever stands in place of %s (%s)', (plain, name) => {
    for (const value of odd) {
      const text = SAMPLE.replace(`"${name}":${plain}`, `"${name}":${value}`);
      for (const settings of [
        {},
        { amountUnit: 'minor' },
        { verify: { amountMayBeAbsent: true, currencyMayBeAbsent: true } },
      ]) {
        const { quick, careful } = readAll([SAMPLE, text, SAMPLE, text], dialectOf(settings));
        expect(quick).toEqual(careful);
      }
    }
  });

  test.each([
    ['space between', SAMPLE.replaceAll(',', ' , ')],
    ['another order', '{"reference":"r1","id":"t1","status":"SUCCESS","amount":25.00,"currency":"NGN"}'],
    ['a field more', SAMPLE.replace('{', '{"new":1,')],
    ['a comma too many', SAMPLE.replace('}}', '},}')],
    ['a bracket that is another one', SAMPLE.replace('}}', '}]')],
    ['something behind it', `${SAMPLE} x`],
    ['a key that differs by one letter', SAMPLE.replace('amount', 'amounx')],
    ['bytes that are no UTF-8', Buffer.from(SAMPLE.replace('"x"', '"\u00e9"'), 'latin1')],
    ['letters beyond ASCII', SAMPLE.replace('"x"', '"Adébáyọ̀ 🎉"')],
    ['a reference beyond ASCII', SAMPLE.replace('"r0"', '"référence"')],
  ])('with %s', (_name, text) => {
    const { quick, careful } = readAll([SAMPLE, text, SAMPLE], dialectOf());
    expect(quick).toEqual(careful);
  });

  test('when the first record names a value twice, equally, and the second one does not', () => {
    const twice = (amount: string): string => SAMPLE.replace('{', `{"amount":${amount},`);
    const { quick, careful } = readAll([twice('25.00'), twice('99.00')], dialectOf());
    expect(quick).toEqual(careful);
    expect(quick[1]?.status).toBe('unreadable');
  });

  test('where the dialect looks in several places, and the first of them holds nothing usable', () => {
    const dialect = dialectOf({
      history: { reference: ['/a/ref', '/list/00', '/reference'], amount: ['/more', '/amount'] },
    });
    const text = (ref: string): string => SAMPLE.replace('{', `{"a":{"ref":${ref}},"list":["l0"],`);
    const { quick, careful } = readAll([text('"x1"'), text('null'), text('"x2"'), text('7')], dialect);
    expect(quick).toEqual(careful);
    expect(quick.map(({ reference }) => reference)).toEqual(['x1', 'l0', 'x2', '7']);
  });

  test('in any list of records', () => {
    const scalar = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('SUCCESS', 'failed', 'NGN', 'KWD', 'JPY', 'ngn', ' x ', ''),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    );
    const record = fc.record(
      {
        id: scalar,
        reference: scalar,
        status: fc.oneof(scalar, fc.constantFrom('SUCCESS', 'PENDING', 'odd')),
        amount: fc.oneof(
          scalar,
          fc.integer({ min: 0, max: 10_000_000 }),
          fc.record({ value: scalar, currency: scalar }),
        ),
        currency: fc.oneof(scalar, fc.constantFrom('NGN', 'KWD', 'JPY', 'ngn')),
        other: fc.jsonValue({ maxDepth: 2 }),
      },
      { requiredKeys: ['reference', 'status'] },
    );
    const damage = fc.option(fc.record({ at: fc.nat(), byte: fc.nat(255) }), { freq: 4 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(record, damage), { minLength: 2, maxLength: 12 }),
        fc.boolean(),
        (list, isMinor) => {
          const texts = list.map(([value, harm]) => {
            const bytes = Buffer.from(JSON.stringify(value));
            if (harm !== null) bytes[harm.at % bytes.length] = harm.byte;
            return bytes;
          });
          const { quick, careful } = readAll(texts, dialectOf({ amountUnit: isMinor ? 'minor' : 'major' }));
          expect(quick).toEqual(careful);
        },
      ),
      { numRuns: IS_WHOLE ? 1_000 : 30 },
    );
  });

  test('A2: with fields that may speak against it, in rows of one layout', () => {
    const names = fc.constantFrom(
      ...['amountReceived', 'paid', 'total_paid', 'amountPaidInKobo', 'amount_paid_usd', 'paymentCurrency'],
      ...['currency_code', 'paymentStatus', 'state', 'txnState', 'captured', 'isPaid', 'pending', 'refunded'],
      ...[
        'amountRefunded',
        'refundStatus',
        'refunds',
        'disputedAt',
        'transaction',
        'payments',
        'customer',
        'city',
      ],
    );
    const value = fc.constantFrom<unknown>(
      ...[
        null,
        true,
        false,
        '',
        0,
        1,
        25,
        2500,
        '25',
        '25.00',
        '@25.00',
        '@2.5e1',
        '@25.0',
        26,
        'NGN',
        'ngn',
      ],
      ...[
        'USD',
        'XAU',
        'SUCCESS',
        'completed',
        'pending',
        'odd',
        'true',
        'false',
        'none',
        '2026-11-20',
        [],
        {},
      ],
      ...[{ status: 'SUCCESS' }, { status: 'pending' }, { amount: 25, refunded: false }, { amount: 1 }],
      ...[[{ status: 'failed' }], [{ status: 'paid' }], { value: 25, currency: 'NGN' }, { value: null }],
      ...[{ value: 25, currency: 'USD' }, { data: [], total: 0 }, { object: 'list', data: [] }, { id: 'x' }],
    );
    const main = fc.record({
      status: fc.constantFrom('SUCCESS', 'SUCCESS', 'SUCCESS', 'paid', 'PENDING', 'odd'),
      amount: fc.constantFrom<unknown>('@25.00', '@25.00', '@25', '25', '@26', {
        value: 25,
        currency: 'NGN',
      }),
      currency: fc.constantFrom<unknown>('NGN', 'NGN', 'ngn', 'USD', null),
    });
    const rows = fc.uniqueArray(names, { minLength: 1, maxLength: 3 }).chain((keys) =>
      fc
        .array(fc.tuple(main, fc.tuple(...keys.map(() => value))), { minLength: 2, maxLength: 12 })
        .map((list) =>
          list.map(([plain, values]) => ({
            reference: 'r',
            ...plain,
            ...Object.fromEntries(keys.map((key, at) => [key, values[at]])),
          })),
        ),
    );
    const settings = fc.constantFrom<object>(
      {},
      { verify: { amount: ['/amount'] } },
      { verify: { status: ['/status'] } },
      { verify: { currency: ['/currency', '/currency_code'], reference: ['/reference', '/state'] } },
      { history: { status: ['/status', '/paymentStatus'], amount: ['/amount', '/amountReceived'] } },
    );
    const numRuns = IS_WHOLE ? 2_000 : 30;
    let refused = 0;
    fc.assert(
      fc.property(rows, settings, (list, dialect) => {
        const texts = list.map((row) => JSON.stringify(row).replace(/"@([^"]*)"/g, '$1'));
        const { quick, careful } = readAll([...texts, ...texts], dialectOf(dialect));
        expect(quick).toEqual(careful);
        refused += careful.filter((row) => row.status === 'unknown' && row.statusWord !== 'odd').length;
      }),
      { numRuns },
    );
    expect(refused).toBeGreaterThan(numRuns / 2);
  });

  test.each(Object.entries({ ...HONEST, ...CONTRADICTORY }))(
    'A2: beside a record whose values are others: %s',
    (name, change) => {
      const text = JSON.stringify({ ...PLAIN_RECORD, ...change }).replace(/"@([^"]*)"/g, '$1');
      const others = [
        text.replaceAll('8500', '8501'),
        text.replace('"amount":8500', '"amount":9'),
        text.replace('"currency":"NGN"', '"currency":"USD"'),
        text.replace('SUCCESS', 'PENDING'),
        text.replaceAll(/true/g, 'false'),
        text.replaceAll(/null|false/g, 'true'),
        text.replaceAll(/"2026[^"]*"/g, 'null'),
      ].filter((other) => other !== text);
      for (const other of others) {
        const { quick, careful } = readAll([text, other, text, other], dialectOf());
        expect(quick).toEqual(careful);
        // Of a contradictory mode a row knows nothing: mode is a matter of the key.
        if (name !== 'two modes') expect(quick[2]?.status).toBe(name in HONEST ? 'paid' : 'unknown');
      }
    },
  );

  test('A2: rows of a service whose honest records repeat themselves are read without parsing', () => {
    const quick = createQuickReader(dialectOf());
    const row = (amount: string, reference: string, refunded = 'false'): Buffer =>
      Buffer.from(
        `{"reference":"${reference}","status":"SUCCESS","amount":${amount},"currency":"NGN","amountReceived":${amount},` +
          `"paymentStatus":"PAID","paid":true,"refunded":${refunded},"refundedAt":null,"refunds":[]}`,
      );
    const sample = row('25.00', 'r0');
    quick.learn(sample, readJson(sample));
    const [next, back] = [row('99.50', 'r1'), row('99.50', 'r1', 'true')];
    expect(quick.read(next, 0, next.length)).toMatchObject({ amount: 9950, status: 'paid' });
    expect(quick.read(back, 0, back.length)).toBeNull();
  });

  test('when it is an ordinary one: nothing of it is left to careful reading', () => {
    const quick = createQuickReader(dialectOf());
    const record = Buffer.from(SAMPLE);
    quick.learn(record, JSON.parse(SAMPLE));
    const next = Buffer.from(
      SAMPLE.replace('r0', 'another').replace('25.00', '7').replace('"x"', '"https:\\/\\/é"'),
    );
    const collector = collectRows();
    const plain = quick.read(next, 0, next.length);
    if (plain !== null) collector.addPlain(plain);
    expect(collector.handOver()[0]).toEqual({
      reference: 'another',
      serviceId: 't0',
      status: 'paid',
      statusWord: 'SUCCESS',
      amount: 700n,
      currency: 'NGN',
      isMoneyAssumed: false,
      fee: null,
      digest: null,
    });
  });
});
