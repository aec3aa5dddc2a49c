import { formatTable } from '../../platform/table.ts';
import { CLASSES, FINDING_CLASSES, type ReconciliationClass } from '../../cases/classes.ts';
import type { IdentityLine } from './control-totals.ts';
import { begunPart } from './format-begun.ts';
import type { ReconciliationReport, ReportItem } from './report.ts';

/** The most findings that are printed; the rest is in `npm run findings` and in `--json`. */
const MAX_LINES = 50;

/** The report for people: the verdict, what to do next, then the money. */
export function formatReport(report: ReconciliationReport): string {
  const { history } = report;
  const counts = [
    `history: ${history.records} records, ${history.references} transactions, ` +
      `${history.unreadable} unreadable, read in pages: ${history.pages}`,
    `payments: ${report.payments} compared, ${report.matched} matched, ${report.repaired} ` +
      `repaired, ${report.verified} verified`,
  ];
  return [
    verdictLine(report),
    ...begunPart(report.begun),
    ...gracedPart(report),
    ...findingsPart(report),
    counts.join('\n'),
    ...reachPart(history),
    ...setAsidePart(report),
    ...moneyPart(report.identity),
    ...balancePart(report.balances),
    ...(report.unclassified > 0
      ? [`${report.unclassified} rows are in no class: that is a fault of this program, please report it`]
      : []),
    `run ${report.runId}, ${report.mode} mode, ${report.startedAt} to ${report.finishedAt}`,
  ].join('\n\n');
}

function verdictLine({ verdict, incompleteReason, findings }: ReconciliationReport): string {
  switch (verdict) {
    case 'agreed':
      return "AGREED. Our orders and the service's records agree to the last minor unit.";
    case 'findings': {
      const open = totalOf(findings);
      return `FINDINGS. ${open} open ${open === 1 ? 'disagreement needs' : 'disagreements need'} attention.`;
    }
    case 'incomplete':
      return `INCOMPLETE: ${visible(incompleteReason ?? 'unknown reason')}.`;
  }
}

/** One sentence for all of them: they share one cause, and none of them is a finding. */
function reachPart({ reachesBackDays, olderPayments = 0 }: ReconciliationReport['history']): string[] {
  if (reachesBackDays === undefined || olderPayments === 0) return [];
  return [
    `The list reaches back ${reachesBackDays} days. ${olderPayments} confirmed payments are older and are not looked for in it ` +
      '(history.reachesBackDays in the dialect).',
  ];
}

function setAsidePart({ setAside }: ReconciliationReport): string[] {
  const classes = Object.entries(setAside ?? {}).map(([name, count]) => `${count} ${name}`);
  if (classes.length === 0) return [];
  return [`Set aside: ${classes.join(', ')}. They are part of the money below and never findings.`];
}

function gracedPart({ graced }: ReconciliationReport): string[] {
  const classes = Object.entries(graced).map(([name, count]) => `${count} ${name}`);
  if (classes.length === 0) return [];
  return [
    `Contradictions that may still mend themselves: ${classes.join(', ')}. What lasts an hour is raised.`,
  ];
}

/** Counts findings; withheld verdicts are not findings. */
function totalOf(findings: ReconciliationReport['findings']): number {
  return FINDING_CLASSES.reduce((sum, name) => sum + (findings[name] ?? 0), 0);
}

function findingsPart({ items, findings }: ReconciliationReport): string[] {
  if (items.length === 0) return [];
  const rows = items.slice(0, MAX_LINES).map(lineOf);
  const table = formatTable(['id', 'finding', 'expected', 'actual', 'age', 'reference', 'order'], rows);
  const rest = totalOf(findings) - rows.length;
  const classes = [...new Set(items.map((item) => item.class))];
  const next = formatTable(
    ['finding', 'count', 'what to do next'],
    classes.map((name) => todoLine(name, findings)),
  );
  return [rest > 0 ? `${table}\n... and ${rest} more: npm run findings -- list` : table, next];
}

function lineOf(item: ReportItem): string[] {
  return [
    item.id ?? '-',
    item.class,
    item.expected ?? '-',
    item.actual === null ? '-' : `${item.actual} ${item.currency ?? ''}`,
    item.age,
    visible(item.reference),
    item.orderId ?? '-',
  ];
}

function todoLine(name: ReconciliationClass, findings: ReconciliationReport['findings']): string[] {
  return [name, String(findings[name] ?? 0), CLASSES[name].todo];
}

function moneyPart(identity: readonly IdentityLine[]): string[] {
  if (identity.length === 0) return [];
  const rows = identity.flatMap(({ currency, serviceTotal, confirmed, classes, difference }) => [
    [currency, 'paid at the service', serviceTotal],
    ['', '= confirmed here', confirmed],
    ...Object.entries(classes).map(([name, amount]) => ['', `+ ${name}`, amount]),
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

/** A stranger may have chosen a reference: it must not control the terminal or fake a line. */
function visible(text: string): string {
  return text.replace(/[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, '\ufffd');
}
