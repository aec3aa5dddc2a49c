import type { Reference } from '../platform/ids.ts';
import type { Dialect } from './dialect/dialect.ts';
import { classOf, type StatusClass } from './records/evidence.ts';
import { at, firstAt, tryReadJson, stringOf } from './dialect/json-pointer.ts';

/**
 * The status that a webhook about `reference` gives for its payment, in our words. The webhook's record
 * is the object that holds the reference, read with verify's pointers. Null when it gives no status that
 * we know. It is never trusted, only compared with verify's answer.
 */
export function readWebhookWord(body: Buffer, reference: Reference, dialect: Dialect): StatusClass | null {
  const document = tryReadJson(body);
  const pointer = dialect.webhook.reference.find((one) => stringOf(at(document, one)) === reference);
  if (pointer === undefined) return null;
  const record = at(document, pointer.slice(0, pointer.lastIndexOf('/')));
  const said = classOf(firstAt(record, dialect.verify.status, stringOf), dialect);
  return said === 'unknown' ? null : said;
}
