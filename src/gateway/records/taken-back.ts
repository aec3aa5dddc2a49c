import { foldWord } from '../dialect/dialect.ts';
import { isRecord, numberText, type Json } from '../dialect/json-pointer.ts';

/** Whether a field holds no value at all. */
export function isNothing(value: Json): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value === 'string') return value.trim() === '';
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}

/** Words for "there is none", or for a refund that did not happen: the money is still here. */
const NONE = new Set(
  [
    '- no none null nil false n na n/a never won failed rejected declined cancelled canceled'.split(' '),
    'eligible available refundable allowed possible enabled disabled'.split(' '),
    ['not refunded', 'not reversed', 'not disputed', 'not applicable', 'not requested', 'not initiated'],
    ['no refund', 'no dispute', 'no chargeback', 'unrefunded', 'undisputed', 'unclaimed', 'withdrawn'],
    ['not available', 'not eligible', 'no refund requested', 'no reversal'],
  ].flat(),
);

/** Zero in any notation, and the times that mean "not yet". */
const ZERO = /^[+-]?[A-Z]{0,3} ?0+([.,]0*)?(e[+-]?\d+)? ?[A-Z]{0,3}%?$|^(0000|0001)-|^1970-01-01T00:00:00/i;

/**
 * Whether the value of a field like `refunded`, `reversedAt` or `dispute` says that there is one: true, a
 * positive number, a time, an id, a record. Zero, false, null, an empty list and words for none do not.
 */
export function isTakenBack(value: Json): boolean {
  if (isNothing(value)) return false;
  if (typeof value === 'boolean') return value;
  if (Array.isArray(value)) return true;
  if (isRecord(value)) return isRecordTakenBack(value);
  const text = numberText(value) ?? '';
  return !ZERO.test(text) && !NONE.has(foldWord(text));
}

/** Fields that say where to find refunds, and whether refunds are possible. */
const OF_RULES = /^(href|url|uri|links?|_links|available|enabled|eligible|allowed|possible|days|policy)$/i;

/** `{"object": "list", "data": [], "total": 0}` holds none. Lists and sums decide first, then words. */
function isRecordTakenBack(record: Record<string, Json>): boolean {
  const members = Object.entries(record).filter(([name]) => !OF_RULES.test(name));
  const lists = members.map(([, value]) => value).filter((value) => Array.isArray(value));
  const sums = members
    .filter(([name]) => /amount|total|value|count|sum/i.test(name))
    .map(([, value]) => value);
  const known = sums.filter((value) => !isNothing(value));
  if (lists.length + known.length > 0)
    return lists.some((list) => list.length > 0) || known.some(isTakenBack);
  const words = members.filter(([name]) => /^(is|has|status|state)|refunded|reversed|disputed/i.test(name));
  const values = (words.length > 0 ? words : members).map(([, value]) => value);
  return values.some(isTakenBack);
}
