import { mayBeJson } from '../http/content-type.ts';
import type { Client, ClientAnswer } from '../http/client.ts';
import { ClientError } from '../http/client-error.ts';
import type { Dialect } from '../dialect/dialect.ts';
import { GatewayUnavailable } from '../errors.ts';
import { readHints } from '../history/paging-hints.ts';
import { at, isRecord, readJson, type Json } from '../dialect/json-pointer.ts';
import { isFailedCall } from '../records/envelope.ts';
import { throwOnErrorStatus } from '../verify.ts';

/** A listing that cannot be used for the cash proof. The message says why. */
export class CashUnreadable extends Error {}

/** One record of a listing. `key`: the name of its property, where the listing is an object by currency. */
export type CashRecord = { record: Json; key: string | null };

export type ListingForm = NonNullable<Dialect['balances']>['form'];

const LIMITS = { headersMs: 8_000, totalMs: 30_000, maxBytes: 8 * 1024 * 1024 };

/**
 * Requests a whole listing.
 * @throws {CashUnreadable} {@link GatewayUnavailable} {@link GatewayKeyRefused}
 */
export async function askListing(
  client: Client,
  path: string,
): Promise<{ document: Json; answer: ClientAnswer }> {
  const answer = await client.call({ method: 'GET', path, ...LIMITS }).catch((error: unknown) => {
    throw error instanceof ClientError ? new GatewayUnavailable(error.message, null, error) : error;
  });
  throwOnErrorStatus(answer);
  if (answer.status !== 200 || !mayBeJson(answer.headers))
    throw new CashUnreadable(`${path} answers with HTTP ${answer.status} and nothing that can be read`);
  try {
    return { document: readJson(answer.body), answer };
  } catch {
    throw new CashUnreadable(`the answer of ${path} is not JSON`);
  }
}

/** The records of a listing in one of its forms. @throws {CashUnreadable} */
export function recordsIn(
  document: Json,
  { path, pointers, form }: { path: string; pointers: readonly string[]; form: ListingForm },
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
export function assertComplete(
  { document, answer }: { document: Json; answer: ClientAnswer },
  path: string,
  { records, dialect }: { records: number; dialect: Dialect },
): void {
  const { hasMore, total } = readHints(document, answer.headers, dialect.history.paging);
  if (hasMore === true || (total ?? 0) > records)
    throw new CashUnreadable(`${path} lists only a part: the sum of a part proves nothing`);
}
