import type { VNode } from 'preact';
import { caseTitle, caseText } from '../../cases/case-text.ts';
import { MajorNumber, useLocale } from '../../platform/html.tsx';
import type { IdentityLine } from '../../reconciliation/report/control-totals.ts';
import type { ReconciliationReport } from '../../reconciliation/report/report.ts';
import { Table, words, Moment, OrderLink } from '../layout/parts.tsx';
import type { ItemFacts } from '../../cases/findings.ts';
import type { OrderId } from '../../platform/ids.ts';
import { amountsOf } from './verdict-text.ts';
import type { RunRow } from './runs.sql.ts';

/** Paid at the service = confirmed here + what each class holds beyond that, to the minor unit. */
export function Identity({ lines }: { lines: readonly IdentityLine[] }): VNode {
  return (
    <section aria-labelledby="identity" class="ledger">
      <h2 id="identity">The money</h2>
      {lines.length === 0 && <p class="none">No money in any class.</p>}
      {lines.map(({ currency, serviceTotal, confirmed, classes, difference }) => (
        <Table
          key={currency}
          label={`Money in ${currency}`}
          head={[currency, { number: 'Amount' }]}
          isHeaded
          rows={[
            ['paid at the service', <MajorNumber text={serviceTotal} />],
            ['= confirmed here', <MajorNumber text={confirmed} />],
            ...Object.entries(classes).map(([name, amount]) => [
              `+ ${caseTitle(name)}`,
              <MajorNumber text={amount} />,
            ]),
            [
              '+ unexplained',
              <span class={/[1-9]/.test(difference) ? 'alarm' : undefined}>
                <MajorNumber text={difference} />
              </span>,
            ],
          ]}
        />
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

/** More rows than a person reads; the list of what is to be done pages through all of them. */
export const MAX_ITEMS = 200;

type Props = {
  items: readonly ItemFacts[];
  /** Masked. */
  customers: ReadonlyMap<OrderId, string>;
  /** When the check began: what was seen first after that is new. */
  since: Date;
};

/** The differences that were open after a check, each with its sentence and the way to its case. */
export function Items({ items, customers, since }: Props): VNode {
  const locale = useLocale();
  return (
    <section aria-labelledby="items">
      <h2 id="items">What was open after it</h2>
      <Table
        label="Differences"
        head={['Problem', 'Customer', { words: 'What is wrong' }, 'First seen', 'Order', 'To do']}
        rows={items.map((item) => {
          const { class: name, reference, orderId, firstSeenAt } = item;
          const { title, sentence } = caseText({ class: name, ...amountsOf(item), held: null }, locale);
          return [
            title,
            (orderId === null ? undefined : customers.get(orderId)) ?? '–',
            sentence,
            new Date(firstSeenAt) >= since ? 'new' : <Moment at={new Date(firstSeenAt)} />,
            <OrderLink id={orderId} />,
            <a href={`/admin/cases?${new URLSearchParams({ q: reference }).toString()}`}>Look at it</a>,
          ];
        })}
      />
      {items.length === MAX_ITEMS && (
        <p class="none">
          The oldest {MAX_ITEMS}. <a href="/admin/cases">All that is to be done</a>
        </p>
      )}
    </section>
  );
}

/** Which payments a check compared. */
export function Compared({ run: { since, until } }: { run: Pick<RunRow, 'since' | 'until'> }): VNode {
  return (
    <>
      {since === null && until === null && 'all'}
      {since !== null && (
        <>
          since <Moment at={since} />
        </>
      )}
      {until !== null && (
        <>
          {' '}
          before <Moment at={until} />
        </>
      )}
    </>
  );
}
