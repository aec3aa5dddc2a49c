import type { VNode } from 'preact';
import type { EventRow } from '../../fulfilment/events.sql.ts';
import { foreignText } from '../../platform/terminal.ts';
import { sentence } from '../../reporting/order-words.ts';
import type { OrderDetail } from '../../reporting/order-detail.ts';
import { recordOf } from '../../reporting/explain.ts';
import type { Frame } from '../layout/frame.tsx';
import { Moment, Status, Table, words } from '../layout/parts.tsx';
import { EventsForm } from '../releases/delivery-forms.tsx';
import type { Evidence } from './find-orders.sql.ts';
import type { StoryEvent } from '../../reporting/timeline.sql.ts';

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
        rows={payments.map(({ reference, status, reason, checks, hints, nextCheckAt }) => [
          <code>{reference}</code>,
          <>
            <Status word={status} /> {reason === null ? '' : words(reason)}
          </>,
          checks,
          hints,
          nextCheckAt === null ? 'finished' : <Moment at={nextCheckAt} />,
          <a href={`/admin/webhooks?reference=${reference}`}>show</a>,
        ])}
      />
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

/** The story in order of time, with the pauses between: a long pause is often where the problem is. */
function Timeline({ story }: { story: readonly StoryEvent[] }): VNode {
  return (
    <ol class="timeline">
      {story.map((event, index) => (
        <li key={index} class={event.source}>
          <Pause before={story[index - 1]} event={event} />
          <p class="event">
            <Moment at={event.at} /> <span class="source">{event.source}</span>{' '}
            <strong>{words(event.what)}</strong>
          </p>
          <p class="detail">
            {event.reference !== null && <code>{event.reference}</code>} <Detail event={event} />
          </p>
        </li>
      ))}
    </ol>
  );
}

const WORTH_SAYING_SEC = 60;

function Pause({ before, event }: { before: StoryEvent | undefined; event: StoryEvent }): VNode | null {
  const sec = before === undefined ? 0 : (event.at.getTime() - before.at.getTime()) / 1_000;
  if (sec < WORTH_SAYING_SEC) return null;
  return <p class="pause">{pauseWords(sec)} later</p>;
}

function pauseWords(sec: number): string {
  if (sec < 7_200) return `${Math.round(sec / 60)} min`;
  return sec < 172_800 ? `${Math.round(sec / 3_600)} hours` : `${Math.round(sec / 86_400)} days`;
}

/** An answer of the service links to its text. */
function Detail({ event: { source, detail } }: { event: StoryEvent }): VNode {
  const id = source === 'verification' ? /^#(\d+)/.exec(detail)?.[1] : undefined;
  if (id === undefined) return <>{detail}</>;
  return (
    <>
      <a href={`#verification-${id}`}>#{id}</a>
      {detail.slice(id.length + 1)}
    </>
  );
}
