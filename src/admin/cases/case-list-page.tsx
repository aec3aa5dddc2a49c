import type { VNode } from 'preact';
import { caseTitle } from '../../cases/case-text.ts';
import { useLocale } from '../../platform/html.tsx';
import type { ActionForm } from '../action-form.ts';
import { AdminPage, FormToken, type Frame } from '../layout/frame.tsx';
import { Older, Table, type Head } from '../layout/parts.tsx';
import { Customer, Held, Moment, Notes, Owner, ToOrder } from './case-parts.tsx';
import type { CaseCount, CaseRow } from './cases.sql.ts';
import { textOf } from './case-advice.ts';
import { filterParams, PAGE_ROWS, type CaseFilter, FilterForm, Totals } from './filter.tsx';
import { SeveralAtOnce } from './decide-form.tsx';
import { keyOf, tickOf } from './actions.ts';

type CaseListProps = {
  frame: Frame;
  filter: CaseFilter;
  /** One more than a page holds, if there are further ones. */
  found: readonly CaseRow[];
  counts: readonly CaseCount[];
  /** What was filled in before, when a person comes back to it. */
  typed: ActionForm | null;
};

/** Every problem that waits for a person, oldest first: one row each. */
export function CaseListPage({ frame, filter, found, counts, typed }: CaseListProps): VNode {
  const rows = found.slice(0, PAGE_ROWS);
  const last = found.length > PAGE_ROWS ? rows.at(-1)?.place : undefined;
  const mayAct = frame.visitor.may('note');
  const isAll = typed?.field('all') === 'yes';
  const head: Head = [
    ...(mayAct ? ['Select'] : []),
    'Kind',
    'Customer',
    { words: 'What is wrong' },
    { number: 'Held' },
    'Since',
    'Owner',
    'Order',
    'Next',
  ];
  const table = (
    <Table
      label="To do"
      head={head}
      rows={rows.map((row) => [
        ...(mayAct
          ? [<Select row={row} isChecked={!isAll && (typed?.ids.includes(tickOf(row)) ?? false)} />]
          : []),
        ...cellsOf(row),
      ])}
    />
  );
  return (
    <AdminPage frame={frame} title="To do" here="/admin/cases">
      <FilterForm filter={filter} counts={counts} />
      <Totals counts={counts} isFiltered={Object.values(filter).some((value) => value !== null)} />
      {rows.length > 0 && mayAct && (
        <form method="post" action="/admin/cases">
          <FormToken visitor={frame.visitor} />
          <input
            type="hidden"
            name="list"
            value={new URLSearchParams(filterParams(filter, filter.after)).toString()}
          />
          {table}
          <SeveralAtOnce visitor={frame.visitor} rows={rows.length} typed={typed} />
        </form>
      )}
      {rows.length > 0 && !mayAct && table}
      {last !== undefined && <Older address="/admin/cases" params={filterParams(filter, last)} />}
      {rows.length > 0 && (
        <p>
          <a href={`/admin/cases.csv?${new URLSearchParams(filterParams(filter, null)).toString()}`}>
            These as CSV
          </a>
        </p>
      )}
    </AdminPage>
  );
}

/**
 * The form sends the version of a row even if it is not selected, because a person may select the whole page.
 */
function Select({ row, isChecked }: { row: CaseRow; isChecked: boolean }): VNode {
  const label = `Select ${caseTitle(row.class)}, ${row.reference}`;
  return (
    <>
      <input type="checkbox" name="id" value={tickOf(row)} checked={isChecked} aria-label={label} />
      <input type="hidden" name="shown" value={tickOf(row)} />
    </>
  );
}

function cellsOf(row: CaseRow): VNode[] {
  const others = row.findings.map((finding) => finding.class).filter((name) => name !== row.class);
  return [
    <>
      <span class="status review">{caseTitle(row.class)}</span>
      {others.map((name) => (
        <p class="none" key={name}>
          {caseTitle(name)}
        </p>
      ))}
    </>,
    <Customer row={row} />,
    <>
      <Sentence row={row} />
      <Notes notes={row.notes} />
    </>,
    <Held row={row} />,
    <Moment at={row.since} />,
    <Owner name={row.owner} />,
    <ToOrder id={row.orderId} />,
    <a class="next" href={`/admin/cases/${keyOf(row)}`}>
      Decide
    </a>,
  ];
}

function Sentence({ row }: { row: CaseRow }): VNode {
  return <>{textOf(row, useLocale()).sentence}</>;
}
