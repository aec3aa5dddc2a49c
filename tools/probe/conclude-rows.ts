import type { Dialect } from '../../src/gateway/dialect/dialect.ts';
import { at, stringOf, type Json } from '../../src/gateway/dialect/json-pointer.ts';
import { rowPointers } from '../../src/gateway/history/row-parser.ts';
import { readEvidence, type Evidence } from '../../src/gateway/records/evidence.ts';
import { finding, quoted, type Finding } from './finding.ts';
import type { Observed, Sent } from './observed.ts';
import { changedWords, isNothing, isOneOf, isWord, placesOf } from './places.ts';
import { minorOf } from './conclude-record.ts';

const FIELDS = ['reference', 'status', 'amount', 'currency'] as const;
type Field = (typeof FIELDS)[number];

/** A record of ours in the list, and the payment that it is about. */
type Row = { row: Json; sent: Sent; isPaid: boolean };

/**
 * Whether the list's records are read with verify's pointers. Where they are not, the same fields are looked for
 * deeper in the record, at one place for all of them, and then by what they hold.
 * @param read the dialect in force with what verify showed
 */
export function concludeRows(observed: Observed, dialect: Dialect, read: Dialect): Finding[] {
  const { sent, isSaidPaid, history } = observed;
  const rows = history.walked.rows.flatMap((row): Row[] => {
    const index = sent.findIndex(({ reference }) => isOneOf(row, [reference]));
    const payment = sent[index];
    return payment === undefined ? [] : [{ row, sent: payment, isPaid: index === 0 && isSaidPaid }];
  });
  const pointers = rowPointers(read);
  const isRead = (name: Field, tried: readonly string[]): boolean =>
    rows.every((one) =>
      shows(
        one,
        name,
        readEvidence(one.row, { ...pointers, [name]: tried }, read, observed.currency),
        observed,
      ),
    );
  const places = placesOf(rows[0]?.row, (value) => value === rows[0]?.sent.reference);
  const around = places.map((place) => withoutEnd(place, pointers.reference));
  return FIELDS.flatMap((name): Finding[] => {
    const key = `history.${name}`;
    const inForce = dialect.history[name] ?? 'as in verify';
    if (isRead(name, pointers[name]))
      return name === 'reference' ? [finding(key, 'agrees', quoted(places), inForce)] : [];
    const deeper = around.map((prefix) => pointers[name].map((pointer) => `${prefix}${pointer}`));
    const change = [...deeper, ...(name === 'reference' ? [places] : [])].find((tried) =>
      isRead(name, tried),
    );
    if (change !== undefined) {
      const held = change.filter((pointer) => at(rows[0]?.row, pointer) !== undefined);
      return [{ ...finding(key, 'differs', quoted(held), inForce), change: held }];
    }
    const held = placesOf(rows[0]?.row, () => true).filter((place) =>
      rows.every((one) => holds(at(one.row, place), one, name, observed)),
    );
    if (held.length === 1) return [{ ...finding(key, 'differs', quoted(held), inForce), change: held }];
    const seen =
      held.length > 1 ? `one of ${quoted(held)}` : `the list does not show the ${name} as verify does`;
    return [finding(key, 'cannot tell', seen, inForce)];
  });
}

/**
 * Whether a value of the row is what we know of the payment. A word tells how far the money is only if it
 * changed in verify, and stands in the paid row and in no other.
 */
function holds(value: Json, { sent, isPaid }: Row, name: Field, observed: Observed): boolean {
  if (name === 'reference') return value === sent.reference;
  if (name === 'currency') return stringOf(value)?.toUpperCase() === observed.currency;
  if (name === 'amount') return minorOf(value, observed) === sent.amount || (!isPaid && isNothing(value));
  const { after, sent: all, isSaidPaid } = observed;
  const [first] = all;
  if (first === undefined || after === null || !isSaidPaid) return false;
  const changed = changedWords(first.before.json, after.json);
  return (
    isWord(value) &&
    (isPaid ? changed.includes(value) : isOneOf(sent.before.json, [value]) && !changed.includes(value))
  );
}

/** Whether what was read is what we know of the payment. Before money came an amount may be anything. */
function shows(
  { sent, isPaid }: Row,
  name: Field,
  evidence: Evidence,
  { currency, after }: Observed,
): boolean {
  if (name === 'reference')
    return evidence.reference.is === 'read' && evidence.reference.value === sent.reference;
  if (name === 'currency') return evidence.currency.is === 'read' && evidence.currency.value === currency;
  if (name === 'amount')
    return evidence.amount.is === 'read' && (!isPaid || evidence.amount.value === sent.amount);
  const known = [sent.before.json, after?.json].flatMap((document) =>
    placesOf(document, isWord).map((place) => stringOf(at(document, place))),
  );
  return evidence.statusWord !== null && known.includes(evidence.statusWord);
}

/** What stands before one of the pointers; empty: nothing, or none of them ends the place. */
function withoutEnd(place: string, ends: readonly string[]): string {
  const end = ends.find((pointer) => place.endsWith(pointer));
  return end === undefined ? '' : place.slice(0, -end.length);
}
