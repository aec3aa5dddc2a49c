import { caseRow, CASE_HEADINGS, moneyOf, caseTitle } from '../../cases/case-text.ts';
import { FINDING_CLASSES, type Verdict } from '../../cases/classes.ts';
import {
  formatList,
  formatTable,
  visible,
  wrapped,
  type ListRow,
  type Colour,
} from '../../platform/terminal.ts';
import type { IdentityLine } from './control-totals.ts';
import { begunPart } from './format-begun.ts';
import type { ReconciliationReport, ReportItem } from './report.ts';

/** Gives a text a colour, where that can be seen. */
export type Paint = (colour: Colour, text: string) => string;

const COLOURS: Readonly<Record<Verdict, Colour>> = { agreed: 'green', findings: 'red', incomplete: 'yellow' };

/** The most findings that are printed; the rest is in `npm run findings` and in `--json`. */
const MAX_LINES = 50;

/** The report for people: the verdict, what to do next, then the money. */
export function formatReport(report: ReconciliationReport, paint: Paint = (_colour, text) => text): string {
  const text = [
    verdictLine(report),
    ...windowPart(report),
    ...begunPart(report.begun),
    ...gracedPart(report),
    ...findingsPart(report),
    ...heldPart(report),
    `${wrapped(historyLine(report), 2)}\n${wrapped(paymentsLine(report), 2)}`,
    ...reachPart(report.history),
    ...setAsidePart(report),
    ...moneyPart(report.identity),
    ...balancePart(report.balances),
    ...transfersPart(report.transfers),
    ...(report.unclassified > 0
      ? [`${report.unclassified} rows are in no class: that is a fault of this program, please report it`]
      : []),
    `run ${report.runId}, ${report.mode} mode, ${report.startedAt} to ${report.finishedAt}`,
  ]
    .map((part) => (part.includes('\n') ? part : wrapped(part, 0)))
    .join('\n\n');
  return text.replace(/^(NOT )?[A-Z]+/, (verdict) => paint(COLOURS[report.verdict], verdict));
}

function verdictLine({ verdict, incompleteReason, findings, held = 0 }: ReconciliationReport): string {
  switch (verdict) {
    case 'agreed':
      return "AGREED. Our orders and the service's records agree to the last minor unit.";
    case 'findings': {
      const open = totalOf(findings);
      const what =
        open === 0
          ? held > 0
            ? 'Money in suspense needs a decision.'
            : 'The money below does not add up.'
          : `${open} ${open === 1 ? 'payment needs' : 'payments need'} a decision.`;
      return `NOT AGREED. ${what}`;
    }
    case 'incomplete':
      return (
        `NOT CHECKED: ${visible(incompleteReason ?? 'unknown reason')}. ` +
        'Nothing was reported missing because of it. Run it again.'
      );
  }
}

/** What a run over a window says nothing about. */
function windowPart({ window }: ReconciliationReport): string[] {
  if (window === undefined) return [];
  const [since, until] = [window.since, window.until].map((at) => at?.slice(0, 19).replace('T', ' '));
  const ends = [
    ...(since === undefined ? [] : [`from ${since}`]),
    ...(until === undefined ? [] : [`before ${until}`]),
  ];
  return [
    `This was over a window: payments made ${ends.join(' and ')} UTC, and what the service lists of it. ` +
      'What was found about other payments stays open.',
  ];
}

function historyLine({ history: { records, references, pages, unreadable } }: ReconciliationReport): string {
  const readable = unreadable === 0 ? 'all readable' : `${unreadable} unreadable`;
  return (
    `Read ${counted(records, 'record')} of ${counted(references, 'payment')} from the service ` +
    `(${counted(pages, 'page')}, ${readable}).`
  );
}

/** Its numbers add up. */
function paymentsLine({ payments, matched, repaired, verified }: ReconciliationReport): string {
  const rest = payments - matched - repaired;
  const parts = [
    `${matched} agree`,
    ...(repaired > 0 ? [`${repaired} repaired now`] : []),
    ...(rest > 0 ? [`${rest} not paid, or listed above`] : []),
  ];
  const asked = verified === 0 ? '' : ` The service was asked again about ${verified}.`;
  return `${counted(payments, 'payment')} of ours: ${parts.join(', ')}.${asked}`;
}

function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}

