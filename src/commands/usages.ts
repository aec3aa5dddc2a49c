import type { Usage } from '../platform/usage.ts';
import type { Option } from './arguments.ts';
import { AFTER_RESTORE } from './after-restore.ts';
import { ORDERS } from './orders.ts';
import { REFUNDS } from './refunds.ts';
import type { ListCommand } from './work-list.ts';
import { LISTS } from './work-lists.ts';

const MEANINGS: Readonly<Record<Option, string>> = {
  json: 'as JSON, for programs',
  'dry-run': 'shows what it would do and changes nothing',
  csv: 'as CSV (also without it)',
  all: 'everything, not only one',
  evidence: 'every row that is kept of it, in the order of time',
  begin: 'reconciliation begins now: what was before is not raised',
  'even-of-our-form': 'with --begin: also references of our form',
  runs: 'lists earlier runs',
  show: 'prints the report of a run again',
  replay: 'the same, to the byte as --json printed it',
  diff: 'what changed between two runs',
  since: 'from this time on, 2026-01-31 or 2026-01-31T08:00:00Z',
  until: 'up to this time, not included',
  note: 'why; it is kept',
  by: 'your name; it is kept',
  owner: 'who works on it',
  decision: 'accept, refund, credit, keep, write_off or other',
  refund: 'the number of the refund at the payment service',
  order: 'order id or your own number of it',
  'with-customer': 'with the whole e-mail address',
  'even-open': 'also when money of an order is still open',
  month: 'a month like 2026-01',
  mode: 'test or live',
  status: 'only rows with this status',
  run: 'the run (without it: the last complete one)',
  totals: 'only the totals',
  'with-customers': 'with whole e-mail addresses; needs --by and --note',
  amount: 'in major units, 5.00',
  type: 'only events of this type, order.failed',
};

type Row = Omit<Usage, 'options'> & { options: readonly Option[] };

const DONE = '0 done, 1 not done';
const NO_ARGUMENTS = { forms: [''], options: [], example: '' } as const;

const ROWS: Readonly<Record<string, Row>> = {
  reconcile: {
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
    forms: ['export [--csv | --json] [--all]'],
    options: ['owner', 'note', 'by', 'csv', 'all'],
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
  currencies: listRow('Currencies in which nobody can pay at the moment.', LISTS.currencies, {
    options: ['note', 'by'],
    example: 'stop NGN --note "wrong price list" --by "Ada"',
  }),
  activity: {
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
    does: 'One file about an order for the acquirer, on standard output.',
    forms: ['ORDER [--json] [--with-customer]'],
    options: ['json', 'with-customer'],
    exits: '0 its record is whole, 1 it is not, or there is no such order',
    example: 'SO-1001 > pack.html',
  },
  person: {
    does: 'Everything kept about an e-mail address, and how to erase it.',
    forms: ['show E-MAIL --by NAME', 'erase E-MAIL --by NAME --note WHY [--even-open]'],
    options: ['by', 'note', 'even-open'],
    exits: '0 done, 1 something is left',
    example: 'show ada@example.com --by "Ngozi"',
  },
  retention: {
    does: 'Deletes what is older than RETAIN_BODIES_DAYS, as the worker does daily.',
    forms: ['[--dry-run]'],
    options: ['dry-run'],
    exits: '0 done',
    example: '--dry-run',
  },
  books: {
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
    does: 'All rows of one kind as CSV, on standard output.',
    forms: ['orders | payments | suspense | findings | runs  [options]', 'matched [--run RUN] [--json]'],
    options: ['since', 'until', 'status', 'run', 'json'],
    exits: '0 done',
    example: 'orders --status paid > orders.csv',
  },
  doctor: {
    does: 'What is configured, reached and missing.',
    forms: ['[--json]'],
    options: ['json'],
    exits: '0 all is well, 1 something to look at, 2 something is wrong',
    example: '',
  },
  'go-live': {
    does: 'What is missing before the first real payment. Changes nothing.',
    forms: ['[--json]'],
    options: ['json'],
    exits: '0 all is well, 1 something to look at, 2 something is wrong',
    example: '',
  },
  dialect: {
    does: "How the service's answers are read, each value with its origin.",
    forms: ['[--json]'],
    options: ['json'],
    exits: '0 done',
    example: '--json',
  },
  migrate: {
    ...NO_ARGUMENTS,
    does: 'Gives the database the schema of this version.',
    exits: '0 done, 1 the database could not be reached or changed',
  },
};

/** How each command of this folder is called, by the name that is typed. */
export const USAGES: Readonly<Record<string, Usage>> = Object.fromEntries(
  Object.entries(ROWS).map(([name, row]) => [
    name,
    { ...row, options: Object.fromEntries(row.options.map((each) => [`--${each}`, MEANINGS[each]])) },
  ]),
);

function listRow(
  does: string,
  { subcommands }: ListCommand,
  { forms = [], options, example }: Pick<Row, 'options' | 'example'> & { forms?: readonly string[] },
): Row {
  const list = options.includes('since') ? '[list] [--since TIME] [--json]' : '[list] [--json]';
  const usages = Object.values(subcommands).map(({ usage }) => usage);
  return { does, forms: [list, ...usages, ...forms], options: [...options, 'json'], exits: DONE, example };
}
