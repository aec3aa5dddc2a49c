import { expect, test } from '@jest/globals';
import sandbox from '../../local/sandbox-adapter.ts';
import type { PagePosition, ServiceAdapter, SignedMessage } from '../../src/gateway/adapter.ts';
import { at } from '../../src/gateway/adapter-helpers.ts';
import { checkedAdapter, type AdapterFault } from '../../src/gateway/checked-adapter.ts';
import { evidenceOf, type Evidence } from '../../src/gateway/evidence.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';
import { createReferences } from '../../src/gateway/references.ts';
import { readRow } from '../../src/reconciliation/row.ts';

// Adapters may be written in JavaScript. They may omit members, or be instances of a class, and are
// then read as intended.

const REFERENCE = 'abcdefghijklmnopqrstuvwxyz';
const RECORD = { id: '7', reference: REFERENCE, status: 'SUCCESS', amount: 8500, currency: 'NGN' };
const references = createReferences(sandbox);

/** @returns the adapter as the program uses it, and the faults that the check found */
function check(adapter: unknown): { adapter: ServiceAdapter; faults: AdapterFault[] } {
  const faults: AdapterFault[] = [];
  return { adapter: checkedAdapter(adapter as ServiceAdapter, (fault) => faults.push(fault)), faults };
}
const rowOf = (adapter: ServiceAdapter, row: unknown = RECORD) =>
  readRow(row, { adapter, mode: 'test', references } as Gateway);
function evidence(adapter: ServiceAdapter, record: unknown = RECORD): Evidence {
  const read = adapter.read(record);
  if (read === null) throw new Error('the adapter cannot read it');
  return evidenceOf(read, { reference: REFERENCE, mode: 'test' }, adapter, { httpStatus: 200, body: '' });
}
/** The sandbox's adapter, with members of each reading replaced. */
const reading = (more: object) => ({
  ...sandbox,
  read: (record: unknown) => {
    const read = sandbox.read(record);
    return read && { ...read, ...more };
  },
});

test.each<[string, object, object]>([
  ['an empty doubt', { doubt: '' }, RECORD],
  ['no doubt', { doubt: undefined }, RECORD],
  ['an empty id', { id: '' }, { ...RECORD, id: null }],
  ['no id', { id: undefined }, { ...RECORD, id: null }],
  ['no currency', { currency: undefined }, { ...RECORD, currency: null }],
  ['an empty currency', { currency: '' }, { ...RECORD, currency: null }],
  ['no reference', { reference: undefined }, { ...RECORD, reference: null }],
  ['no amount', { amount: undefined }, { ...RECORD, amount: null }],
])('a reading with %s is treated as one with null', (_, more, record) => {
  const [{ adapter, faults }, plain] = [check(reading(more)), check(sandbox).adapter];
  expect(adapter.read(RECORD)).toEqual(plain.read(record));
  expect(evidence(adapter)).toEqual(evidence(plain, record));
  expect(rowOf(adapter)).toEqual(rowOf(plain, record));
  expect(faults).toEqual([]);
});

test('an exactly paid payment with an empty doubt is proven', () => {
  expect(evidence(check(reading({ doubt: '' })).adapter)).toMatchObject({
    outcome: 'paid',
    balance: 850_000n,
    doubt: null,
  });
});

test('a pending record without a currency is pending', () => {
  const { adapter } = check(reading({ status: 'pending', word: 'PENDING', currency: undefined, amount: undefined }));
  expect(evidence(adapter)).toMatchObject({ outcome: 'pending' });
});

test('an undefined reference in a webhook does not affect the others', () => {
  const webhook = { ...sandbox.webhook, references: () => [undefined, REFERENCE, null] };
  const { adapter, faults } = check({ ...sandbox, webhook });
  const named = adapter.webhook.references({}).map((one) => references.parse(one));
  expect(named.filter((one) => one !== null)).toEqual([REFERENCE]);
  expect(faults).toEqual([]);
});

test('a row is ours if isForeign returns nothing', () => {
  const history = { ...sandbox.history, isForeign: (row: unknown) => (at(row, 'till') === true ? true : undefined) };
  const { adapter, faults } = check({ ...sandbox, history });
  expect(rowOf(adapter)).toMatchObject({ aside: false, row: { reference: REFERENCE, received: 850_000n } });
  expect(rowOf(adapter, { ...RECORD, till: true })).toMatchObject({ aside: true });
  expect(faults).toEqual([]);
});

/** An adapter of classes whose members use one another by `this`. */
class History {
  list = '/list';
  days = 90;
  get filters() {
    return this.days > 0;
  }
  get lagMin() {
    return this.days / 30;
  }
  get reachesBackDays() {
    return this.days;
  }
  first() {
    return `${this.list}?page=1`;
  }
  rows(page: unknown) {
    return sandbox.history.rows(page);
  }
  next(_page: unknown, { number }: PagePosition) {
    return `${this.list}?page=${number + 1}`;
  }
  isForeign(row: unknown) {
    return at(row, 'list') === this.list;
  }
}
class Hooks {
  field = 'named';
  references(body: unknown) {
    return [String(at(body, this.field))];
  }
  signature({ secret }: SignedMessage) {
    return secret === 'secret';
  }
  get acknowledgement() {
    return { status: 200, contentType: 'text/plain', body: 'OK' };
  }
}
class Base {
  unit = 'minor' as const;
  days = 4;
  get amountUnit() {
    return this.unit;
  }
  get decimals() {
    return { NGN: 2 };
  }
  get payableDays() {
    return this.days;
  }
  read(record: unknown) {
    return sandbox.read(record);
  }
}
class Service extends Base {
  header = 'authorization';
  history = new History();
  webhook = new Hooks();
  initialize = sandbox.initialize;
  verify = sandbox.verify;
  balances = { path: '/balances', read: () => [{ currency: 'NGN', amount: 5 }] };
  get checkoutLifetimeMin() {
    return this.days * 5;
  }
  get reference() {
    return { length: 30, alphabet: '0123456789abcdef' };
  }
  authorize(key: string) {
    return { [this.header]: key };
  }
}

