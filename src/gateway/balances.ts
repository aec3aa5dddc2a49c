import { type Client, mayBeJson, type ClientAnswer } from './http/client.ts';
import type { BalancesListing, Dialect, TransfersListing } from './dialect/dialect.ts';
import { classOf, isFailedCall, type StatusClass } from './records/evidence.ts';
import { amountOf, currencyOf, decimalText } from './records/field-values.ts';
import {
  at,
  firstAt,
  numberText,
  stringOf,
  type Json,
  isRecord,
  tryReadJson,
} from './dialect/json-pointer.ts';
import { asUnavailable } from './errors.ts';
import { readHints } from './history/paging-hints.ts';
import { throwOnErrorStatus } from './verify.ts';

/** What the service holds and has paid out, per currency, in minor units. */
export type Cash = Map<string, CashOfCurrency>;

type CashOfCurrency = { available: bigint; pending: bigint; transferred: bigint; fees: bigint };
/** A transfer to the shop's bank as the service lists it. Amounts in minor units. */
export type Transfer = {
  /** Null: the record has none, and is only part of the sum. */
  reference: string | null;
  currency: string;
  amount: bigint;
  fee: bigint | null;
  status: StatusClass;
  /** It failed or was returned: the money is in the balance, or in it again. */
  isBack: boolean;
};

/**
 * Asks for balances, where the dialect names them, and transfers, once each.
 * @throws {CashUnreadable} {@link GatewayUnavailable} {@link GatewayKeyRefused}
 */
export async function readCash(
  client: Client,
  dialect: Dialect,
  { balances, transfers }: { balances: BalancesListing | null; transfers: TransfersListing },
): Promise<{ cash: Cash | null; transfers: Transfer[] }> {
  const cash: Cash = new Map();
  const sumsOf = (currency: string): CashOfCurrency => {
    const sums = cash.get(currency) ?? { available: 0n, pending: 0n, transferred: 0n, fees: 0n };
    cash.set(currency, sums);
    return sums;
  };
  if (balances !== null) await addBalances(client, dialect, balances, sumsOf);
  const listed = await readTransfers(client, dialect, transfers);
  for (const { currency, amount, fee } of listed.filter(({ isBack }) => !isBack)) {
    const sums = sumsOf(currency);
    sums.transferred += amount;
    sums.fees += fee ?? 0n;
  }
  return { cash: balances === null ? null : cash, transfers: listed };
}

async function addBalances(
  client: Client,
  dialect: Dialect,
  listing: BalancesListing,
  sumsOf: (currency: string) => CashOfCurrency,
): Promise<void> {
  const { path, form, amount, pending, total, pendingRecords, fees, status = [] } = listing;
  const listed = await askListing(client, path);
  const recordsAt = (pointers: readonly string[]): CashRecord[] =>
    recordsIn(listed.document, { path, pointers, form });
  const records = recordsAt(listing.records);
  if (form === 'list') assertComplete(listed, path, { records: records.length, dialect });
  for (const one of records) {
    const currency = currencyOfRecord(one, listing);
    const read = (pointers: readonly string[]): bigint => amountAt(one.record, pointers, currency, dialect);
    const sums = sumsOf(currency);
    const held = read(amount);
    const isPending = classOf(firstAt(one.record, status, stringOf), dialect) === 'pending';
    sums[isPending ? 'pending' : 'available'] += held;
    if (fees !== undefined) sums.fees += sizeOf(read(fees));
    if (pending !== undefined) sums.pending += read(pending);
    if (total !== undefined) sums.pending += read(total) - held;
  }
  for (const one of pendingRecords === undefined ? [] : recordsAt(pendingRecords)) {
    const currency = currencyOfRecord(one, listing);
    sumsOf(currency).pending += amountAt(one.record, amount, currency, dialect);
  }
}

async function readTransfers(
  client: Client,
  dialect: Dialect,
  listing: TransfersListing,
): Promise<Transfer[]> {
  const { path } = listing;
  const listed = await askListing(client, path);
  const records = recordsIn(listed.document, { path, pointers: listing.records, form: 'list' });
  assertComplete(listed, path, { records: records.length, dialect });
  return records.flatMap((one) => {
    const status = classOf(firstAt(one.record, listing.status, stringOf), dialect);
    const isBack = status === 'failed' || status === 'expired' || status === 'reversed';
    try {
      const currency = currencyOfRecord(one, listing);
      const read = (pointers: readonly string[]): bigint => amountAt(one.record, pointers, currency, dialect);
      const reference = firstAt(one.record, listing.reference, numberText);
      const fee = listing.fee === undefined ? null : sizeOf(read(listing.fee));
      return [{ reference, currency, amount: read(listing.amount), fee, status, isBack }];
    } catch (error) {
      // What never left the balance, or is in it again, need not be readable.
      if (isBack && error instanceof CashUnreadable) return [];
      throw error;
    }
  });
}

