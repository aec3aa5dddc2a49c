import type { VNode } from 'preact';
import { caseTitle, written } from '../../cases/case-text.ts';
import { useLocale } from '../../platform/html.tsx';
import { AdminPage, Allowed, FormToken, WhoAndWhy, Who, type Frame } from '../layout/frame.tsx';
import { Button, Field } from '../layout/parts.tsx';
import { Customer, customerOf, Held, Moment, Owner, History } from './case-parts.tsx';
import type { CaseRow } from './cases.sql.ts';
import { addressOf, Decide, Hidden, type CasePageProps, NoteAndAssign } from './decide-form.tsx';
import { stepsFor, surplusOf, textOf } from './case-advice.ts';
import { tickOf } from './actions.ts';

/** One problem: what is wrong, what to do now, and the ways to end it. */
export function CasePage(props: CasePageProps): VNode {
  const { frame, row, records, reference } = props;
  const title = caseTitle(row?.class ?? records.at(-1)?.class ?? '');
  const customer = row && customerOf(row);
  return (
    <AdminPage frame={frame} title={[title, customer].filter(Boolean).join(' · ')} here="/admin/cases">
      {row === null ? (
        <p class="headline">Closed. You can still add a note.</p>
      ) : (
        <WhatIsWrong row={row} frame={frame} />
      )}
      <About row={row} records={records} reference={reference} />
      {row !== null && <Decide {...props} row={row} />}
      <Allowed visitor={frame.visitor} action="note">
        <section aria-labelledby="notes">
          <h2 id="notes">{row === null ? 'Note' : 'Note and owner'}</h2>
          <form method="post" action={addressOf(props.name)} class="action">
            <Hidden {...props} />
            <WhoAndWhy visitor={frame.visitor} id="note" />
            {row === null ? (
              <Button name="operation" value="note">
                Add note
              </Button>
            ) : (
              <NoteAndAssign typed={null} />
            )}
          </form>
        </section>
      </Allowed>
      <History records={records} />
    </AdminPage>
  );
}

function WhatIsWrong({ row, frame }: { row: CaseRow; frame: Frame }): VNode {
  const locale = useLocale();
  const surplus = surplusOf(row);
  return (
    <section class="raised" aria-labelledby="now">
      <p class="headline">{textOf(row, locale).sentence}</p>
      <h2 id="now">What to do now</h2>
      <ol class="steps">
        {stepsFor(row, locale).map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      {row.class === 'reversed' && row.orderId !== null && (
        <Allowed visitor={frame.visitor} action="refunds">
          <p>
            <a class="button" href={`/admin/orders/${row.orderId}#refunds`}>
              Write down a refund
            </a>
          </p>
        </Allowed>
      )}
      {surplus !== null && row.surplusRefund === null && (
        <Allowed visitor={frame.visitor} action="surplus">
          <form method="post" action={addressOf(row)} class="action">
            <FormToken visitor={frame.visitor} />
            <input type="hidden" name="id" value={tickOf(row)} />
            <input type="hidden" name="note" value={`${written(surplus, 'en')} too much`} />
            <Who visitor={frame.visitor} id="surplus" />
            <Field
              id="surplus"
              label="Number of the refund"
              name="refund"
              required
              maxLength={200}
              autocomplete="off"
            />
            <Button name="operation" value="surplus">
              I refunded {written(surplus, locale)}
            </Button>
          </form>
        </Allowed>
      )}
    </section>
  );
}

function About({ row, records, reference }: Pick<CasePageProps, 'row' | 'records' | 'reference'>): VNode {
  const orderId = row?.orderId ?? records.find((record) => record.orderId !== null)?.orderId ?? null;
  const order = orderId === null ? 'not ours' : <a href={`/admin/orders/${orderId}`}>{orderId}</a>;
  const facts = {
    ...(row !== null && {
      Customer: <Customer row={row} />,
      'Money held': <Held row={row} />,
      Since: <Moment at={row.since} />,
      Owner: <Owner name={row.owner} />,
    }),
    Order: order,
    Reference: <code>{reference}</code>,
  };
  return (
    <section class="ledger" aria-label="About it">
      <dl class="counts">
        {Object.entries(facts).map(([name, fact]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{fact}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
