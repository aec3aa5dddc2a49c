import type { ComponentChildren, VNode } from 'preact';
import { MajorNumber } from '../../platform/html.tsx';
import { CLASSES, type ReconciliationClass } from '../../cases/classes.ts';
import type { IdentityLine } from '../../reconciliation/report/control-totals.ts';
import type { ReconciliationReport } from '../../reconciliation/report/report.ts';
import { downloadAddress } from '../layout/download.ts';
import { AdminPage, type Frame } from '../layout/frame.tsx';
import { Moment, Older, Status, Table, words } from '../layout/parts.tsx';
import type { RunRow, StoredRun } from './runs.sql.ts';

export const VERDICTS = {
  agreed: "Our orders and the service's records agree to the last minor unit.",
  findings: 'Open disagreements need attention.',
  incomplete: 'The run could not be completed; the report says why.',
} as const;

export function RunListPage(props: { frame: Frame; runs: readonly RunRow[]; next: string | null }): VNode {
  const { frame, runs, next } = props;
  return (
    <AdminPage frame={frame} title="Reconciliation runs" here="/admin/runs">
      {runs.length === 0 ? (
        <p class="none">
          There was none yet. Type: <code>npm run reconcile</code>
        </p>
      ) : (
        <Table label="Runs" head={['Started', 'Run', 'Verdict', { number: 'Findings' }, 'Finished']}>
          {runs.map(({ id, startedAt, finishedAt, verdict, findings }) => (
            <tr key={id}>
              <td>
                <Moment at={startedAt} />
              </td>
              <td>
                <a href={`/admin/runs/${id}`}>{id}</a>
              </td>
              <td>
                <Status word={verdict ?? 'under way'} />
              </td>
              <td class="number">{findings ?? '–'}</td>
              <td>
                <Moment at={finishedAt} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {runs.length > 0 && (
        <p>
          <a href={downloadAddress('runs')}>All runs as CSV</a>
        </p>
      )}
      {next !== null && <Older address="/admin/runs" params={{ before: next }} />}
    </AdminPage>
  );
}

type RunProps = { frame: Frame; run: StoredRun; children: ComponentChildren };

/** @param children what changed between this run and another */
export function RunPage({ frame, run, children }: RunProps): VNode {
  const { id, startedAt, finishedAt, verdict, report } = run;
  return (
    <AdminPage frame={frame} title="Reconciliation run" here="/admin/runs">
      <section aria-label="Verdict">
        <p class={`headline ${verdict ?? ''}`}>
          <Status word={verdict ?? 'under way'} /> {verdict === null ? '' : VERDICTS[verdict]}
        </p>
        {typeof report?.incompleteReason === 'string' && <p class="alarm">{report.incompleteReason}</p>}
        <p class="none">
          <code>{id}</code>, <Moment at={startedAt} /> to <Moment at={finishedAt} />
        </p>
      </section>
      {report === null ? (
        <p class="none">It wrote no report.</p>
      ) : (
        <>
          <Identity lines={report.identity} />
          <Counts report={report} />
          {report.complete && (
            <p>
              <a href={downloadAddress('matched', { run: id })}>What was released and agreed, as CSV</a>
            </p>
          )}
        </>
      )}
      {children}
    </AdminPage>
  );
}

/** Paid at the service = confirmed here + what each class holds beyond that, to the minor unit. */
function Identity({ lines }: { lines: readonly IdentityLine[] }): VNode {
  return (
    <section aria-labelledby="identity" class="ledger">
      <h2 id="identity">The money</h2>
      {lines.length === 0 && <p class="none">No money in any class.</p>}
      {lines.map(({ currency, serviceTotal, confirmed, classes, difference }) => (
        <Table key={currency} label={`Money in ${currency}`} head={[currency, { number: 'Amount' }]}>
          <tr>
            <th scope="row">paid at the service</th>
            <td class="number">
              <MajorNumber text={serviceTotal} />
            </td>
          </tr>
          <tr>
            <th scope="row">= confirmed here</th>
            <td class="number">
              <MajorNumber text={confirmed} />
            </td>
          </tr>
          {Object.entries(classes).map(([name, amount]) => (
            <tr key={name}>
              <th scope="row">+ {words(name)}</th>
              <td class="number">
                <MajorNumber text={amount} />
              </td>
            </tr>
          ))}
          <tr class={/[1-9]/.test(difference) ? 'alarm' : ''}>
            <th scope="row">+ unexplained</th>
            <td class="number">
              <MajorNumber text={difference} />
            </td>
          </tr>
        </Table>
      ))}
    </section>
  );
}

function Counts({ report }: { report: ReconciliationReport }): VNode {
  const { history, payments, matched, repaired, verified, findings, setAside = {} } = report;
  const counts: [string, number][] = [
    ['records in the history', history.records],
    ['transactions in them', history.references],
    ['pages read', history.pages],
    ['unreadable records', history.unreadable],
    ['payments of ours compared', payments],
    ['matched', matched],
    ['repaired by this run', repaired],
    ['verified one by one', verified],
    ...Object.entries(setAside).map(([name, count]): [string, number] => [words(name), count]),
  ];
  return (
    <div class="cards">
      <section aria-labelledby="findings">
        <h2 id="findings">Findings</h2>
        {Object.keys(findings).length === 0 && <p class="none">none</p>}
        <dl class="facts">
          {Object.entries(findings).map(([name, count]) => (
            <>
              <dt key={name}>
                {words(name)}: {count}
              </dt>
              <dd>{CLASSES[name as ReconciliationClass].todo}</dd>
            </>
          ))}
        </dl>
      </section>
      <section aria-labelledby="counts">
        <h2 id="counts">Compared</h2>
        <dl class="counts">
          {counts.map(([name, count]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{count.toLocaleString('en')}</dd>
            </div>
          ))}
        </dl>
      </section>
    </div>
  );
}