function currencyOfRecord(
  { record, key }: CashRecord,
  { path, currency = [], assumedCurrency }: Pick<BalancesListing, 'path' | 'currency' | 'assumedCurrency'>,
): string {
  if (key !== null) {
    const code = currencyOf(key);
    if (code !== null) return code;
    throw new CashUnreadable(
      `"${key.slice(0, 40)}" in ${path} is no currency: check balances in the dialect`,
    );
  }
  // Unknown is not absent: `assumedCurrency` does not replace a code that ISO 4217 does not know.
  const isNamed = currency.some((pointer) => at(record, pointer) !== undefined);
  const code = isNamed ? firstAt(record, currency, currencyOf) : (assumedCurrency ?? null);
  if (code === null) throw new CashUnreadable(`a record of ${path} names no currency`);
  return code;
}

/** Some services write fees with a minus, some without. */
function sizeOf(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}

/** A balance may be negative: more was refunded than is left. */
function amountAt(
  record: Json,
  pointers: readonly string[],
  currency: string,
  { amountUnit }: Dialect,
): bigint {
  const text = pointers.map((pointer) => decimalText(at(record, pointer))).find((one) => one !== null) ?? '';
  const minor = amountOf(text.replace(/^-/, ''), currency, amountUnit);
  if (minor === null) throw new CashUnreadable(`an amount in ${currency} cannot be read`);
  return text.startsWith('-') ? -minor : minor;
}

/** A listing that cannot be used for the cash proof. The message says why. */
export class CashUnreadable extends Error {}

/** One record of a listing. `key`: the name of its property, where the listing is an object by currency. */
type CashRecord = { record: Json; key: string | null };

const LIMITS = { headersMs: 8_000, totalMs: 30_000, maxBytes: 8 * 1024 * 1024 };

/**
 * Requests a whole listing.
 * @throws {CashUnreadable} {@link GatewayUnavailable} {@link GatewayKeyRefused}
 */
async function askListing(client: Client, path: string): Promise<{ document: Json; answer: ClientAnswer }> {
  const answer = await client.call({ method: 'GET', path, ...LIMITS }).catch((error: unknown) => {
    throw asUnavailable(error);
  });
  throwOnErrorStatus(answer);
  if (answer.status !== 200 || !mayBeJson(answer.headers))
    throw new CashUnreadable(`${path} answers with HTTP ${answer.status} and nothing that can be read`);
  const document = tryReadJson(answer.body);
  if (document === undefined) throw new CashUnreadable(`the answer of ${path} is not JSON`);
  return { document, answer };
}

/** The records of a listing in one of its forms. @throws {CashUnreadable} */
function recordsIn(
  document: Json,
  { path, pointers, form }: { path: string; pointers: readonly string[]; form: BalancesListing['form'] },
): CashRecord[] {
  if (pointers.some((pointer) => isFailedCall(document, pointer)))
    throw new CashUnreadable(`${path} answers with a failure inside HTTP 200`);
  const found = pointers.map((pointer) => at(document, pointer));
  if (form === 'list') {
    const list = found.find((value) => Array.isArray(value));
    if (list !== undefined) return (list as Json[]).map((record) => ({ record, key: null }));
    throw new CashUnreadable(`${path} holds no list where the dialect looks for one`);
  }
  const record = found.find(isRecord);
  if (record === undefined)
    throw new CashUnreadable(`${path} holds no object where the dialect looks for one`);
  if (form === 'one') return [{ record, key: null }];
  return Object.entries(record).map(([key, value]) => ({ record: value, key }));
}

/** @throws {CashUnreadable} the answer says that there is more than it holds */
function assertComplete(
  { document, answer }: { document: Json; answer: ClientAnswer },
  path: string,
  { records, dialect }: { records: number; dialect: Dialect },
): void {
  const { hasMore, total } = readHints(document, answer.headers, dialect.history.paging);
  if (hasMore === true || (total ?? 0) > records)
    throw new CashUnreadable(`${path} lists only a part: the sum of a part proves nothing`);
}