test('an adapter that is an instance of a class works like a plain object', () => {
  const { adapter, faults } = check(new Service());
  const { amountUnit, decimals, payableDays, checkoutLifetimeMin, reference } = adapter;
  expect({ amountUnit, decimals, payableDays, checkoutLifetimeMin, reference }).toEqual({
    ...{ amountUnit: 'minor', decimals: { NGN: 2 }, payableDays: 4, checkoutLifetimeMin: 20 },
    reference: { length: 30, alphabet: '0123456789abcdef' },
  });
  expect(adapter.read(RECORD)).toEqual(check(sandbox).adapter.read(RECORD));
  expect(evidence(adapter)).toMatchObject({ outcome: 'paid', balance: 8_500n });
  expect(adapter.authorize?.('key')).toEqual({ authorization: 'key' });
  expect(adapter.initialize.checkoutUrl({ data: 'https://pay.example/1' })).toBe('https://pay.example/1');
  expect(adapter.verify.record({ data: RECORD })).toBe(RECORD);
  expect(adapter.balances?.path).toBe('/balances');
  expect(adapter.balances?.read({})).toEqual([{ currency: 'NGN', amount: 5 }]);
  expect(faults).toEqual([]);
});

test('the history and the webhooks of such an adapter work, too', () => {
  const { adapter, faults } = check(new Service());
  const { filters, lagMin, reachesBackDays } = adapter.history;
  expect({ filters, lagMin, reachesBackDays }).toEqual({ filters: true, lagMin: 3, reachesBackDays: 90 });
  expect(adapter.history.first({ since: null, until: null })).toBe('/list?page=1');
  expect(adapter.history.next({}, { path: '/list', number: 1, rows: 5 })).toBe('/list?page=2');
  expect(rowOf(adapter)).toMatchObject({ aside: false, row: { received: 8_500n } });
  expect(rowOf(adapter, { ...RECORD, list: '/list' })).toMatchObject({ aside: true });
  const { acknowledgement, signature } = adapter.webhook;
  expect(acknowledgement).toEqual({ status: 200, contentType: 'text/plain', body: 'OK' });
  expect(adapter.webhook.references({ named: REFERENCE })).toEqual([REFERENCE]);
  const message = { headers: {}, body: Buffer.from(''), now: new Date() };
  expect(['secret', 'another'].map((secret) => signature?.({ ...message, secret }))).toEqual([true, false]);
  expect(faults).toEqual([]);
});

test.each<[string, object]>([
  ['that is frozen', Object.freeze({ ...sandbox })],
  ['whose history is frozen', { ...sandbox, history: Object.freeze({ ...sandbox.history }) }],
  ['whose webhook is frozen', { ...sandbox, webhook: Object.freeze({ ...sandbox.webhook }) }],
])('an adapter %s works like any other', (_, adapter) => {
  expect(check(adapter as typeof sandbox).adapter.read(RECORD)).toEqual(check(sandbox).adapter.read(RECORD));
});

test.each([null, '', 0, undefined, false])('a row is ours if isForeign returns %j', (said) => {
  const isForeign = () => said as unknown as boolean;
  const { adapter, faults } = check({ ...sandbox, history: { ...sandbox.history, isForeign } });
  expect(rowOf(adapter)).toEqual(rowOf(check(sandbox).adapter));
  expect(faults).toEqual([]);
});

test.each([' ', '\n', '\0', `${' '.repeat(400)}under review`])('the doubt %j remains a doubt', (doubt) => {
  const { doubt: read } = check(reading({ doubt })).adapter.read(RECORD) ?? {};
  expect(read).toMatch(/./);
});

test('a reading with getters of a class is read completely', () => {
  class Read {
    get mode() {
      return 'live' as const;
    }
  }
  const { reference = null, status = 'paid', word = '', amount = null, currency = null } = sandbox.read(RECORD) ?? {};
  const read = () => Object.assign(new Read(), { reference, status, word, amount, currency });
  const given = check({ ...sandbox, read }).adapter.read(RECORD);
  expect(given).toMatchObject({ mode: 'live' });
});

test('an isForeign that returns a promise is a fault', () => {
  const isForeign = () => Promise.resolve(false) as unknown as boolean;
  const { adapter, faults } = check({ ...sandbox, history: { ...sandbox.history, isForeign } });
  expect(rowOf(adapter)).toMatchObject({ unreadable: expect.stringMatching(/isForeign/) as unknown });
  expect(faults).toHaveLength(1);
});