/** One sentence for all of them: they share one cause, and none of them is a finding. */
function reachPart({ reachesBackDays, olderPayments = 0 }: ReconciliationReport['history']): string[] {
  if (reachesBackDays === undefined || olderPayments === 0) return [];
  return [
    `The list reaches back ${reachesBackDays} days. ${olderPayments} confirmed payments are older and are not looked for in it ` +
      '(history.reachesBackDays in the dialect).',
  ];
}

function setAsidePart({ setAside = {} }: ReconciliationReport): string[] {
  const classes = classesOf(setAside);
  return classes === ''
    ? []
    : [`Set aside: ${classes}. They are part of the money below and never findings.`];
}

function gracedPart({ graced }: ReconciliationReport): string[] {
  const classes = classesOf(graced);
  if (classes === '') return [];
  return [`Differences that may still disappear: ${classes}. What lasts an hour is raised.`];
}

function classesOf(counts: ReconciliationReport['findings']): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} × ${caseTitle(name).toLowerCase()}`)
    .join(', ');
}

/** Counts findings; withheld verdicts are not findings. */
function totalOf(findings: ReconciliationReport['findings']): number {
  return FINDING_CLASSES.reduce((sum, name) => sum + (findings[name] ?? 0), 0);
}

function findingsPart({ items, findings }: ReconciliationReport): string[] {
  if (items.length === 0) return [];
  const rows = items.slice(0, MAX_LINES).map(rowOf);
  const rest = totalOf(findings) - rows.length;
  const list = formatList(CASE_HEADINGS, rows);
  return [rest > 0 ? `${list}\n... and ${rest} more: npm run findings` : list];
}

function heldPart({ held }: ReconciliationReport): string[] {
  return held === undefined ? [] : [`In suspense: ${counted(held, 'item')} (npm run suspense).`];
}

function rowOf(item: ReportItem): ListRow {
  const { id, class: name, reference, orderId, age, currency } = item;
  const expected = name === 'currency_mismatch' ? null : moneyOf(item.expected, currency);
  const money = { expected, actual: moneyOf(item.actual, currency), held: null };
  return caseRow({ id: id ?? '-', class: name, reference, orderId, age, ...money });
}

function moneyPart(identity: readonly IdentityLine[]): string[] {
  if (identity.length === 0) return [];
  const rows = identity.flatMap(({ currency, serviceTotal, confirmed, classes, difference }) => [
    [currency, 'paid at the service', serviceTotal],
    ['', '= confirmed here', confirmed],
    ...Object.entries(classes).map(([name, amount]) => ['', `+ ${caseTitle(name).toLowerCase()}`, amount]),
    ['', '+ unexplained', difference],
  ]);
  const width = Math.max(...rows.map(([, , amount = '']) => amount.length));
  return [
    formatTable(
      ['currency', 'money', 'amount'.padStart(width)],
      rows.map(([currency = '', what = '', amount = '']) => [currency, what, amount.padStart(width)]),
    ),
  ];
}

function balancePart(balances: ReconciliationReport['balances']): string[] {
  if (balances === null || balances.length === 0) return [];
  const hasFees = balances.some(({ fees }) => fees !== undefined);
  const fees = hasFees ? (['fees'] as const) : [];
  const columns = [
    'currency',
    'collected',
    'transferred',
    ...fees,
    'available',
    'pending',
    'difference',
  ] as const;
  return [
    formatTable(
      [...columns],
      balances.map((line) => columns.map((column) => line[column] ?? '-')),
    ),
  ];
}

function transfersPart(transfers: ReconciliationReport['transfers']): string[] {
  if (transfers === undefined) return [];
  const { unnamed, changed, changes } = transfers;
  const only =
    unnamed === 0 ? [] : [`${counted(unnamed, 'payout')} without a reference: part of the sum only.`];
  if (changed === 0) return only;
  const rows = changes
    .slice(0, MAX_LINES)
    .map(({ reference, currency, amount, listed, status }) => [
      visible(reference),
      `${currency} ${amount}`,
      listed === null ? 'not listed any more' : `${currency} ${listed}`,
      status ?? '-',
    ]);
  const rest = changed > rows.length ? `\n... and ${changed - rows.length} more` : '';
  return [
    ...only,
    'Payouts that the service lists otherwise than before. The books keep what was first seen: ask the service why.',
    formatTable(['reference', 'first seen', 'listed now', 'status'], rows) + rest,
  ];
}
