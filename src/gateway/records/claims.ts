import type { Dialect } from '../dialect/dialect.ts';
import { dialectSchema } from '../dialect/schema.ts';
import {
  isAmountsName,
  isCarrierName,
  isNestedName,
  isRecordKey,
  meaningOf,
  type Meaning,
} from './field-meaning.ts';
import { at, isRecord, type Json } from '../dialect/json-pointer.ts';
import { placesOfMode } from './field-values.ts';

/** Pointers to the fields of a record, from the dialect's verify or history. */
export type RecordPointers = Pick<Dialect['verify'], 'reference' | 'status' | 'amount' | 'currency'> &
  Partial<Pick<Dialect['verify'], 'mode'>>;

/** The fields that the dialect has pointers for. */
export type Repeated = 'reference' | 'status' | 'amount' | 'currency' | 'mode';

/** A field about the same payment as the fields that were read, so it has to agree with them. */
export type Claim = {
  /** Relative to the record. */
  pointer: string;
  value: Json;
  says:
    | Meaning
    /** Another pointer of the dialect for the same thing, or the currency inside the amount. */
    | { tells: 'again'; what: Repeated }
    /** A list of the payment's attempts. */
    | { tells: 'attempts' };
};

const ASSUMED = dialectSchema.parse({}).verify;
/** A payment's record may contain its transaction, which may contain its charge. */
const MAX_DEPTH = 6;

/**
 * The claims of a record. They depend on its keys and on where objects and lists are in it, never on
 * texts or numbers: records of one layout have the same claims. A field that a dialect file names is
 * decided, and its siblings are not consulted.
 */
export function claimsOf(record: Json, pointers: RecordPointers): Claim[] {
  const isWanted = wantedBy(pointers);
  const read = new Set(REPEATED.flatMap((what) => pointers[what] ?? []));
  const siblings = siblingsIn(record, '', 1);
  return [
    ...REPEATED.flatMap((what) => repeatedIn(record, what, placesOf(record, what, pointers))),
    ...currenciesOfAmount(record, pointers),
    ...siblings.filter((claim) => !read.has(claim.pointer) && isWanted(claim)),
  ];
}

/**
 * The claims of the fields around the record, which are about the same payment. Fields about the call
 * are handled before: see `isFailedCall`.
 * @param place of the record in the answer
 */
export function claimsAround(document: Json, place: string, pointers: RecordPointers): Claim[] {
  return envelopesAround(document, place)
    .flatMap((envelope) => siblingsIn(envelope, '', 1))
    .filter((claim) => claim.says.tells !== 'paid flag' && wantedBy(pointers)(claim))
    .map((claim) => (/^\/stat(us|e)$/i.test(claim.pointer) ? asPlace(claim) : claim));
}

/** The objects around the record at `place`, without what leads to it. */
export function envelopesAround(document: Json, place: string): Record<string, Json>[] {
  const keys = place.split('/').slice(1);
  return keys.flatMap((key, depth) => {
    const above = keys.slice(0, depth).map((each) => `/${each}`);
    const envelope = at(document, above.join(''));
    if (!isRecord(envelope)) return [];
    return [Object.fromEntries(Object.entries(envelope).filter(([name]) => name !== key))];
  });
}

function wantedBy(pointers: RecordPointers): (claim: Claim) => boolean {
  const [amount, currency, status] = (['amount', 'currency', 'status'] as const).map((what) =>
    isNamed(pointers, what),
  );
  return ({ says }) => {
    if (says.tells === 'amount') return !amount;
    if (says.tells === 'currency') return !currency;
    if (says.tells === 'kind') return true;
    return says.tells === 'taken back' ? !says.isWord || !status : !status;
  };
}

/** For a status: only a word that the dialect knows contradicts the payment there. */
function asPlace(claim: Claim): Claim {
  return claim.says.tells === 'status' ? { ...claim, says: { ...claim.says, isPlace: true } } : claim;
}

const REPEATED: readonly Repeated[] = ['reference', 'status', 'amount', 'currency', 'mode'];

