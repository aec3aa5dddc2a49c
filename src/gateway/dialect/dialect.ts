import { z } from 'zod';
import { faultsIn } from './faults.ts';
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
