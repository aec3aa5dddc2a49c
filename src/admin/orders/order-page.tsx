import type { VNode } from 'preact';
import { MajorAmount } from '../../platform/html.tsx';
import type { EventRow } from '../../fulfilment/events.sql.ts';
import type { OrderDetail } from '../../reporting/explain.ts';
import { AdminPage, FormToken, WhoAndWhy, type Frame } from '../layout/frame.tsx';
import { foreignText } from '../../platform/foreign-text.ts';
import { Moment, Status, Table, words } from '../layout/parts.tsx';
import { EventsForm } from '../releases/events-form.tsx';
import type { ReleaseRow } from '../releases/releases.sql.ts';
import { CancelForm, ReopenForm } from './cancel-parts.tsx';
import type { Evidence } from './orders.sql.ts';
import { Refunds } from './refund-form.tsx';
import { ReleaseCard } from './release-card.tsx';
import { Timeline } from './timeline.tsx';

type Props = {
  frame: Frame;
  orderDetail: OrderDetail;
  evidence: readonly Evidence[];
  release: ReleaseRow | null;
  events?: readonly EventRow[];
};

/** Statuses in which there is nothing to cancel. */
const ENDED: readonly string[] = ['paid', 'cancelled'];

/**
 * Everything known about one order: what an operator reads before deciding anything,
 * and the actions on it.
 */
export function OrderDetailPage({ frame, orderDetail, evidence, release, events = [] }: Props): VNode {
  const { orderId, story } = orderDetail;
  const { may } = frame.visitor;
  return (
    <AdminPage frame={frame} title="Order" here="/admin/orders">
      <Heading orderDetail={orderDetail} />
      <Whole orderDetail={orderDetail} />
      <Payments frame={frame} orderDetail={orderDetail} />
      {orderDetail.status === 'cancelled' && may('reopen') && <ReopenForm frame={frame} orderId={orderId} />}
      {release !== null && <ReleaseCard frame={frame} release={release} />}
      {orderDetail.status === 'paid' && <Refunds frame={frame} orderDetail={orderDetail} />}
      {!ENDED.includes(orderDetail.status) && may('cancel') && <CancelForm frame={frame} orderId={orderId} />}
      {events.length > 0 && (
        <section aria-labelledby="events">
          <h2 id="events">Events</h2>
          <EventsForm frame={frame} events={events} order={orderId} />
        </section>
      )}
      <section aria-labelledby="story">
        <h2 id="story">Story</h2>
        <p class="none">Times in UTC; amounts in minor units, as the rows have them.</p>
        <Timeline story={story} />
      </section>
      <section aria-labelledby="evidence">
        <h2 id="evidence">Evidence</h2>
        {evidence.length === 0 && <p class="none">The service has not been asked yet.</p>}
        {evidence.map((answer) => (
          <EvidenceItem key={String(answer.id)} answer={answer} />
        ))}
      </section>
      <p class="none">
        The same on a terminal: <code>npm run explain -- {orderId}</code>
      </p>
      <p>
        <a href={`/admin/orders/${orderId}/dispute`} download={`dispute-${orderId}.html`}>
          Dispute pack
        </a>
        : one file for the acquirer, with the customer’s address masked.
      </p>
    </AdminPage>
  );
}

function Heading({ orderDetail }: { orderDetail: OrderDetail }): VNode {
  const { orderId, externalId, status, amount, currency, lines, metadata, payBy } = orderDetail;
  return (
    <section aria-label="The order">
      <p class="headline">
        <code>{orderId}</code> <Status word={status} />{' '}
        <strong>
          <MajorAmount text={amount} currency={currency} />
        </strong>
      </p>
      <ul class="plain">
        {lines.map(({ description, quantity }, index) => (
          <li key={index}>{`${quantity} × ${description}`}</li>
        ))}
      </ul>
      <p>
        {externalId !== null && (
          <>
            External id <code>{externalId}</code>,{' '}
          </>
        )}
        <a href={`/shop/orders/${orderId}`}>what the shopper sees</a>
      </p>
      {payBy !== null && (
        <p>
          To be paid by <Moment at={payBy} />
        </p>
      )}
      {Object.keys(metadata).length > 0 && (
        <dl class="facts">
          {Object.entries(metadata).map(([name, text]) => [<dt key={name}>{name}</dt>, <dd>{text}</dd>])}
        </dl>
      )}
    </section>
  );
}

function Whole({ orderDetail: { contradictions, journal } }: { orderDetail: OrderDetail }): VNode {
  return (
    <section aria-labelledby="chain">
      <h2 id="chain">Journal</h2>
      {contradictions.length === 0 ? (
        <p class="agreed">Whole: its numbers are dense, every hash fits, and no row contradicts it.</p>
      ) : (
        <>
          <p class="alarm">This order was changed by other means:</p>
          <ul>
            {contradictions.map((what) => (
              <li key={what}>{what}</li>
            ))}
          </ul>
        </>
      )}
      <p class="none">
        {journal.entries} entries, the last hash <code>{journal.hash ?? 'none'}</code>
      </p>
    </section>
  );
}

function Payments({ frame, orderDetail: { payments } }: { frame: Frame; orderDetail: OrderDetail }): VNode {
  return (
    <section aria-labelledby="payments">
      <h2 id="payments">Payments</h2>
      <Table
        label="The payments, and how often each was looked at"
        head={['Reference', 'Status', { number: 'Looked at' }, { number: 'Hints' }, 'Next look', 'Came by']}
      >
        {payments.map(({ reference, status, reason, checks, hints, nextCheckAt }) => (
          <tr key={reference}>
            <td>
              <code>{reference}</code>
            </td>
            <td>
              <Status word={status} /> {reason === null ? '' : words(reason)}
            </td>
            <td class="number">{checks}</td>
            <td class="number">{hints}</td>
            <td>{nextCheckAt === null ? 'no more by itself' : <Moment at={nextCheckAt} />}</td>
            <td>
              <a href={`/admin/webhooks?reference=${reference}`}>webhooks</a>
            </td>
          </tr>
        ))}
      </Table>
      {payments.length > 0 && frame.visitor.may('checks') && (
        <form method="post" action="/admin/checks" class="action">
          <FormToken visitor={frame.visitor} />
          {payments.length === 1 ? (
            <input type="hidden" name="id" value={payments[0]?.reference} />
          ) : (
            <p class="field wide">
              <label for="check-id">Payment</label>
              <select id="check-id" name="id">
                {payments.map(({ reference }) => (
                  <option key={reference}>{reference}</option>
                ))}
              </select>
            </p>
          )}
          <WhoAndWhy visitor={frame.visitor} id="check" />
          <p class="field">
            <button>Ask the service now</button>
          </p>
        </form>
      )}
    </section>
  );
}

function EvidenceItem({ answer }: { answer: Evidence }): VNode {
  const { id, reference, outcome, cause, httpStatus, answeredAt, body } = answer;
  return (
    <details id={`verification-${id}`}>
      <summary>
        <Moment at={answeredAt} /> #{String(id)} <Status word={outcome} /> HTTP {httpStatus}, asked by {cause}
        , <code>{reference}</code>
      </summary>
      {body === null ? (
        <p class="none">Only its digest is kept.</p>
      ) : (
        <pre tabIndex={0}>{foreignText(body)}</pre>
      )}
    </details>
  );
}
