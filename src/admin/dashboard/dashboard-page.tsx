import type { VNode } from 'preact';
import { AGE_WORDS } from '../../cases/findings.ts';
import { caseTitle } from '../../cases/case-text.ts';
import { type CheckoutStop, EVERY_CURRENCY, readCheckoutStops } from '../../payments/checkout-stops.sql.ts';
import {
  type Undelivered,
  lastRun,
  MAX_COUNTED,
  openMoney,
  openSuspenseSums,
  undeliveredCounts,
  webhookSilence,
} from '../../reporting/shop-state.sql.ts';
import { type OpenCases, openCaseCounts } from '../cases/cases.sql.ts';
import { AdminPage, type Frame } from '../layout/frame.tsx';
import { Button, Field, span } from '../layout/parts.tsx';
import { Alarms, HealthLine, type Health, CheckoutStops, StopForm } from './health.tsx';
import { MoneyTable, type MoneyLine, moneyLines } from './money-table.tsx';
import { sendPage } from '../../platform/html.tsx';
import type { AdminParts } from '../pages.ts';
import { confirmedDays, wentBackDays } from '../../reporting/money-by-day.sql.ts';
import { lastIntegrityCheck } from '../../reporting/integrity.sql.ts';
import { payableCurrency } from '../../platform/money.ts';

export type Today = Health & {
  frame: Frame;
  stops: readonly CheckoutStop[];
  cases: readonly OpenCases[];
  undelivered: readonly Undelivered[];
  money: readonly MoneyLine[];
  isWaitingCut: boolean;
};

/** Today at a glance: can shoppers pay, what must a person do, what came in, does everything run? */
function TodayPage(today: Today): VNode {
  const { frame, stops, cases, undelivered, money, isWaitingCut } = today;
  return (
    <AdminPage frame={frame} title="Today" here="/admin">
      <CheckoutStops stops={stops} visitor={frame.visitor} />
      <Alarms {...today} />
      <ToDo cases={cases} undelivered={undelivered} />
      <form method="get" action="/admin/orders" class="filters" role="search">
        <Field
          id="q"
          label="Find an order: e-mail, order number, reference or your own number"
          width="wide"
          name="q"
          type="search"
          autocomplete="off"
          spellcheck={false}
        />
        <Button>Search orders</Button>
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

/** What is the state of the money, and what must an operator do? */
export function todayRoutes({ gateway, show, act, workerWatch, checkoutStops }: AdminParts): void {
  const { mode } = gateway;
  show('/admin', async (_req, res, { database, frame }) => {
    const [confirmed, wentBack, waiting, suspense] = await Promise.all([
      confirmedDays(database, mode, 1),
      wentBackDays(database, mode, 1),
      openMoney(database, mode, true),
      openSuspenseSums(database, mode),
    ]);
    const [cases, run, silence, undelivered, stops] = await Promise.all([
      openCaseCounts(database, mode),
      lastRun(database, mode),
      webhookSilence(database, mode),
      undeliveredCounts(database, mode),
      readCheckoutStops(database, mode),
    ]);
    const today = {
      frame,
      money: moneyLines({ confirmed, wentBack, waiting, suspense }),
      isWaitingCut: waiting.reduce((all, { payments }) => all + payments, 0) >= MAX_COUNTED,
      service: gateway.health(),
      worker: await workerWatch.state(),
      integrity: await lastIntegrityCheck(database),
    };
    sendPage(res, TodayPage({ ...today, cases, run, silence, undelivered, stops }));
  });
  act(
    '/admin/checkouts',
    () => '/admin',
    async ({ ids: [id = ''], operation, by, note }) => {
      const currency = id === EVERY_CURRENCY ? id : payableCurrency(id);
      if (currency === null) return { 'no-currency': 1 };
      const request = { currency, by, note };
      if (operation === 'stop')
        return (await checkoutStops.stop(request)) ? { stopped: 1 } : { 'is-stopped': 1 };
      if (operation !== 'resume' && operation !== 'release') return { 'no-action': 1 };
      const goesOn = await checkoutStops.resume(request, operation === 'release');
      return goesOn ? { 'goes-on': 1 } : { gone: 1 };
    },
  );
}
