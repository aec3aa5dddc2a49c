import { mayBeJson } from './content-type.ts';
import type { Client } from './client.ts';
import { ClientError } from './client.ts';
import type { Dialect } from './dialect.ts';
import { GatewayUnavailable } from './errors.ts';
import { classOf } from './evidence.ts';
import { readHints } from './history-hints.ts';
import { minorDigits, parseMajor } from '../platform/money.ts';
import { at, firstAt, isRecord, numberText, readJson, stringOf, type Json } from './reading.ts';
import { refuseErrors } from './verify.ts';

/** What the service holds and has paid out, per currency, in minor units. */
export type Cash = Map<string, { available: bigint; pending: bigint; transferred: bigint }>;

type Listing = NonNullable<Dialect['balances']> & { pending?: readonly string[] | undefined };

/** The lists cannot be used for a proof. The message says why. */
export class CashUnreadable extends Error {}

const LIMITS = { headersMs: 8_000, totalMs: 30_000, maxBytes: 8 * 1024 * 1024 };

/**
 * Asks for balances and transfers, once each.
 * @throws {CashUnreadable} {@link GatewayUnavailable} {@link GatewayKeyRefused}
 */
export async function readCash(
  client: Client,
  dialect: Dialect,
  { balances, transfers }: { balances: Listing; transfers: Listing },
): Promise<Cash> {
  const cash: Cash = new Map();
  const of = (currency: string): { available: bigint; pending: bigint; transferred: bigint } => {
    const sums = cash.get(currency) ?? { available: 0n, pending: 0n, transferred: 0n };
    cash.set(currency, sums);
    return sums;
  };
  for (const record of await recordsOf(client, dialect, balances)) {
    const currency = currencyIn(record, balances);
    const amount = amountAt(record, balances.amount, currency, dialect);
    const isPending = classOf(firstAt(record, balances.status, stringOf), dialect) === 'pending';
    of(currency)[isPending ? 'pending' : 'available'] += amount;
    if (balances.pending !== undefined)
      of(currency).pending += amountAt(record, balances.pending, currency, dialect);
  }
  for (const record of await recordsOf(client, dialect, transfers)) {
    // Money leaves the balance when it is sent. What failed or came back is in it again.
    const status = classOf(firstAt(record, transfers.status, stringOf), dialect);
    if (status === 'failed' || status === 'expired' || status === 'reversed') continue;
    const currency = currencyIn(record, transfers);
    of(currency).transferred += amountAt(record, transfers.amount, currency, dialect);
  }
  return cash;
}

async function recordsOf(client: Client, dialect: Dialect, listing: Listing): Promise<Json[]> {
  const { path } = listing;
  const answer = await client.call({ method: 'GET', path, ...LIMITS }).catch((error: unknown) => {
    throw error instanceof ClientError ? new GatewayUnavailable(error.message, null, error) : error;
  });
  refuseErrors(answer);
  if (answer.status !== 200 || !mayBeJson(answer.headers))
    throw new CashUnreadable(`${path} answers with HTTP ${answer.status} and nothing that can be read`);
  let document: Json;
  try {
    document = readJson(answer.body);
  } catch {
    throw new CashUnreadable(`the answer of ${path} is not JSON`);
  }
  const records = firstAt(document, listing.records, (value) =>
    Array.isArray(value) ? (value as Json[]) : null,
  );
  if (records === null) throw new CashUnreadable(`${path} holds no list where the dialect looks for one`);
  const { hasMore, total } = readHints(document, dialect.history.paging);
  if (hasMore === true || (total ?? 0) > records.length)
    throw new CashUnreadable(`${path} lists only a part: the sum of a part proves nothing`);
  return records;
}

function currencyIn(record: Json, { path, currency }: Listing): string {
  const code = firstAt(record, currency, (value) => {
    const text = stringOf(value)?.toUpperCase() ?? '';
    return minorDigits(text) === null ? null : text;
  });
  if (code === null || !isRecord(record)) throw new CashUnreadable(`a record of ${path} names no currency`);
  return code;
}

/** A balance may be below zero: more went back than is left. */
function amountAt(
  record: Json,
  pointers: readonly string[],
  currency: string,
  { amountUnit }: Dialect,
): bigint {
  const text = pointers.map((pointer) => numberText(at(record, pointer))).find((one) => one !== null) ?? '';
  const digits = text.replace(/^-/, '');
  const minor =
    amountUnit === 'major' ? parseMajor(digits, currency) : /^\d{1,18}$/.test(digits) ? BigInt(digits) : null;
  if (minor === null) throw new CashUnreadable(`an amount in ${currency} cannot be read`);
  return text.startsWith('-') ? -minor : minor;
}
