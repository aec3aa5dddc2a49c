import type { VNode } from 'preact';
import type { EventRow } from '../../fulfilment/events.sql.ts';
import { foreignText } from '../../platform/foreign-text.ts';
import { sentence } from '../../reporting/order-words.ts';
import type { OrderDetail } from '../../reporting/order-detail.ts';
import { recordOf } from '../../reporting/explain-text.ts';
import type { Frame } from '../layout/frame.tsx';
import { Moment, Status, Table, words } from '../layout/parts.tsx';
import { EventsForm } from '../releases/events-form.tsx';
import type { Evidence } from './orders.sql.ts';
import { Timeline } from './timeline.tsx';

type Props = {
  frame: Frame;
  orderDetail: OrderDetail;
  evidence: readonly Evidence[];
  events: readonly EventRow[];
};

/** Rows, hashes and raw answers: what proves the sentences above, folded until a reader opens it. */
export function ForDevelopers({ frame, orderDetail, evidence, events }: Props): VNode {
  const { orderId, journal, story, payments } = orderDetail;
  return (
    <section class="developers" aria-label="For developers">
      <details>
        <summary>For developers</summary>
        <p>
          Order <code>{orderId}</code>. On a terminal: <code>npm run explain -- {orderId} --evidence</code>
        </p>
        <p>
          {sentence(recordOf(orderDetail))}. Last hash <code>{journal.hash ?? 'none'}</code>
        </p>
        <p>
          <a href={`/admin/orders/${orderId}/dispute`} download={`dispute-${orderId}.html`}>
            Dispute pack
          </a>
          : one file for the acquirer, with the customer’s address masked.
        </p>
        {payments.length > 0 && <Payments payments={payments} />}
        {events.length > 0 && (
          <>
            <h2>Events</h2>
            <EventsForm frame={frame} events={events} order={orderId} />
          </>
        )}
        <h2>Every row</h2>
        <p class="none">Times in UTC; amounts in minor units, as the rows have them.</p>
        <Timeline story={story} />
        <h2>Answers of the service</h2>
        {evidence.length === 0 && <p class="none">The service has not been asked yet.</p>}
        {evidence.map((answer) => (
          <EvidenceItem key={String(answer.id)} answer={answer} />
        ))}
      </details>
    </section>
  );
}

function Payments({ payments }: { payments: OrderDetail['payments'] }): VNode {
  return (
    <>
      <h2>Payments</h2>
      <Table
        label="The payments, and how often each was checked"
        head={[
          'Reference',
          'Status',
          { number: 'Checked' },
          { number: 'Webhooks and returns' },
          'Next check',
          'Webhooks',
        ]}
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
            <td>{nextCheckAt === null ? 'finished' : <Moment at={nextCheckAt} />}</td>
            <td>
              <a href={`/admin/webhooks?reference=${reference}`}>show</a>
            </td>
          </tr>
        ))}
      </Table>
    </>
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
