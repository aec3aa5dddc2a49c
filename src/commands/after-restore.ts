import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { openSuspense, type SuspenseItem } from '../cases/suspense.sql.ts';
import { adopt, type Adopted } from '../payments/adopt.ts';
import { parseReference, type Reference } from '../platform/ids.ts';
import { displayMoney, formatMajor } from '../platform/money.ts';
import type { Program } from '../program.ts';
import { openSession } from '../reconciliation/session.sql.ts';
import {
  candidatesFor,
  lastCompleteRun,
  MAX_CANDIDATES,
  newestEntry,
  type Candidate,
} from '../reporting/after-restore.sql.ts';
import { visible } from '../platform/terminal.ts';
import { windowOf } from './arguments.ts';
import { WorkListError, type Entry, type ListCommand, type Subcommand } from './work-list.ts';

type Pair = { reference: Reference; order: string };
type Person = { by: string; note: string };

const ADOPT: Subcommand = {
  usage: 'adopt <reference> --order <order id or external id> --by "your name" --note "why"',
  needs: ['order', 'note'],
  perform: (program, { id, order = '', by, note = '' }) => {
    const reference = parseReference(id);
    if (reference === null) throw new WorkListError(neverOurs(id));
    return adoptEach(program, [{ reference, order }], { by, note });
  },
};

const ADOPT_ALL: Subcommand = {
  usage: 'adopt-all <file with a line "reference order" for each> --by "your name" --note "why"',
  needs: ['note'],
  perform: async (program, { id, by, note = '' }) => adoptEach(program, await readPairs(id), { by, note }),
};

/** @throws {WorkListError} unless every line of the file is a reference of our form and an order */
async function readPairs(file: string): Promise<Pair[]> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new WorkListError(`${resolve(file)} cannot be read`);
  });
  return text.split('\n').flatMap((line, index) => {
    const [first = '', order, ...more] = line.trim().split(/[\s,;]+/);
    if (first === '') return [];
    const reference = parseReference(first);
    if (order === undefined || more.length > 0)
      throw new WorkListError(`line ${index + 1} of ${file} is not a reference and an order`);
    if (reference === null) throw new WorkListError(`line ${index + 1} of ${file}: ${neverOurs(first)}`);
    return [{ reference, order }];
  });
}

const neverOurs = (text: string): string =>
  `${visible(text)} is not of our form (24 letters and digits): it was never ours.`;

/** One that cannot be adopted does not keep the others from it. */
async function adoptEach(program: Program, pairs: readonly Pair[], { by, note }: Person) {
  const { database, gateway, confirm } = program;
  const run = await openSession(database, gateway.mode);
  if (run === null)
    return {
      isDone: false,
      told: 'A reconciliation or an adoption is at work: try again when it has ended.',
    };
  try {
    const adopted: Adopted[] = [];
    for (const pair of pairs)
      adopted.push(await adopt({ database, gateway, confirm }, { ...pair, by, note }));
    return {
      isDone: adopted.every(({ isPaid }) => isPaid),
      told: adopted.map(({ told }) => told).join('\n'),
    };
  } finally {
    await run.close();
  }
}

/** What the service knows and a restored database has lost, and how a person gives it back. */
export const AFTER_RESTORE: ListCommand = {
  name: 'after-restore',
  empty: 'No money is in suspense under a reference that this database lacks.',
  headings: ['payment', 'money', 'suspense'],
  id: /^\S+$/,
  list: async (program, { since }) => {
    const { database, gateway } = program;
    const around = windowOf(since, undefined).since ?? (await newestEntry(database, gateway.mode));
    const entries: Entry[] = [];
    for (const item of await lostMoney(program))
      entries.push(entryOf(item, await candidatesFor(database, gateway.mode, item, around ?? new Date(0))));
    return entries;
  },
  notice: async (program) => {
    const { database, gateway } = program;
    const newest = await newestEntry(database, gateway.mode);
    const run = await lastCompleteRun(database, gateway.mode);
    const isEmpty = (await lostMoney(program)).length === 0;
    return `${isEmpty ? `${AFTER_RESTORE.empty}\n` : ''}${tell(newest, run)}`;
  },
  subcommands: { adopt: ADOPT, 'adopt-all': ADOPT_ALL },
};

/** Money under references of our form that no person has given to an order. */
async function lostMoney({ database, gateway }: Program): Promise<SuspenseItem[]> {
  const items = await openSuspense(database, gateway.mode, { class: 'unknown_reference' });
  return items.filter(({ reference, orderId }) => orderId === null && parseReference(reference) !== null);
}

function entryOf({ id, reference, amount, currency }: SuspenseItem, candidates: readonly Candidate[]): Entry {
  const names = candidates.map(({ orderId, externalId }) => externalId ?? orderId);
  if (names.length === MAX_CANDIDATES) names.push('others');
  return {
    cells: [reference, displayMoney({ amount, currency }), String(id)],
    below: [names.length === 0 ? 'no unpaid order of that money' : `may be of ${names.join(' or ')}`],
    json: {
      reference,
      amount: formatMajor({ amount, currency }),
      currency,
      suspense: String(id),
      candidates,
    },
  };
}

/** No row tells when the restore was, so it claims nothing about it. */
function tell(newest: Date | null, run: Date | null): string {
  return `
The newest order, webhook or answer here is of ${newest?.toISOString() ?? 'no time: there is none'}.
The last complete reconciliation began ${run?.toISOString() ?? 'at no time: there is none'}.
Only one that began after the restore has found what is lost: run npm run reconcile, then this again.
What people did after the backup is lost as well, and the service cannot tell it. Do it again, money first:
  suspense    refunds and other decisions about money: decide again before you adopt
  orders      what was cancelled, which can be paid again, or reopened
  refunds     those that were written down
  findings    what was resolved; owners and notes of both lists
  currencies  new checkouts that were stopped, or resumed
  releases    deliveries that were asked for again
  reconcile   a begin of reconciliation
  person      addresses that were erased`;
}
