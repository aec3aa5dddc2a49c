import type { VNode } from 'preact';
import { downloadAddress } from '../pages.ts';
import { AdminPage, type Frame } from '../layout/frame.tsx';
import { Button, Choice, Field, Moment, Older, Status, Table } from '../layout/parts.tsx';
import type { RunFilter, RunRow } from './runs.sql.ts';
import { Compared } from './run-parts.tsx';
import { verdictWords, whyOf } from './verdict-text.ts';

type Props = { frame: Frame; filter: RunFilter; runs: readonly RunRow[]; next: string | null };

/** The reconciliations, newest first: each with its result and the reason. */
export function RunListPage({ frame, filter, runs, next }: Props): VNode {
  const { day, isNotAgreedOnly } = filter;
  const isFiltered = day !== null || isNotAgreedOnly;
  return (
    <AdminPage frame={frame} title="Reconciliations" here="/admin/runs">
      <form method="get" action="/admin/runs" class="filters">
        <Choice
          id="only"
          name="only"
          label="Show"
          chosen={isNotAgreedOnly ? 'not-agreed' : ''}
          options={[
            { value: '', name: 'all reconciliations' },
            { value: 'not-agreed', name: 'not agreed only' },
          ]}
        />
        <Field id="day" label="Day" name="day" type="date" value={day ?? ''} />
        <Button>Show</Button>
      </form>
      {runs.length === 0 ? (
        <p class="none">
          {isFiltered ? (
            'No such reconciliation.'
          ) : (
            <>
              There was none yet. Type: <code>npm run reconcile</code>
            </>
          )}
        </p>
      ) : (
        <Table
          label="Reconciliations"
          head={['Started', 'Payments', 'Result', { words: 'Why' }]}
          rows={runs.map((run) => [
            <a href={`/admin/runs/${run.id}`}>
              <Moment at={run.startedAt} />
            </a>,
            <Compared run={run} />,
            <Status word={run.verdict ?? 'pending'} name={verdictWords(run.verdict)} />,
            whyOf(run),
          ])}
        />
      )}
      {next !== null && <Older address="/admin/runs" params={paramsOf(filter, next)} />}
      {runs.length > 0 && (
        <p>
          <a href={downloadAddress('runs')}>All reconciliations as CSV</a>
        </p>
      )}
    </AdminPage>
  );
}

function paramsOf({ day, isNotAgreedOnly }: RunFilter, before: string): Record<string, string> {
  return { ...(day !== null && { day }), ...(isNotAgreedOnly && { only: 'not-agreed' }), before };
}
