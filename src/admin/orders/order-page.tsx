import type { VNode } from 'preact';
import type { EventRow } from '../../fulfilment/events.sql.ts';
import { useLocale } from '../../platform/html.tsx';
import { displayMajor } from '../../platform/money.ts';
import type { OrderDetail } from '../../reporting/order-detail.ts';
import { goodsOf, standingOf, stateOf } from '../../reporting/standing.ts';
import { storyLines } from '../../reporting/story-text.ts';
import { Action, AdminPage, Allowed, Facts, type Frame } from '../layout/frame.tsx';
import { Moment, Status } from '../layout/parts.tsx';
import type { ReleaseRow } from '../releases/releases.sql.ts';
import { ForDevelopers } from './for-developers.tsx';
import { OrderActions } from './order-actions.tsx';
import type { Evidence } from './find-orders.sql.ts';

type Props = {
  frame: Frame;
  orderDetail: OrderDetail;
  evidence: readonly Evidence[];
  release: ReleaseRow | null;
  events?: readonly EventRow[];
  /** The customer's whole address, for a person who gave a name and a reason. */
  email?: string;
};

/** One order: what was bought, where it stands, what next, what happened; the evidence is folded below. */
export function OrderDetailPage(props: Props): VNode {
  // A component of its own, because the reader's locale is known only within a page.
  return <OrderDetailParts {...props} />;
}

function OrderDetailParts({ frame, orderDetail, evidence, release, events = [], email }: Props): VNode {
  const locale = useLocale();
  const { orderId, amount, currency, cases, contradictions } = orderDetail;
  const { tone, text, next } = standingOf(orderDetail, locale);
  return (
    <AdminPage
      frame={frame}
      title={`${goodsOf(orderDetail)} · ${displayMajor(amount, currency, locale)}`}
      here="/admin/orders"
    >
      <Heading frame={frame} orderDetail={orderDetail} email={email} />
      {contradictions.length > 0 && (
        <section class="standing bad" aria-label="Altered">
          <p class="alarm">This order was changed by other means:</p>
          <ul>
            {contradictions.map((what) => (
              <li key={what}>{what}</li>
            ))}
          </ul>
        </section>
      )}
      <section class={`standing ${tone}`} aria-label="Where the order stands">
        <p class="sentence">{text}</p>
        <p>Next: {next}</p>
        {cases.length > 0 && (
          <p>
            <a class="button" href={`/admin/cases?q=${orderId}`}>
              Decide
            </a>
          </p>
        )}
      </section>
      <section aria-labelledby="happened">
        <h2 id="happened">What happened</h2>
        <ol class="happened">
          {storyLines(orderDetail, locale).map((line, index) => (
            <li key={index}>
              <Moment at={line.at} /> <span>{line.text}</span>
            </li>
          ))}
        </ol>
        <p class="none">Times in UTC.</p>
      </section>
      <OrderActions frame={frame} orderDetail={orderDetail} release={release} />
      <ForDevelopers frame={frame} orderDetail={orderDetail} evidence={evidence} events={events} />
    </AdminPage>
  );
}

type HeadingProps = { frame: Frame; orderDetail: OrderDetail; email: string | undefined };

function Heading({ frame, orderDetail, email }: HeadingProps): VNode {
  const locale = useLocale();
  const { orderId, externalId, lines, metadata, payBy, placedAt } = orderDetail;
  return (
    <div class="about">
      <p>
        <Status word={stateOf(orderDetail)} /> placed <Moment at={placedAt} />
      </p>
      <Customer frame={frame} orderDetail={orderDetail} email={email} />
      {externalId !== null && (
        <p>
          Your number <code>{externalId}</code>
        </p>
      )}
      {payBy !== null && (
        <p>
          To be paid by <Moment at={payBy} />
        </p>
      )}
      <p>
        <a href={`/shop/orders/${orderId}`}>Open the shopper’s page</a>
      </p>
      {lines.length > 1 && (
        <ul class="plain">
          {lines.map(({ description, quantity, amount }, index) => (
            <li
              key={index}
            >{`${quantity} × ${description}, ${displayMajor(amount, orderDetail.currency, locale)}`}</li>
          ))}
        </ul>
      )}
      {Object.keys(metadata).length > 0 && <Facts facts={metadata} />}
    </div>
  );
}

/** Masked, until a person says why the whole address is needed. */
function Customer({ frame, orderDetail: { orderId, customer }, email }: HeadingProps): VNode {
  if (customer === null) return <p class="none">The customer’s address was erased.</p>;
  if (email !== undefined)
    return (
      <p>
        Customer <strong>{email}</strong> <span class="none">(that you looked is in the journal)</span>
      </p>
    );
  return (
    <>
      <p>Customer {customer}</p>
      <Allowed visitor={frame.visitor} action="customer">
        <details>
          <summary>Show</summary>
          <Action
            visitor={frame.visitor}
            address="/admin/orders/customer"
            about={orderId}
            id="customer"
            button="Show it"
          />
        </details>
      </Allowed>
    </>
  );
}
