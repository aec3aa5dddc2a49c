import type { VNode } from 'preact';
import { AdminPage, Allowed, FormToken, WhoAndWhy, type Frame } from '../layout/frame.tsx';

type Props = {
  frame: Frame;
  /** Like `2026-01`: the month that the forms begin with. */
  month: string;
  /** Whether the form for whole addresses was sent without a name or a reason. */
  isUnnamed: boolean;
};

/** The month for the accountant, as files. */
export function BooksPage({ frame, month, isUnnamed }: Props): VNode {
  return (
    <AdminPage frame={frame} title="Books" here="/admin/books">
      <p class="none">
        Every confirmed payment, refund, money held or decided about, and payout to your bank in a month, by
        days in UTC. Over all time they add up to the reconciliation.
      </p>
      <form method="get" action="/admin/books.csv" class="filters">
        <MonthField id="month" month={month} />
        <p class="field">
          <button>Rows</button>
        </p>
        <p class="field">
          <button name="totals" value="yes">
            Totals
          </button>
        </p>
      </form>
      <Allowed visitor={frame.visitor} action="books.csv">
        <section aria-labelledby="whole">
          <h2 id="whole">With whole addresses</h2>
          <p class="none">
            Addresses of shoppers are masked. Who takes them whole says why, and that is kept.
          </p>
          {isUnnamed && <p class="alarm">It needs your name and a reason.</p>}
          <form method="post" action="/admin/books.csv" class="action">
            <FormToken visitor={frame.visitor} />
            <MonthField id="whole-month" month={month} />
            <WhoAndWhy visitor={frame.visitor} id="disclosure" />
            <p class="field">
              <button>Rows with addresses</button>
            </p>
          </form>
        </section>
      </Allowed>
      <section aria-labelledby="other">
        <h2 id="other">Everything else</h2>
        <ul>
          {['orders', 'payments', 'suspense', 'findings', 'runs'].map((name) => (
            <li key={name}>
              <a href={`/admin/exports/${name}`}>All {name}</a>
            </li>
          ))}
        </ul>
      </section>
    </AdminPage>
  );
}

function MonthField({ id, month }: { id: string; month: string }): VNode {
  return (
    <p class="field">
      <label for={id}>Month</label>
      <input id={id} name="month" type="month" required pattern="\d{4}-\d{2}" value={month} />
    </p>
  );
}
