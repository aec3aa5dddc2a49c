import { EVENT_TYPES } from '../fulfilment/event.ts';
import { unsentReleases } from '../fulfilment/releases.sql.ts';
import { type Redeliver, tellOfUnsent } from '../fulfilment/redeliver.sql.ts';
import { resolveFinding } from '../cases/findings.ts';
import { DECISIONS, isDecision, type Decision } from '../cases/resolution.ts';
import {
  ACCEPT_TOLD,
  decideFirst,
  NOT_RESOLVED,
  SURPLUS_NOTED,
  deliveryEntries,
  findingEntries,
  suspenseEntries,
} from './list-rows.ts';
import { heldUnder } from '../cases/findings.sql.ts';
import { noteSurplusRefund, resolveSuspense } from '../cases/suspense.sql.ts';
import { addNote, assignItem, FINDINGS, SUSPENSE, type WorkList } from '../cases/work-lists.sql.ts';
import { CASE_HEADINGS } from '../cases/case-text.ts';
import { CURRENCIES } from './currencies.ts';
import { RECHECK } from './reconcile.ts';
import { WorkListError, type Subcommand, type ListCommand } from './work-list.ts';

const ITEM_ID = /^\d{1,18}$/;
const RELEASE_EVENT_OR_ORDER_ID = /^((rel|evt)_)?[A-Za-z0-9]{24}$/;
const NO_RECEIVER =
  'no receiver of releases is configured: set FULFILMENT_URL and FULFILMENT_SECRET, or write one ' +
  'in src/custom';
const doneOrGone = (isDone: boolean, told: string) => ({
  isDone,
  told: isDone ? told : 'There is no such open item.',
});

/** What is done to an item of either list, whatever it is. */
const subcommandsOn = (list: WorkList): Record<'assign' | 'note', Subcommand> => ({
  assign: {
    usage: 'assign <id> --owner "who works on it" --by "your name"',
    needs: ['owner'],
    perform: async ({ database, gateway }, { id, by, owner = '' }) =>
      doneOrGone(await assignItem(database, list, gateway.mode, BigInt(id), owner, by), 'Assigned.'),
  },
  note: {
    usage: 'note <id> --note "what was found out" --by "your name"',
    needs: ['note'],
    perform: async ({ database, gateway }, { id, by, note = '' }) =>
      doneOrGone(await addNote(database, list, gateway.mode, BigInt(id), by, note), 'Noted.'),
  },
});

