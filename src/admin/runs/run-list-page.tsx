import type { VNode } from 'preact';
import { downloadAddress, type AdminParts } from '../pages.ts';
import { AdminPage, type Frame } from '../layout/frame.tsx';
import { Button, Choice, Field, Moment, Older, Status, Table } from '../layout/parts.tsx';
import {
  type RunFilter,
  type RunRow,
  itemsOfRun,
  latestRuns,
  PAGE_ROWS,
  runAfter,
  runById,
} from './runs.sql.ts';
import { Compared, MAX_ITEMS, verdictWords, whyOf } from './run-parts.tsx';
import { sendPage } from '../../platform/html.tsx';
import { parseRunId } from '../../platform/ids.ts';
import { Problem } from '../../platform/problem.ts';
import { customersOf } from '../../reporting/circumstances.sql.ts';
import { dayOf } from '../action-form.ts';
import { RunPage } from './run-page.tsx';

type Props = { frame: Frame; filter: RunFilter; runs: readonly RunRow[]; next: string | null };

/** The reconciliations, newest first: each with its result and the reason. */
function RunListPage({ frame, filter, runs, next }: Props): VNode {
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

const MIN_MS = 60_000;

/** When were our orders compared with the service's records, and with which result? */
export function runRoutes({ gateway, show, reconcileEveryMin }: AdminParts): void {
  const { mode } = gateway;

  show('/admin/runs', async (req, res, { database, frame }) => {
    const filter = {
      before: parseRunId(req.query.before),
      day: dayOf(req.query.day),
      isNotAgreedOnly: req.query.only === 'not-agreed',
    };
    const rows = await latestRuns(database, mode, filter);
    const next = rows.length > PAGE_ROWS ? (rows[PAGE_ROWS - 1]?.id ?? null) : null;
    const runs = rows.slice(0, PAGE_ROWS);
    sendPage(res, RunListPage({ frame, filter, runs, next }));
  });

  show('/admin/runs/:id', async (req, res, { database, frame }) => {
    const id = parseRunId(req.params.id);
    const run = id === null ? null : await runById(database, mode, id);
    if (run === null) throw new Problem('not-found');
    const items = await itemsOfRun(database, run.id, MAX_ITEMS);
    const customers = await customersOf(
      database,
      items.flatMap(({ orderId }) => orderId ?? []),
    );
    const later = await runAfter(database, mode, run);
    const { finishedAt } = run;
    const nextAt =
      finishedAt === null || reconcileEveryMin === 0
        ? null
        : new Date(finishedAt.getTime() + reconcileEveryMin * MIN_MS);
    sendPage(res, RunPage({ frame, run, items, customers, later, nextAt }));
  });
}