/**
 * Whether a dialect file has named the field. A file that repeats the defaults exactly does not count:
 * `npm run dialect -- --json` writes such files without having seen a record.
 */
export function isNamed(pointers: RecordPointers, what: 'amount' | 'currency' | 'status'): boolean {
  return pointers[what].join() !== ASSUMED[what].join();
}

/**
 * All values that the pointers for one field find. An object that another pointer leads through is no
 * value: `/amount` of `/amount/value`.
 */
function repeatedIn(record: Json, what: Repeated, pointers: readonly string[]): Claim[] {
  const held = pointers
    .map((pointer): Claim => ({ pointer, value: at(record, pointer), says: { tells: 'again', what } }))
    .filter(({ pointer, value }) => {
      const isAround = isRecord(value) && pointers.some((other) => other.startsWith(`${pointer}/`));
      return value !== undefined && !isAround;
    });
  return held.length > 1 ? held : [];
}

function placesOf(record: Json, what: Repeated, pointers: RecordPointers): readonly string[] {
  return what === 'mode' ? placesOfMode(record, pointers.mode ?? []) : pointers[what];
}

/** The objects that contain the amount. */
function holdersOf({ amount }: RecordPointers): string[] {
  const holders = amount.map((pointer) => pointer.slice(0, pointer.lastIndexOf('/')));
  return [...new Set(holders)].filter((holder) => holder !== '');
}

/** A currency inside the amount belongs to that amount, whatever the pointers of the currency find. */
function currenciesOfAmount(record: Json, pointers: RecordPointers): Claim[] {
  return holdersOf(pointers)
    .flatMap((holder) => membersOf(at(record, holder), holder))
    .filter(({ name }) => name.toLowerCase() === 'currency')
    .map(({ pointer, value }) => ({ pointer, value, says: { tells: 'again', what: 'currency' } }));
}

/** The claims of an object's fields, of nested records of the same payment, and of the amounts inside it. */
function siblingsIn(object: Json, place: string, depth: number): Claim[] {
  const members = membersOf(object, place);
  const isAddress = members.some(({ name }) => ADDRESS.test(name));
  return members.flatMap(({ name, pointer, value }): Claim[] => {
    const says = meaningOf(name);
    const itself: Claim[] = says === null ? [] : [{ pointer, value, says }];
    if (isAmountsName(name)) return [...itself, ...amountsIn(value, pointer)];
    if (says !== null) return isAddress && name === 'state' ? itself.map(asPlace) : itself;
    if (!isNestedName(name)) return [];
    if (Array.isArray(value)) {
      const isOnly = value.length === 1 && depth < MAX_DEPTH;
      const only = isOnly ? siblingsIn(value[0], `${pointer}/0`, depth + 1) : [];
      return [{ pointer, value, says: { tells: 'attempts' } }, ...only];
    }
    const inside = depth < MAX_DEPTH ? siblingsIn(value, pointer, depth + 1) : [];
    return isCarrierName(name) ? inside.map(asPlace) : inside;
  });
}

/** Beside one of these, `state` may be a part of a country. */
const ADDRESS =
  /^(city|town|street|zip|(zip|post|postal)_?code|address(_?line)?_?1?|lga|province|region|country)$/i;

/** The claims of one of several attempts. */
export function claimsOfAttempt(attempt: Json): Claim[] {
  return siblingsIn(attempt, '', MAX_DEPTH);
}

function amountsIn(object: Json, place: string): Claim[] {
  return siblingsIn(object, place, MAX_DEPTH).filter(
    ({ says }) => says.tells === 'amount' || says.tells === 'currency',
  );
}

/** Whether a field is a record of the payment inside the payment's record, not only a part of it. */
export function isNestedRecord(name: string, value: Json): boolean {
  return isNestedName(name) && isRecord(value) && Object.keys(value).some(isRecordKey);
}

function membersOf(object: Json, place: string): { name: string; pointer: string; value: Json }[] {
  if (!isRecord(object)) return [];
  return Object.entries(object).map(([name, value]) => ({
    name,
    pointer: `${place}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    value,
  }));
}
