import { formatTable } from '../../platform/table.ts';
import type { Difference } from './replay.ts';
import type { RunLine } from './runs.sql.ts';

/** The list of runs for people, the newest first. */
export function formatRuns(runs: readonly RunLine[]): string {
  if (runs.length === 0) return 'There has been no run yet: npm run reconcile';
  const head = ['run', 'started', 'took', 'about', 'verdict', 'findings', 'records', 'why'];
  return formatTable(
    head,
    runs.map((run) => [
      run.id,
      run.startedAt.toISOString(),
      tookOf(run),
      aboutOf(run),
      run.verdict ?? 'running',
      String(Object.values(run.findings ?? {}).reduce((sum, count) => sum + count, 0)),
      run.records ?? '-',
      visible(run.problem ?? ''),
    ]),
  );
}

/** What opened, closed and changed its class between two runs. */
export function formatDifference({ from, to, changes }: Difference): string {
  const head = `from ${from.id}, ${from.startedAt.toISOString()}\nto   ${to.id}, ${to.startedAt.toISOString()}`;
  const same = (['history', 'ours', 'dialect'] as const).filter(
    (name) => from.inputs !== null && to.inputs !== null && from.inputs[name] === to.inputs[name],
  );
  const inputs = same.length === 0 ? 'Both read something else.' : `Both read the same: ${same.join(', ')}.`;
  if (changes.length === 0) return `${head}\n${inputs}\n\nThe same findings are open after both.`;
  const rows = changes.map((one) => [
    one.change,
    String(one.id),
    one.before ?? '-',
    one.after ?? '-',
    visible(one.reference),
    one.orderId ?? '-',
    one.change === 'closed' ? (one.closedBy ?? '') : '',
  ]);
  const table = formatTable(
    ['change', 'finding', 'before', 'after', 'reference', 'order', 'closed by'],
    rows,
  );
  return `${head}\n${inputs}\n\n${table}`;
}

function tookOf({ startedAt, finishedAt }: RunLine): string {
  return finishedAt === null ? '-' : `${((finishedAt.getTime() - startedAt.getTime()) / 1_000).toFixed(1)} s`;
}

function aboutOf({ since, until }: RunLine): string {
  if (since === null && until === null) return 'everything';
  return `${since?.toISOString() ?? ''}..${until?.toISOString() ?? ''}`;
}

/** A reference or a reason may come from outside: it must not control the terminal or fake a line. */
function visible(text: string): string {
  return text.replace(/\p{C}/gu, '\ufffd');
}
