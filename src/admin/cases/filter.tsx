import { Fragment, type VNode } from 'preact';
import { AGE_BOUNDS_SEC, AGE_WORDS, AGES, type Age } from '../../cases/findings.ts';
import { fitting } from '../action-form.ts';
import { type Wanted, UNASSIGNED, type CaseCount } from './cases.sql.ts';
import { caseTitle } from '../../cases/case-text.ts';
import { Amount } from '../../platform/html.tsx';
import { Button, Choice, Field } from '../layout/parts.tsx';

export const PAGE_ROWS = 100;

/** Which part of the list is shown. */
export type CaseFilter = {
  class: string | null;
  age: Age | null;
  owner: string | null;
  /** Part of a reference, an order's id or a customer's address. */
  q: string | null;
  after: string | null;
};

export function readFilter(query: Record<string, unknown>): CaseFilter {
  const text = (name: string): string | null => fitting(query[name], /^\s*\S[^]{0,253}$/)?.trim() ?? null;
  return {
    class: fitting(query.class, /^[a-z_]{1,40}$/),
    age: AGES.find((age) => age === query.age) ?? null,
    owner: text('owner'),
    q: text('q'),
    after: fitting(query.after, /^\d{1,16}\.[a-z]{1,10}-\d{1,18}$/),
  };
}

/** The filter as parameters of an address, for the page after a case. */
export function filterParams(filter: CaseFilter, after: string | null): Record<string, string> {
  const given = Object.entries({ ...filter, after }).filter(([, value]) => value !== null);
  return Object.fromEntries(given) as Record<string, string>;
}

export function wantedBy({ class: name, age, owner, q }: CaseFilter): Wanted {
  const bounds = age === null ? null : AGE_BOUNDS_SEC[age];
  return {
    class: name,
    ageFromSec: bounds?.fromSec ?? null,
    ageBelowSec: bounds?.belowSec ?? null,
    owner,
    words: q,
  };
}

export function FilterForm({ filter, counts }: { filter: CaseFilter; counts: readonly CaseCount[] }): VNode {
  const kinds = [
    ...new Set([...counts.map((count) => count.class), ...(filter.class ? [filter.class] : [])]),
  ];
  const owners = [
    ...new Set([...counts.flatMap(({ owner }) => owner ?? []), ...(filter.owner ? [filter.owner] : [])]),
  ];
  const any = { value: '', name: 'any' };
  return (
    <form method="get" action="/admin/cases" class="filters">
      <Field
        id="q"
        label="Customer, order or reference"
        width="wide"
        name="q"
        type="search"
        maxLength={254}
        value={filter.q ?? ''}
      />
      <Choice
        id="class"
        name="class"
        label="Kind"
        chosen={filter.class ?? ''}
        options={[any, ...kinds.sort().map((value) => ({ value, name: caseTitle(value) }))]}
      />
      <Choice
        id="age"
        name="age"
        label="Opened"
        chosen={filter.age ?? ''}
        options={[any, ...Object.entries(AGE_WORDS).map(([value, name]) => ({ value, name }))]}
      />
      <Choice
        id="of"
        name="owner"
        label="Owner"
        chosen={filter.owner ?? ''}
        options={[
          any,
          { value: UNASSIGNED, name: 'unassigned' },
          ...owners.filter((name) => name !== UNASSIGNED).map((value) => ({ value, name: value })),
        ]}
      />
      <Button>Show</Button>
    </form>
  );
}

/** How many cases match, and how much money of them is held. */
export function Totals(props: { counts: readonly CaseCount[]; isFiltered: boolean }): VNode {
  const wanted = props.counts.filter(({ isWanted }) => isWanted);
  const count = wanted.reduce((sum, each) => sum + each.count, 0);
  if (count === 0)
    return <p class="none">{props.isFiltered ? 'Nothing to do matches.' : 'Nothing to do.'}</p>;
  const currencies = [...new Set(wanted.flatMap(({ currency }) => currency ?? []))];
  const sums = currencies.map((currency) => ({
    currency,
    amount: wanted.reduce((sum, each) => (each.currency === currency ? sum + each.held : sum), 0n),
  }));
  return (
    <p class="none">
      {count} open, oldest first.
      {sums.length > 0 && ' Held in all of them: '}
      {sums.map((sum, at) => (
        <Fragment key={sum.currency}>
          {at > 0 && ', '}
          <span class="amount">
            <Amount {...sum} />
          </span>
        </Fragment>
      ))}
      {sums.length > 0 && '.'}
    </p>
  );
}
