import type { Reading, ServiceAdapter, TransferReading } from './adapter.ts';
import { textOf } from './errors.ts';
import { storable } from './evidence.ts';

/**
 * The adapter is the shop's own code, so this file checks everything that it returns before
 * anything is stored or counted. An invalid value raises an error with the member's name, and only
 * the record or page that caused it is unreadable. Types alone do not protect, because adapters may
 * be written in JavaScript and a service may change its answers.
 */

/** An error of an adapter. `member` is a path like `webhook.references`. */
export type AdapterFault = { member: string; message: string };

/** In characters. A longer text does not fit into an index. */
const MAX_TEXT = 200;
/** The database accepts neither NUL nor half of a surrogate pair. */
const STORABLE = /^[^\p{Cc}\p{Cs}]*$/u;
const STATUSES: readonly unknown[] = ['paid', 'pending', 'failed', 'expired', 'reversed', 'unknown'];

/**
 * Calls a member and checks its result. `faultOf` returns what is wrong with the result, or null.
 */
type Call = <T>(member: string, work: () => T, faultOf: (result: unknown) => string | null) => T;

/**
 * Returns the adapter with every result checked.
 * @param onFault is called for each invalid result, and for each error that the adapter throws
 * @param redact removes the secret key from the text of an error
 */
export function checkedAdapter(
  adapter: ServiceAdapter,
  onFault: (fault: AdapterFault) => void,
  redact = (text: string): string => text,
): ServiceAdapter {
  const call: Call = (member, work, faultOf) => {
    const outcome = attempt(work);
    if ('thrown' in outcome) {
      const { thrown } = outcome;
      // An error's message may quote the record or the key, so it is kept only with the answer
      // concerned.
      onFault({ member, message: `throws ${nameOf(thrown)}` });
      const detail = member === 'authorize' ? nameOf(thrown) : storable(redact(textOf(thrown)));
      throw new Error(`${member} throws ${detail}`);
    }
    const { result } = outcome;
    const fault = faultOf(result);
    if (fault === null) return result;
    onFault({ member, message: fault });
    throw new Error(`${member} ${fault}`);
  };
  const { authorize, webhook, transfers, balances } = adapter;
  const members: Partial<ServiceAdapter> = {
    initialize: checkedInitialize(adapter.initialize, call),
    verify: { record: (answer) => call('verify.record', () => adapter.verify.record(answer), anything) },
    history: checkedHistory(adapter.history, call),
    read: (record) => whole(call('read', () => adapter.read(record), faultOfReading)),
    webhook: over(webhook, {
      references: (event) => call('webhook.references', () => webhook.references(event), list),
    }),
  };
  if (authorize !== undefined)
    members.authorize = (key) => call('authorize', () => authorize.call(adapter, key), headers);
  if (transfers !== undefined) members.transfers = checkedTransfers(transfers, call);
  if (balances !== undefined) {
    const read = (answer: unknown) => call('balances.read', () => balances.read(answer), faultOfBalances);
    members.balances = over(balances, { read });
  }
  return over(adapter, members);
}

function checkedInitialize(initialize: ServiceAdapter['initialize'], call: Call): ServiceAdapter['initialize'] {
  const { body } = initialize;
  const checkoutUrl = (answer: unknown) =>
    call('initialize.checkoutUrl', () => initialize.checkoutUrl(answer), faultOfCheckoutUrl);
  if (body === undefined) return { checkoutUrl };
  return { checkoutUrl, body: (fields) => call('initialize.body', () => body.call(initialize, fields), anything) };
}

function checkedHistory(history: ServiceAdapter['history'], call: Call): ServiceAdapter['history'] {
  const { isForeign } = history;
  const members: Partial<ServiceAdapter['history']> = {
    first: (window) => call('history.first', () => history.first(window), path),
    rows: (page) => call('history.rows', () => history.rows(page), listOrNull),
    next: (page, at) => call('history.next', () => history.next(page, at), pathOrNull),
  };
  // A truthy result means yes, because adapters of version 1.0.0 also return texts and numbers.
  if (isForeign !== undefined)
    members.isForeign = (row) => {
      const answer: unknown = call('history.isForeign', () => isForeign.call(history, row), noObject);
      return Boolean(answer);
    };
  return over(history, members);
}

type Transfers = NonNullable<ServiceAdapter['transfers']>;

function checkedTransfers(transfers: Transfers, call: Call): Transfers {
  return {
    first: () => call('transfers.first', () => transfers.first(), path),
    rows: (page) => call('transfers.rows', () => transfers.rows(page), listOrNull),
    next: (page, at) => call('transfers.next', () => transfers.next(page, at), pathOrNull),
    read: (row) => call('transfers.read', () => transfers.read(row), faultOfTransfer),
  };
}

function attempt<T>(work: () => T): { result: T } | { thrown: unknown } {
  try {
    return { result: work() };
  } catch (thrown) {
    return { thrown };
  }
}

/**
 * A copy of an object in which some members are replaced. The original may be frozen or an instance
 * of a class.
 */
