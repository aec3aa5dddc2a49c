import type { VNode } from 'preact';
import { caseTitle, caseText, moneyOf } from '../../cases/case-text.ts';
import { MajorNumber, useLocale } from '../../platform/html.tsx';
import type { IdentityLine } from '../../reconciliation/report/control-totals.ts';
import type { ReconciliationReport } from '../../reconciliation/report/report.ts';
import { Table, words, Moment, OrderLink } from '../layout/parts.tsx';
import type { ItemFacts } from '../../cases/findings.ts';
import type { OrderId } from '../../platform/ids.ts';
import type { RunRow } from './runs.sql.ts';
import type { Verdict } from '../../cases/classes.ts';
import { displayMoney, type Money } from '../../platform/money.ts';

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

/** The result of a check in two words. */
export function verdictWords(verdict: Verdict | null): string {
  if (verdict === null) return 'under way';
  return { agreed: 'agreed', findings: 'not agreed', incomplete: 'not checked' }[verdict];
}

/** Why a check ended as it did, in a line. */
export function whyOf({
  verdict,
  problem,
  findings,
  isAnyHeld,
}: Pick<RunRow, 'verdict' | 'problem' | 'findings' | 'isAnyHeld'>): string {
  if (verdict === 'incomplete') return problemSentence(problem);
  const kinds = countsOf(findings).map(([name, count]) => `${caseTitle(name)}: ${count}`);
  if (verdict === 'findings' && kinds.length === 0)
    return isAnyHeld ? 'Money in suspense needs a decision.' : 'The sums do not add up.';
  return kinds.join(', ');
}

/**
 * How many differences of each kind are open. Payments without a verdict, because the list was cut, are none.
 */
export function countsOf(findings: RunRow['findings']): [name: string, count: number][] {
  return Object.entries(findings ?? {}).flatMap(([name, count = 0]) =>
    name === 'history_truncated' ? [] : [[name, count]],
  );
}

/** Why a check could not be completed, as a sentence, with the program's own words in brackets. */
export function problemSentence(problem: string | null): string {
  if (problem === null) return 'The check did not finish.';
  if (problem.includes('process of the run was lost')) return 'The program was stopped during the check.';
  if (/JSON|holds no list|unreadable/.test(problem))
    return `The service’s list of payments came back unreadable (${problem}).`;
  if (/HTTP [45]\d\d/.test(problem)) return `The service did not give its list of payments (${problem}).`;
  return `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`;
}

type Sums = { more: Map<string, bigint>; less: Map<string, bigint> };

/** `NGN 87,249.00 too much, XOF 64,999 missing`; empty where nothing can be summed. */
export function differenceWords(items: readonly ItemFacts[], locale: string): string {
  const sums: Sums = { more: new Map(), less: new Map() };
  for (const item of items) {
    const { expected, actual } = amountsOf(item);
    if (expected === null || actual === null) continue;
    const difference = actual.amount - expected.amount;
    const side = difference > 0n ? sums.more : sums.less;
    const size = difference > 0n ? difference : -difference;
    if (size > 0n) side.set(actual.currency, (side.get(actual.currency) ?? 0n) + size);
  }
  const written = (side: Map<string, bigint>, word: string): string[] =>
    side.size === 0
      ? []
      : [
          `${[...side].map(([currency, amount]) => displayMoney({ currency, amount }, locale)).join(' and ')} ${word}`,
        ];
  return [...written(sums.more, 'too much'), ...written(sums.less, 'missing')].join(', ');
}

/** The amounts of a difference. The item keeps only the currency that was paid, so another one is unknown. */
export function amountsOf(item: ItemFacts): Record<'expected' | 'actual', Money | null> {
  const expected = item.class === 'currency_mismatch' ? null : item.expected;
  return { expected: moneyOf(expected, item.currency), actual: moneyOf(item.actual, item.currency) };
}
