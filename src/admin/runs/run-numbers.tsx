import type { VNode } from 'preact';
import { caseTitle } from '../../cases/case-text.ts';
import { MajorNumber } from '../../platform/html.tsx';
import type { IdentityLine } from '../../reconciliation/report/control-totals.ts';
import type { ReconciliationReport } from '../../reconciliation/report/report.ts';
import { Table, words } from '../layout/parts.tsx';

/** Paid at the service = confirmed here + what each class holds beyond that, to the minor unit. */
export function Identity({ lines }: { lines: readonly IdentityLine[] }): VNode {
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
              <th scope="row">+ {caseTitle(name)}</th>
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

/** What was compared, in numbers. */
export function Counts({ report }: { report: ReconciliationReport }): VNode {
  const { history, payments, matched, repaired, verified, setAside = {} } = report;
  const counts: [string, number][] = [
    ['records in the service’s list', history.records],
    ['different payments in them', history.references],
    ['pages read', history.pages],
    ['unreadable records', history.unreadable],
    ['our payments compared', payments],
    ['agree', matched],
    ['found and confirmed by this check', repaired],
    ['asked again one by one', verified],
    ...Object.entries(setAside).map(([name, count]): [string, number] => [words(name), count]),
  ];
  return (
    <section aria-labelledby="counts" class="ledger">
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
  );
}
