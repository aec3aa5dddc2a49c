import { z } from 'zod';
import { dialectSchema, type Dialect } from './schema.ts';

export type { BalancesListing, Dialect, SignatureScheme, TransfersListing } from './schema.ts';

/** Every fault of a dialect file, each with the path of the key. */
export class DialectError extends Error {
  readonly faults: string[];

  constructor(faults: string[]) {
    super(faults.join('; '));
    this.name = 'DialectError';
    this.faults = faults;
  }
}

export type ParsedDialect = {
  dialect: Dialect;
  /** Whether the file itself names a signature scheme: an assumed scheme is not binding. */
  named: { signature: boolean };
  /** The parsed file, without defaults. */
  given: Record<string, unknown>;
};

/**
 * Reads a dialect file over the defaults, key by key.
 * @throws {DialectError}
 */
export function parseDialect(text: string): ParsedDialect {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw new DialectError([`the file is not JSON: ${(error as Error).message}`]);
  }
  const parsed = dialectSchema.safeParse(given);
  if (!parsed.success) throw new DialectError(faultsIn(parsed.error));
  const faults = contradictionsIn(parsed.data);
  if (faults.length > 0) throw new DialectError(faults);
  const named = z.object({ webhook: z.object({ signature: z.object({}) }) }).safeParse(given).success;
  return { dialect: parsed.data, named: { signature: named }, given: given as Record<string, unknown> };
}

/** Folds what services spell differently: case, and `_`, `-` or space between words. */
export function foldWord(word: string): string {
  return word
    .trim()
    .toLowerCase()
    .replace(/[_\- ]+/g, ' ');
}

/** Faults of settings that are valid one by one and contradict each other. */
function contradictionsIn({
  statuses,
  history: { paging, fee },
  webhook: { signature },
  balances,
  transfers,
}: Dialect): string[] {
  const rules: [boolean, string][] = [
    [
      signature?.signs.includes('timestamp') === true &&
        signature.timestampHeader === null &&
        signature.list === null,
      '/webhook/signature/timestampHeader: is needed when the timestamp is signed',
    ],
    [
      signature?.signs.includes('id') === true && signature.idHeader === null,
      '/webhook/signature/idHeader: is needed when the id is signed',
    ],
    [
      paging.windowDays !== null && (paging.sinceParam === null || paging.untilParam === null),
      '/history/paging/windowDays: needs sinceParam and untilParam, a window has two ends',
    ],
    [
      paging.windowFormat === 'date' && paging.windowDays !== null && paging.windowDays < 3,
      '/history/paging/windowDays: must be at least 3 with dates, because neighbouring windows share a day',
    ],
    [
      balances !== null && transfers === null,
      '/balances: needs transfers, without them no balance can be checked',
    ],
    [
      balances !== null &&
        balances.form !== 'by-currency' &&
        balances.currency === undefined &&
        balances.assumedCurrency === undefined,
      '/balances: needs currency, or assumedCurrency where no record names it',
    ],
    [
      [balances?.pending, balances?.total, balances?.pendingRecords].filter((one) => one !== undefined)
        .length > 1,
      '/balances: pending, total and pendingRecords say the same in three ways: name one of them',
    ],
    [
      fee !== undefined && balances?.fees !== undefined,
      '/history/fee: names the same money as /balances/fees, which would be taken off twice: name one of them',
    ],
  ];
  return [
    ...rules.filter(([broken]) => broken).map(([, fault]) => fault),
    ...repeatedWords(statuses).map((word) => `/statuses: "${word}" stands in two lists`),
  ];
}

/** A sentence for each list of status words that leaves out default words which then mean nothing. */
export function droppedWords({ statuses }: Dialect): string[] {
  const known = new Set(Object.values(statuses).flatMap((list) => list.map(foldWord)));
  return Object.entries(dialectSchema.parse({}).statuses).flatMap(([name, words]) => {
    const dropped = words.filter((word) => !known.has(word));
    if (dropped.length === 0) return [];
    return [
      `statuses.${name} replaces the default list, so ${dropped.join(', ')} is unknown now: ` +
        `add a word by statuses.also.${name}`,
    ];
  });
}

function repeatedWords(statuses: Dialect['statuses']): string[] {
  const all = Object.values(statuses).flatMap((list) => [...new Set(list.map(foldWord))]);
  return [...new Set(all.filter((word, at) => all.indexOf(word) !== at))];
}

/** What is wrong with a dialect file: each fault with the path of its key, and what is allowed there. */
function faultsIn(error: z.ZodError): string[] {
  return error.issues.flatMap((issue) => {
    const place = `/${issue.path.map(String).join('/')}`;
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map(
        (key) =>
          `${place === '/' ? '' : place}/${key}: is no key of the dialect${suggestion(key, issue.path)}`,
      );
    return [`${place}: ${inWords(issue)}`];
  });
}

function inWords(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_value') return `must be ${anyOf(issue.values)}`;
  if (issue.code === 'invalid_type') return `must be ${KINDS[issue.expected] ?? issue.expected}`;
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}`;
  if (issue.code === 'too_small') return EMPTY[issue.origin] ?? `must be at least ${issue.minimum}`;
  return issue.message;
}

const KINDS: Record<string, string> = {
  array: 'a list, like ["/data/reference"]',
  object: 'an object, like {"reference": ["/data/reference"]}',
  string: 'a text in quotes',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};
const EMPTY: Record<string, string> = {
  array: 'must name at least one pointer, for example "/data/reference"',
  string: 'must not be empty',
};

function anyOf(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(' or ');
}

/** The names that may be there, unless the name is that of another place. */
function suggestion(key: string, path: readonly PropertyKey[]): string {
  const elsewhere = DIALECT_KEYS.filter((pointer) => pointer.endsWith(`/${key}`));
  if (elsewhere.length > 0 && elsewhere.length <= 3)
    return `; did you mean ${elsewhere.map((pointer) => `"${pointer}"`).join(' or ')}?`;
  const here = namesAt(path);
  return here.length === 0 ? '' : `; allowed: ${here.join(', ')}`;
}

type Shape = Record<string, z.core.$ZodType>;

/** The members of an object's schema, without its wrappers for defaults and nulls; null: it is no object. */
function shapeOf(schema: z.core.$ZodType): Shape | null {
  const { def } = schema._zod;
  if ('shape' in def) return def.shape as Shape;
  if ('in' in def) return shapeOf(def.in as z.core.$ZodType);
  return 'innerType' in def ? shapeOf(def.innerType as z.core.$ZodType) : null;
}

/** The keys that the object at `path` may have; empty where there is no object. */
function namesAt(path: readonly PropertyKey[]): string[] {
  let schema: z.core.$ZodType | undefined = dialectSchema;
  for (const key of path) schema = schema && shapeOf(schema)?.[String(key)];
  return Object.keys((schema && shapeOf(schema)) ?? {});
}

/** Every key that holds a value and no further keys, as a pointer: `/verify/amount`. */
export const DIALECT_KEYS: readonly string[] = keysBelow('', dialectSchema);

function keysBelow(pointer: string, schema: z.core.$ZodType): string[] {
  const shape = shapeOf(schema);
  if (shape === null) return [pointer];
  return Object.entries(shape).flatMap(([name, member]) => keysBelow(`${pointer}/${name}`, member));
}
