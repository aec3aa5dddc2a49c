import { caseTitle } from '../../cases/case-text.ts';
import { formatList, shortId, visible } from '../../platform/terminal.ts';
import type { Difference } from './replay.ts';
import type { RunLine } from './runs.sql.ts';

/** The list of runs for people, the newest first. */
export function formatRuns(runs: readonly RunLine[]): string {
  if (runs.length === 0) return 'There has been no run yet: npm run reconcile';
  return formatList(
    ['run', 'started (UTC)', 'took', 'verdict', 'findings'],
    runs.map((run) => ({
      cells: [
        run.id,
        run.startedAt.toISOString().slice(0, 16).replace('T', ' '),
        tookOf(run),
        run.verdict ?? 'running',
        String(Object.values(run.findings ?? {}).reduce((sum, count) => sum + count, 0)),
      ],
      below: [aboutOf(run), visible(run.problem ?? '')].filter((line) => line !== ''),
    })),
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
  const rows = changes.map((one) => ({
    cells: [
      one.change,
      String(one.id),
      wordOf(one.before),
      wordOf(one.after),
      shortId(visible(one.reference)),
    ],
    below: one.change === 'closed' && one.closedBy !== null ? [`closed by ${visible(one.closedBy)}`] : [],
  }));
  return `${head}\n${inputs}\n\n${formatList(['change', 'id', 'before', 'after', 'payment'], rows)}`;
}

function wordOf(name: string | null): string {
  return name === null ? '-' : caseTitle(name);
}

function tookOf({ startedAt, finishedAt }: RunLine): string {
  return finishedAt === null ? '-' : `${((finishedAt.getTime() - startedAt.getTime()) / 1_000).toFixed(1)} s`;
}

function aboutOf({ since, until }: RunLine): string {
  if (since === null && until === null) return '';
  return `${since?.toISOString() ?? ''}..${until?.toISOString() ?? ''}`;
}
