import { openSuspense, type SuspenseItem } from '../cases/suspense.sql.ts';
import { adopt } from '../payments/adopt.ts';
import { parseReference } from '../platform/ids.ts';
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
import { windowOf } from './run-window.ts';
import type { Entry, ListCommand, Subcommand } from './work-list.ts';

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
  subcommands: { adopt: adoptCommand() },
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
  findings    what was resolved; owners and notes of both lists
  currencies  stops that were released
  releases    deliveries that were asked for again
  addresses   erasures of e-mail addresses`;
}

function adoptCommand(): Subcommand {
  return {
    usage: 'adopt <reference> --order <order id or external id> --by "your name" --note "why"',
    needs: ['order', 'note'],
    perform: async ({ database, gateway, confirm }, { id, order = '', by, note = '' }) => {
      const reference = parseReference(id);
      if (reference === null)
        return {
          isDone: false,
          told: `${id} is not of our form (24 letters and digits): it was never ours.`,
        };
      const run = await openSession(database, gateway.mode);
      if (run === null)
        return {
          isDone: false,
          told: 'A reconciliation or an adoption is at work: try again when it has ended.',
        };
      try {
        const { isPaid, told } = await adopt({ database, gateway, confirm }, { reference, order, by, note });
        return { isDone: isPaid, told };
      } finally {
        await run.close();
      }
    },
  };
}