/** The lists a person works through. */
export const LISTS: Record<'findings' | 'suspense' | 'releases' | 'currencies', ListCommand> = {
  findings: {
    name: 'findings',
    empty: 'No open findings.',
    headings: CASE_HEADINGS,
    id: ITEM_ID,
    list: findingEntries,
    subcommands: {
      ...subcommandsOn(FINDINGS),
      recheck: RECHECK,
      resolve: {
        usage: 'resolve <id> --note "why" --by "your name"',
        needs: ['note'],
        perform: async ({ database, gateway }, { id, by, note = '' }) => {
          const held = await heldUnder(database, gateway.mode, BigInt(id));
          if (held !== null) throw new WorkListError(decideFirst(held));
          return doneOrGone(await resolveFinding(database, gateway.mode, BigInt(id), by, note), 'Resolved.');
        },
      },
    },
  },
  suspense: {
    name: 'suspense',
    empty: 'No money is held.',
    headings: CASE_HEADINGS,
    id: ITEM_ID,
    list: suspenseEntries,
    subcommands: {
      ...subcommandsOn(SUSPENSE),
      surplus: {
        usage: 'surplus <id> --refund "its number" --note "why" --by "your name"',
        needs: ['note'],
        perform: async ({ database, gateway }, { id, by, note = '', refund }) => {
          if (refund === undefined)
            throw new WorkListError('a refund needs its number: --refund "its number"');
          const how = { by, note, refundNote: refund };
          const isDone = await noteSurplusRefund(database, gateway.mode, BigInt(id), how);
          return {
            isDone,
            told: isDone
              ? SURPLUS_NOTED
              : 'There is no such overpaid item of an unpaid order, or its surplus was noted before.',
          };
        },
      },
      resolve: {
        usage:
          'resolve <id> --note "why" --by "your name" [--decision ' +
          `${Object.keys(DECISIONS).join('|')}] [--refund "its number"]`,
        needs: ['note'],
        perform: async ({ database, gateway, accept }, { id, by, note = '', refund, ...request }) => {
          const decision = decisionOf(request.decision, refund);
          if (decision === 'accept') {
            const outcome = await accept({ id: BigInt(id), by, note, seen: null });
            return { isDone: outcome === 'accepted', told: ACCEPT_TOLD[outcome] };
          }
          const resolution = { by, note, decision, refundNote: refund ?? null };
          const isDone = await resolveSuspense(database, gateway.mode, BigInt(id), resolution);
          return { isDone, told: isDone ? 'Resolved.' : NOT_RESOLVED };
        },
      },
    },
  },
  releases: {
    name: 'releases',
    empty: 'Nothing waits for delivery.',
    headings: ['id', 'what', 'delivery', 'tries', 'since (UTC)', 'order'],
    id: RELEASE_EVENT_OR_ORDER_ID,
    list: deliveryEntries,
    notice: async ({ database, gateway, hasReceiver }) =>
      tellOfUnsent(await unsentReleases(database, gateway.mode), hasReceiver),
    subcommands: {
      'send-unsent': {
        usage: 'send-unsent [--type order.failed] --by "your name" [--note "why"]',
        needs: [],
        isOfAll: true,
        perform: async ({ sendUnsent }, { by, note = null, type }) => {
          const event = EVENT_TYPES.find((known) => known === type);
          if (type !== undefined && event === undefined)
            throw new WorkListError(`--type must be one of ${EVENT_TYPES.join(', ')}`);
          // That an order is paid is its release.
          const ofType = event === undefined || event === 'order.paid' ? {} : { type: event };
          const count = await sendUnsent({ by, note, ...ofType });
          if (count === 'no-receiver') throw new WorkListError(NO_RECEIVER);
          return { isDone: true, told: `Due now: ${count}.` };
        },
      },
      redeliver: {
        usage: 'redeliver <release, event or order id> --by "your name" [--note "why"]',
        needs: [],
        perform: async ({ redeliver }, { id, by, note }) => {
          return redelivered(await redeliver({ idOrOrderId: id, by, note: note ?? null }));
        },
      },
      'send-withheld': {
        usage: 'send-withheld <release or order id> --note "why" --by "your name"',
        needs: ['note'],
        perform: async ({ redeliver }, { id, by, note = '' }) =>
          redelivered(await redeliver({ idOrOrderId: id, by, note, withheld: true })),
      },
    },
  },
  currencies: CURRENCIES,
};

function redelivered(outcome: Awaited<ReturnType<Redeliver>>): { isDone: boolean; told: string } {
  if (outcome === 'no-receiver') throw new WorkListError(NO_RECEIVER);
  const told = {
    due: 'Due now.',
    unknown: 'There is no such release or event.',
    withheld: 'Not sent: its money went back. To send it all the same: npm run releases -- send-withheld',
  };
  return { isDone: outcome === 'due', told: told[outcome] };
}

function decisionOf(word: string | undefined, refund: string | undefined): Decision {
  const decision = word ?? (refund === undefined ? 'other' : 'refund');
  if (!isDecision(decision)) {
    const choices = Object.entries(DECISIONS).map(([choice, meaning]) => `  ${choice.padEnd(10)} ${meaning}`);
    throw new WorkListError(`--decision must be one of\n${choices.join('\n')}`);
  }
  if (refund !== undefined && decision !== 'refund')
    throw new WorkListError('--refund belongs to --decision refund');
  if (refund === undefined && decision === 'refund')
    throw new WorkListError('a refund needs its number: --refund "its number"');
  return decision;
}
