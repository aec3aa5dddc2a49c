import { EXTENSIONS } from '../custom/index.ts';
import type { ShopCommand } from '../extensions.ts';
import { partsForShop, type Program } from '../program.ts';
import type { Usage } from '../platform/usage.ts';
import { activity, dispute, explainCommand } from './explain.ts';
import { AFTER_RESTORE } from './after-restore.ts';
import { OPTIONS, type Arguments, type Option, type Told } from './arguments.ts';
import { booksCommand, exportCommand } from './books.ts';
import { ORDERS, REFUNDS } from './orders.ts';
import { person, retention } from './person.ts';
import { reconcileCommand } from './reconcile.ts';
import { workList, type ListCommand } from './work-list.ts';
import { LISTS } from './work-lists.ts';

type Command = Omit<Usage, 'options'> & {
  options: readonly Option[];
  /** Whether nothing but options may follow its name. */
  isBare?: true;
  /** Left out: `command-line.ts` runs it, because it needs no program. */
  run?: (program: Program, args: Arguments) => Promise<Told>;
};

const DONE = '0 done, 1 not done';

/** Every command, by the name that is typed: the shop's own, and ours. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  ...Object.fromEntries(Object.entries(EXTENSIONS.commands ?? {}).map(([name, own]) => [name, ofShop(own)])),
  reconcile: {
    run: reconcileCommand,
    does: "Compares our orders with the payment service's records.",
    forms: [
      '[--since TIME] [--until TIME] [--dry-run] [--json]',
      '--runs | --show RUN | --replay RUN | --diff RUN RUN  [--json]',
      '--begin --by NAME --note WHY [--even-of-our-form]',
      '--begin --dry-run [--even-of-our-form]',
    ],
    options: [
      ...(['since', 'until', 'dry-run', 'runs', 'show', 'replay', 'diff'] as const),
      ...(['begin', 'even-of-our-form', 'by', 'note', 'json'] as const),
    ],
    exits: '0 agreed, 1 something needs a decision, 2 not completed',
    example: '--dry-run',
  },
  explain: {
    run: explainCommand,
    does: 'What happened to one order, and what is next.',
    forms: ['ORDER-ID | REFERENCE | YOUR-NUMBER | E-MAIL  [--evidence | --json]', '--all [--json]'],
    options: ['evidence', 'all', 'json'],
    exits: '0 its record is whole, 1 it is not, or there is no such order',
    example: 'AcCJrdmdAcCJrdmdAcCJrdmd',
  },
  orders: listRow('The latest orders, and how to cancel or reopen one.', ORDERS, {
    options: ['since', 'note', 'by'],
    example: 'cancel SO-1001 --note "out of stock" --by "Ada"',
  }),
  findings: listRow("Differences between orders and the service's records.", LISTS.findings, {
    options: ['owner', 'note', 'by'],
    example: 'resolve 12 --note "the service confirmed it" --by "Ada"',
  }),
  suspense: listRow('Money that was received and must not be kept yet.', LISTS.suspense, {
    options: ['owner', 'note', 'by', 'decision', 'refund'],
    example: 'resolve 9 --refund RF-1002 --note "paid twice" --by "Ada"',
  }),
  refunds: listRow('Refunds, written down. The refund itself is made at the service.', REFUNDS, {
    options: ['amount', 'refund', 'note', 'by'],
    example: 'add SO-1001 --amount 5.00 --refund RF-7 --note "broken" --by "Ada"',
  }),
  releases: listRow('Paid orders and events that wait for delivery.', LISTS.releases, {
    options: ['type', 'note', 'by'],
    example: 'redeliver SO-1001 --by "Ada"',
  }),
  currencies: listRow('Stops of new checkouts, by currency: list, begin and end them.', LISTS.currencies, {
    options: ['note', 'by'],
    example: 'stop NGN --note "wrong price list" --by "Ada"',
  }),
  activity: {
    run: async (program, { values }) => ({ text: await activity(program, values), exitCode: 0 }),
    isBare: true,
    does: 'Who did what, newest first.',
    forms: ['[--by NAME] [--since TIME] [--until TIME] [--json]'],
    options: ['by', 'since', 'until', 'json'],
    exits: '0 done',
    example: '--by "Ada" --since 2026-11-01',
  },
  'after-restore': listRow('Payments that a restored database has lost.', AFTER_RESTORE, {
    options: ['since', 'order', 'note', 'by'],
    example: 'adopt t27pAbCdt27pAbCdt27pAbCd --order SO-1 --by "Ada" --note "restored"',
  }),
  dispute: {
    run: dispute,
    does: 'One file about an order for the acquirer, on standard output.',
    forms: ['ORDER [--json] [--with-customer]'],
    options: ['json', 'with-customer'],
    exits: '0 its record is whole, 1 it is not, or there is no such order',
    example: 'SO-1001 > pack.html',
  },
  person: {
    run: person,
    does: 'Everything kept about an e-mail address, and how to erase it.',
    forms: ['show E-MAIL --by NAME', 'erase E-MAIL --by NAME --note WHY [--even-open]'],
    options: ['by', 'note', 'even-open'],
    exits: '0 done, 1 something is left',
    example: 'show ada@example.com --by "Ngozi"',
  },
  retention: {
    run: retention,
    isBare: true,
    does: 'Deletes what is older than RETAIN_BODIES_DAYS, as the worker does daily.',
    forms: ['[--dry-run]'],
    options: ['dry-run'],
    exits: '0 done',
    example: '--dry-run',
  },
  books: {
    run: booksCommand,
    isBare: true,
    does: 'The books of a month for the accountant, as CSV on standard output.',
    forms: [
      '[--month MONTH | --since TIME --until TIME] [--mode MODE]',
      '[--totals] [--json] [--with-customers --by NAME --note WHY]',
    ],
    options: [
      ...(['month', 'since', 'until', 'mode', 'totals', 'json'] as const),
      ...(['with-customers', 'by', 'note'] as const),
    ],
    exits: '0 done',
    example: '--month 2026-01 > january.csv',
  },
  export: {
    run: exportCommand,
    does: 'All rows of one kind as CSV, on standard output.',
    forms: ['orders | payments | suspense | findings | runs  [options]', 'matched [--run RUN] [--json]'],
    options: ['since', 'until', 'status', 'run', 'json'],
    exits: '0 done',
    example: 'orders --status paid > orders.csv',
  },
  doctor: {
    isBare: true,
    does: 'What is configured, reached and missing.',
    forms: ['[--json]'],
    options: ['json'],
    exits: '0 all is well, 1 something to look at, 2 something is wrong',
    example: '',
  },
  'go-live': {
    isBare: true,
    does: 'What is missing before the first real payment. Changes nothing.',
    forms: ['[--json]'],
    options: ['json'],
    exits: '0 all is well, 1 something to look at, 2 something is wrong',
    example: '',
  },
  dialect: {
    isBare: true,
    does: "How the service's answers are read, each value with its origin.",
    forms: ['[--json]'],
    options: ['json'],
    exits: '0 done',
    example: '--json',
  },
  migrate: {
    // Composing has migrated the database already.
    run: () => Promise.resolve({ text: 'The database has the schema of this version.', exitCode: 0 }),
    isBare: true,
    forms: [''],
    options: [],
    example: '',
    does: 'Gives the database the schema of this version.',
    exits: '0 done, 1 the database could not be reached or changed',
  },
};

/** How a command is called. */
export function usageOf({ options, ...command }: Command): Usage {
  const meanings = options.map((name) => [`--${name}`, OPTIONS[name].meaning] as const);
  return { ...command, options: Object.fromEntries(meanings) };
}

function ofShop({ run, ...usage }: ShopCommand): Command {
  return {
    ...usage,
    run: async (program, { positionals }) => ({
      text: await run(partsForShop(program), positionals),
      exitCode: 0,
    }),
    options: [],
    exits: DONE,
  };
}

function listRow(
  does: string,
  list: ListCommand,
  { options, example }: Pick<Command, 'options' | 'example'>,
): Command {
  const first = options.includes('since') ? '[list] [--since TIME] [--json]' : '[list] [--json]';
  const usages = Object.values(list.subcommands).map(({ usage }) => usage);
  return {
    run: async (program, args) => ({ text: '', exitCode: await workList(program, list, args) }),
    does,
    forms: [first, ...usages],
    options: [...options, 'json'],
    exits: DONE,
    example,
  };
}