function over<T extends object>(original: T, members: Partial<T>): T {
  const properties = Object.entries(members).map(([name, value]) => [name, { value, enumerable: true }] as const);
  return Object.create(original, Object.fromEntries(properties)) as T;
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.constructor.name : kindOf(error));

/** A text for people, without the characters that cannot be stored. */
function forPeople(text: string): string {
  const printable = text
    .slice(0, 2 * MAX_TEXT)
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ');
  return printable.trim().slice(0, MAX_TEXT).toWellFormed();
}

/**
 * A checked reading with all members: null if the adapter omits a member or returns an empty text.
 * Whether a record has a doubt decides about money, so a doubt without any printable character
 * remains a doubt.
 */
function whole(reading: Reading | null): Reading | null {
  if (reading === null) return null;
  const text = (value: string | null | undefined) => (value === undefined || value === '' ? null : value);
  const { status, word, reference, currency, amount, id, mode, refunded } = reading;
  const doubt = text(reading.doubt);
  const doubted = doubt === null ? null : forPeople(doubt);
  return {
    status,
    word: forPeople(word),
    reference: text(reference),
    currency: text(currency),
    amount: amount ?? null,
    id: text(id),
    mode: mode ?? null,
    refunded: refunded ?? null,
    doubt: doubted === '' ? 'the adapter gives no reason' : doubted,
  };
}

/**
 * @returns what is wrong with a reading, as the end of a sentence that begins with `read`; null if
 * the reading can be stored
 */
function faultOfReading(reading: unknown): string | null {
  if (reading === null) return null;
  if (typeof reading !== 'object') return `returns ${kindOf(reading)}, and not a reading or null`;
  const { status, word, reference, currency, id, doubt, mode, amount, refunded } = reading as Partial<
    Record<keyof Reading, unknown>
  >;
  if (!STATUSES.includes(status)) return 'returns a status that is none of the six';
  if (typeof word !== 'string') return `returns ${kindOf(word)} as word, and not the service's status word`;
  if (mode != null && mode !== 'test' && mode !== 'live') return 'returns a mode that is neither test nor live';
  const texts = { reference, currency, id };
  if (doubt != null && typeof doubt !== 'string') return `returns ${kindOf(doubt)} as doubt, and not a text`;
  for (const [name, value] of Object.entries(texts)) {
    if (value == null) continue;
    if (typeof value !== 'string') return `returns ${kindOf(value)} as ${name}, and not a text`;
    if (value.length > MAX_TEXT) return `returns a ${name} of ${value.length} characters, more than ${MAX_TEXT}`;
    if (!STORABLE.test(value)) return `returns a ${name} with control characters`;
  }
  if (!isFigure(amount)) return `returns ${kindOf(amount)} as amount, and not a text or a number`;
  if (!isFigure(refunded)) return `returns ${kindOf(refunded)} as refunded, and not a text or a number`;
  return null;
}

const isFigure = (value: unknown): boolean => value == null || typeof value === 'string' || typeof value === 'number';

function faultOfCheckoutUrl(found: unknown): string | null {
  if (found === null || typeof found === 'string') return null;
  const refused = typeof found === 'object' ? (found as { refused?: unknown }).refused : undefined;
  return typeof refused === 'string' ? null : `returns ${kindOf(found)}, and not an address, {refused: text} or null`;
}

function headers(value: unknown): string | null {
  const isHeaders =
    typeof value === 'object' &&
    value !== null &&
    !(value instanceof Promise) &&
    Object.values(value).every((one) => typeof one === 'string');
  return isHeaders ? null : `returns ${kindOf(value)}, and not headers whose values are texts`;
}

function path(value: unknown): string | null {
  if (typeof value === 'string' && /^(\/|https?:\/\/)/.test(value)) return null;
  return `returns ${kindOf(value)}, and not a path that begins with /`;
}

function pathOrNull(value: unknown): string | null {
  return value === null ? null : path(value);
}

function listOrNull(value: unknown): string | null {
  return value === null || Array.isArray(value) ? null : `returns ${kindOf(value)}, and not a list or null`;
}

function list(value: unknown): string | null {
  return Array.isArray(value) ? null : `returns ${kindOf(value)}, and not a list of texts`;
}

const anything = (): null => null;

/** A promise is truthy in JavaScript, but it is not an answer. */
function noObject(value: unknown): string | null {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isObject ? `returns ${kindOf(value)}, and not true or false` : null;
}

function faultOfTransfer(transfer: unknown): string | null {
  if (transfer === null) return null;
  const { amount, currency } = Object(transfer) as Partial<Record<keyof TransferReading, unknown>>;
  return amount != null && isFigure(amount) && typeof currency === 'string'
    ? null
    : 'returns a transfer without amount or currency';
}

function faultOfBalances(balances: unknown): string | null {
  if (balances === null) return null;
  if (!Array.isArray(balances)) return `returns ${kindOf(balances)}, and not a list or null`;
  const isWhole = balances.every((one) => faultOfTransfer(one) === null && one !== null);
  return isWhole ? null : 'returns a balance without amount or currency';
}

/**
 * The kind of a value, like `a number` or `undefined`. The value itself is omitted, because it may
 * be personal or long.
 */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
