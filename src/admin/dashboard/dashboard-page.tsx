import type { VNode } from 'preact';
import { AGE_WORDS } from '../../cases/age.ts';
import { caseTitle } from '../../cases/case-text.ts';
import type { StoppedCurrency } from '../../payments/currency-stops.sql.ts';
import type { Undelivered } from '../../reporting/shop-state.sql.ts';
import type { OpenCases } from '../cases/cases.sql.ts';
import { AdminPage, type Frame } from '../layout/frame.tsx';
import { span } from '../layout/parts.tsx';
import { Alarms, HealthLine, type Health } from './health.tsx';
import { MoneyTable, type MoneyLine } from './money-table.tsx';
import { StopForm, Stops } from './stops.tsx';

export type Today = Health & {
  frame: Frame;
  stops: readonly StoppedCurrency[];
  cases: readonly OpenCases[];
  undelivered: readonly Undelivered[];
  money: readonly MoneyLine[];
  isWaitingCut: boolean;
};

/** Today at a glance: can shoppers pay, what must a person do, what came in, does everything run? */
export function TodayPage(today: Today): VNode {
  const { frame, stops, cases, undelivered, money, isWaitingCut } = today;
  return (
    <AdminPage frame={frame} title="Today" here="/admin">
      <Stops stops={stops} visitor={frame.visitor} />
      <Alarms {...today} />
      <ToDo cases={cases} undelivered={undelivered} />
      <form method="get" action="/admin/orders" class="filters" role="search">
        <p class="field wide">
          <label for="q">Find an order: e-mail, order number, reference or your own number</label>
          <input id="q" name="q" type="search" autocomplete="off" spellcheck={false} />
        </p>
        <p class="field">
          <button>Search orders</button>
        </p>
      </form>
      <section aria-labelledby="money">
        <h2 id="money">Takings today</h2>
        <MoneyTable lines={money} isWaitingCut={isWaitingCut} />
      </section>
      <HealthLine {...today} />
      <StopForm visitor={frame.visitor} />
    </AdminPage>
  );
}

/** One line for each kind of problem, and for deliveries that were given up. */
function ToDo({ cases, undelivered }: Pick<Today, 'cases' | 'undelivered'>): VNode {
  const dead = undelivered.find(({ delivery }) => delivery === 'dead');
  const waiting = undelivered.find(({ delivery }) => delivery === 'waiting');
  const count = cases.reduce((all, { count }) => all + count, dead?.count ?? 0);
  const kinds = [...new Set(cases.map((row) => row.class))];
  return (
    <section aria-labelledby="todo" class={count > 0 ? 'raised' : ''}>
      <h2 id="todo">
        {count === 0
          ? 'Nothing to do'
          : `${count.toLocaleString('en')} ${count === 1 ? 'thing' : 'things'} to do`}
      </h2>
      <ul class="plain">
        {kinds.map((name) => (
          <li key={name}>
            <Kind name={name} rows={cases.filter((row) => row.class === name)} />
          </li>
        ))}
        {dead !== undefined && (
          <li>
            <a href="/admin/releases">Delivery failed: {dead.count.toLocaleString('en')}</a>
            <span class="none">, oldest {span(dead.oldestSec)} ago</span>
          </li>
        )}
      </ul>
      {waiting !== undefined && (
        <p class="none">
          <a href="/admin/releases">{waiting.count.toLocaleString('en')} on the way to your system</a>, oldest{' '}
          {span(waiting.oldestSec)} ago
        </p>
      )}
    </section>
  );
}

function Kind({ name, rows }: { name: string; rows: readonly OpenCases[] }): VNode {
  const count = rows.reduce((all, row) => all + row.count, 0);
  const ages = Object.entries(AGE_WORDS).flatMap(([age, word]) => {
    const found = rows.find((row) => row.age === age);
    return found === undefined ? [] : [rows.length === 1 ? word : `${found.count} ${word}`];
  });
  return (
    <>
      <a href={`/admin/cases?${new URLSearchParams({ class: name }).toString()}`}>
        {caseTitle(name)}: {count.toLocaleString('en')}
      </a>
      <span class="none">, {ages.join(', ')}</span>
    </>
  );
}
