import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CashUnreadable, readCash, type Cash } from '../../src/gateway/balances.ts';
import { createClient, type Client } from '../../src/gateway/http/client.ts';
import { DialectError, parseDialect } from '../../src/gateway/dialect/dialect.ts';
import { SecretKey } from '../../src/gateway/secret-key.ts';

let server: Server;
let client: Client;
let answers: Record<string, string>;
let headers: Record<string, string>;
beforeEach(async () => {
  [answers, headers] = [{ '/v1/transfers': '[]' }, {}];
  server = createServer((req, res) => {
    const text = answers[req.url ?? ''];
    res.writeHead(text === undefined ? 404 : 200, { 'content-type': 'application/json', ...headers });
    res.end(text ?? '{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client = createClient(url, new SecretKey('sk_test_x'), 1);
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await client.close();
});

const transfers = {
  path: '/v1/transfers',
  records: [''],
  reference: ['/reference'],
  amount: ['/amount'],
  currency: ['/currency'],
  status: ['/status'],
};

async function read(answer: string, balances: object, more: object = {}): Promise<Cash> {
  answers['/v1/balances'] = answer;
  const text = JSON.stringify({
    balances: { path: '/v1/balances', records: [''], ...balances },
    transfers,
    ...more,
  });
  const { dialect } = parseDialect(text);
  if (dialect.balances === null || dialect.transfers === null) throw new Error('both are named');
  const { cash } = await readCash(client, dialect, {
    balances: dialect.balances,
    transfers: dialect.transfers,
  });
  if (cash === null) throw new Error('balances were named');
  return cash;
}

const held = (available: bigint, pending = 0n): object => ({ available, pending, transferred: 0n, fees: 0n });
const byCurrency = { form: 'by-currency', amount: ['/available', ''] };
const list = { amount: ['/amount'], currency: ['/currency'] };
const one = { form: 'one', amount: ['/available'], assumedCurrency: 'NGN' };

describe('balances in each form', () => {
  const forms: [string, string, object, object][] = [
    [
      'a list',
      '[{"currency":"NGN","amount":12.50},{"currency":"XOF","amount":"7"}]',
      list,
      { NGN: held(1250n), XOF: held(7n) },
    ],
    [
      'two lists, and a currency that only one of them knows',
      '{"available":[{"currency":"ngn","amount":1}],"pending":[{"currency":"ngn","amount":2},{"currency":"usd","amount":3}]}',
      { ...list, records: ['/available'], pendingRecords: ['/pending'] },
      { NGN: held(100n, 200n), USD: held(0n, 300n) },
    ],
    [
      'a list with a record for each state',
      '[{"currency":"NGN","amount":1,"status":"available"},{"currency":"NGN","amount":2,"status":"PENDING"}]',
      { ...list, status: ['/status'] },
      { NGN: held(100n, 200n) },
    ],
    [
      'an object by currency',
      '{"NGN":{"available":12.50},"usd":{"available":-3}}',
      byCurrency,
      { NGN: held(1250n), USD: held(-300n) },
    ],
    [
      'a number by currency',
      '{"NGN":12.50,"KWD":"1.234"}',
      byCurrency,
      { NGN: held(1250n), KWD: held(1234n) },
    ],
    [
      'two objects by currency',
      '{"available":{"NGN":1},"pending":{"NGN":2}}',
      { ...byCurrency, records: ['/available'], pendingRecords: ['/pending'] },
      { NGN: held(100n, 200n) },
    ],
    [
      'one object that tells a sum',
      '{"currency":"NGN","available":"10.00","ledger":"12.50"}',
      { ...one, currency: ['/currency'], total: ['/ledger'] },
      { NGN: held(1000n, 250n) },
    ],
    ['one object of one currency that it does not name', '{"available":12.50}', one, { NGN: held(1250n) }],
    ['nothing yet', '{}', byCurrency, {}],
  ];
  test.each(forms)('%s', async (_name, answer, balances, cash) => {
    expect(Object.fromEntries(await read(answer, balances))).toEqual(cash);
  });

  test('in the smallest units', async () => {
    const cash = await read('{"NGN":1250}', byCurrency, { amountUnit: 'minor' });
    expect(cash.get('NGN')).toEqual(held(1250n));
  });
});

describe('what cannot be read is no proof', () => {
  const odd: [string, string, object, RegExp][] = [
    [
      'a name that is no currency',
      '{"NGN":1,"updatedAt":"2026-01-01"}',
      byCurrency,
      /"updatedAt" in .* is no currency/,
    ],
    ['an object where a list is looked for', '{"NGN":1}', list, /holds no list/],
    ['a list where an object is looked for', '[{"available":1}]', one, /holds no object/],
    ['a value where an object is looked for', '12.5', byCurrency, /holds no object/],
    ['no amount', '{"NGN":{"held":1}}', byCurrency, /an amount in NGN cannot be read/],
    ['an amount with too many decimals', '{"NGN":1.005}', byCurrency, /an amount in NGN cannot be read/],
    [
      'a currency that nobody knows, where another is assumed',
      '{"available":1,"currency":"NGX"}',
      { ...one, currency: ['/currency'] },
      /names no currency/,
    ],
    [
      'a currency that is null, where another is assumed',
      '{"available":1,"currency":null}',
      { ...one, currency: ['/currency'] },
      /names no currency/,
    ],
    [
      'no list of what is pending',
      '{"available":[]}',
      { ...list, records: ['/available'], pendingRecords: ['/pending'] },
      /holds no list/,
    ],
    [
      'a failure inside HTTP 200',
      '{"status":false,"message":"try again later","data":[]}',
      { ...list, records: ['/data'] },
      /a failure inside HTTP 200/,
    ],
    [
      'a part of the list',
      '{"data":[{"currency":"NGN","amount":1}],"has_more":true}',
      { ...list, records: ['/data'] },
      /only a part/,
    ],
  ];
  test.each(odd)('%s', async (_name, answer, balances, why) => {
    const reading = read(answer, balances);
    await expect(reading).rejects.toThrow(CashUnreadable);
    await expect(reading).rejects.toThrow(why);
  });

  test('a part of the list, as a header tells', async () => {
    headers = { 'x-total-count': '2' };
    await expect(read('[{"currency":"NGN","amount":1}]', list)).rejects.toThrow(/only a part/);
  });
});

test.each([
  [{ ...list, currency: undefined }, /needs currency, or assumedCurrency/],
  [{ ...list, pending: ['/pending'], total: ['/total'] }, /name one of them/],
  [{ ...one, assumedCurrency: 'naira' }, /must be an ISO 4217 code/],
  [{ ...list, form: 'object' }, /"list" or "by-currency" or "one"/],
])('a dialect that says too little or too much of balances is refused: %j', async (balances, why) => {
  const reading = read('[]', balances);
  await expect(reading).rejects.toThrow(DialectError);
  await expect(reading).rejects.toThrow(why);
});

test('balances without transfers are refused: nothing could be checked against them', () => {
  const balances = { path: '/v1/balances', records: [''], ...list };
  expect(() => parseDialect(JSON.stringify({ balances }))).toThrow('/balances: needs transfers');
});
