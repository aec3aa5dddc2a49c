import type { VNode } from 'preact';
import { ROW_TYPES, type EventType } from '../../fulfilment/event.ts';
import type { EventRow } from '../../fulfilment/events.sql.ts';
import type { Undelivered, Unsent } from '../../fulfilment/releases.sql.ts';
import { Amount } from '../../platform/html.tsx';
import { AdminPage, type Frame } from '../layout/frame.tsx';
import { Delivery, EventsForm } from './events-form.tsx';
import { Choice, Moment, Older, OrderLink, Table } from '../layout/parts.tsx';
import type { ReleaseRow } from './releases.sql.ts';
import { UndeliveredForm } from './undelivered-form.tsx';

type Props = {
  frame: Frame;
  undelivered: readonly Undelivered[];
  /** The newest of those that are not sent because their money went back. */
  withheld: readonly Undelivered[];
  /** Of one type, or of all. */
  events: readonly EventRow[];
  type: EventType | null;
  /** Paid orders that no delivery system was ever told of. */
  unsent: Unsent;
  /** Whether a delivery system is connected. */
  hasReceiver: boolean;
  latest: readonly ReleaseRow[];
  next: string | null;
};

/** Paid orders that the delivery system has not accepted yet, and the latest ones. */
export function ReleasesPage(props: Props): VNode {
  const { frame, undelivered, withheld, events, type, latest, next } = props;
  return (
    <AdminPage frame={frame} title="Deliveries" here="/admin/releases">
      <section aria-labelledby="undelivered">
        <h2 id="undelivered">Orders waiting for delivery: {undelivered.length}</h2>
        {waitingText(props).map((text) => (
          <p class="none" key={text}>
            {text}
          </p>
        ))}
        {undelivered.length > 0 && <UndeliveredForm frame={frame} undelivered={undelivered} />}
      </section>
      {withheld.length > 0 && (
        <section aria-labelledby="withheld">
          <h2 id="withheld">Withheld</h2>
          <p class="none">
            All of the money of these orders went back before they were sent. They are not sent by themselves.
          </p>
          <UndeliveredForm frame={frame} undelivered={withheld} isWithheld />
        </section>
      )}
      <section aria-labelledby="events">
        <h2 id="events">Other events waiting for delivery: {events.length}</h2>
        <form method="get" action="/admin/releases" class="action">
          <Choice
            id="type"
            name="type"
            label="Type"
            chosen={type ?? ''}
            options={[
              { value: '', name: 'every type' },
              ...ROW_TYPES.map((value) => ({ value, name: value })),
            ]}
          />
          <p class="field">
            <button>Show</button>
          </p>
        </form>
        {events.length > 0 && <EventsForm frame={frame} events={events} />}
      </section>
      <Latest latest={latest} next={next} />
    </AdminPage>
  );
}

function Latest({ latest, next }: Pick<Props, 'latest' | 'next'>): VNode {
  return (
    <section aria-labelledby="latest">
      <h2 id="latest">Latest</h2>
      <Table
        label="Latest deliveries"
        head={['Paid', 'Order', 'Delivery', { number: 'Amount' }, 'Delivered']}
      >
        {latest.map(({ id, orderId, delivery, amount, currency, releasedAt, deliveredAt }) => (
          <tr key={id}>
            <td>
              <Moment at={releasedAt} />
            </td>
            <td>
              <OrderLink id={orderId} />
            </td>
            <td>
              <Delivery word={delivery} why="no delivery system was connected" />
            </td>
            <td class="number">
              <Amount amount={amount} currency={currency} />
            </td>
            <td>
              <Moment at={deliveredAt} />
            </td>
          </tr>
        ))}
      </Table>
      {next !== null && <Older address="/admin/releases" params={{ before: next }} />}
    </section>
  );
}

function waitingText({ undelivered, unsent, hasReceiver, latest }: Props): string[] {
  const nothing = undelivered.length === 0 ? 'Nothing is waiting. ' : '';
  if (!hasReceiver)
    return [
      `${nothing}No delivery system is connected, so nothing is sent. Ask your developer (FULFILMENT_URL).`,
    ];
  const isSent = undelivered.length + unsent.count === 0 && latest.length > 0;
  return [
    ...(isSent ? ['Nothing is waiting. Every paid order was delivered.'] : nothing === '' ? [] : [nothing]),
    ...(unsent.oldest === null
      ? []
      : [
          `${unsent.count} paid ${unsent.count === 1 ? 'order' : 'orders'} from before the delivery system was ` +
            `connected, since ${unsent.oldest.toISOString().slice(0, 10)}, ${unsent.count === 1 ? 'was' : 'were'} ` +
            'never sent. To send: npm run releases -- send-unsent --by "your name"',
        ]),
  ];
}
