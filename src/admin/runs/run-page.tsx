import type { VNode } from 'preact';
import { useLocale } from '../../platform/html.tsx';
import type { ItemFacts } from '../../cases/findings.ts';
import type { OrderId } from '../../platform/ids.ts';
import { downloadAddress } from '../pages.ts';
import { AdminPage, type Frame } from '../layout/frame.tsx';
import { Moment } from '../layout/parts.tsx';
import {
  Compared,
  Items,
  Counts,
  Identity,
  countsOf,
  differenceWords,
  problemSentence,
  verdictWords,
} from './run-parts.tsx';
import type { LaterRun, StoredRun } from './runs.sql.ts';

type Props = {
  frame: Frame;
  run: StoredRun;
  items: readonly ItemFacts[];
  customers: ReadonlyMap<OrderId, string>;
  /** The next run after it; null: there is none yet. */
  later: LaterRun | null;
  /** When the schedule checks again after the last run; null: there is no schedule. */
  nextAt: Date | null;
};

export function RunPage({ frame, run, items, customers, later, nextAt }: Props): VNode {
  const { id, startedAt, finishedAt, verdict, report } = run;
  return (
    <AdminPage frame={frame} title="Check against the service" here="/admin/runs">
      <section aria-label="Result" class={verdict === 'agreed' || verdict === null ? '' : 'raised'}>
        {verdict === 'incomplete' ? (
          <NotChecked run={run} later={later} nextAt={nextAt} />
        ) : (
          <p class="headline">
            <Sentence run={run} items={items} />
          </p>
        )}
        <p class="none">
          <Moment at={startedAt} /> to <Moment at={finishedAt} /> UTC. Payments compared:{' '}
          <Compared run={run} />.
        </p>
      </section>
      {items.length > 0 && <Items items={items} customers={customers} since={startedAt} />}
      {report === null && verdict !== 'incomplete' && <p class="none">It wrote no report.</p>}
      {report?.complete === true && (
        <>
          <Identity lines={report.identity} />
          <Counts report={report} />
          <p>
            <a href={downloadAddress('matched', { run: id })}>What was released and agreed, as CSV</a>
          </p>
        </>
      )}
      <p class="none">
        What changed since another check: <code>npm run reconcile -- --diff RUN {id}</code>
      </p>
    </AdminPage>
  );
}

function Sentence({ run: { verdict, report }, items }: Pick<Props, 'run' | 'items'>): VNode {
  const locale = useLocale();
  if (verdict === null) return <>Under way.</>;
  if (verdict === 'agreed') {
    const repaired = report?.repaired ?? 0;
    return (
      <>
        Agreed: our orders and the service’s records agree to the last minor unit.
        {repaired > 0 && ` ${repaired.toLocaleString('en')} missed payments were found and confirmed.`}
      </>
    );
  }
  const count = countsOf(report?.findings ?? null).reduce((all, [, each]) => all + each, 0);
  if (count === 0 && report?.held !== undefined) return <>Not agreed: money in suspense needs a decision.</>;
  if (count === 0) return <>Not agreed: the sums do not add up. See the money below.</>;
  const sums = items.length === count ? differenceWords(items, locale) : '';
  return (
    <>
      Not agreed: {count === 1 ? '1 payment differs' : `${count.toLocaleString('en')} payments differ`}
      {sums !== '' && ` (${sums})`}.
    </>
  );
}

/** What an operator can do about a check that did not come to its end. */
function NotChecked({ run, later, nextAt }: Pick<Props, 'run' | 'later' | 'nextAt'>): VNode {
  const { id, startedAt, problem, report } = run;
  const details = { run: id, startedAt, problem, history: report?.history, findings: report?.findings };
  return (
    <>
      <p class="headline">Could not be checked. {problemSentence(problem)}</p>
      <p>
        No payment was reported missing because of it.{' '}
        {later !== null && (
          <>
            Checked again at <Moment at={later.startedAt} />:{' '}
            <a href={`/admin/runs/${later.id}`}>{verdictWords(later.verdict)}</a>.
          </>
        )}
        {later === null && nextAt !== null && (
          <>
            Next try about <Moment at={nextAt} />.
          </>
        )}
        {later === null && nextAt === null && (
          <>
            Try again: <code>npm run reconcile</code>
          </>
        )}
      </p>
      <details>
        <summary>If it stays: details for your developer, to copy</summary>
        <pre class="copy">{JSON.stringify(details, null, 2)}</pre>
      </details>
    </>
  );
}
