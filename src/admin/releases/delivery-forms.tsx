import type { VNode } from 'preact';
import type { EventRow } from '../../fulfilment/events.sql.ts';
import { Allowed, FormToken, WhoAndWhy, type Frame } from '../layout/frame.tsx';
import { Moment, OrderLink, Table } from '../layout/parts.tsx';
import type { Undelivered } from '../../fulfilment/releases.sql.ts';
import { Amount } from '../../platform/html.tsx';

const MAX_SHOWN = 200;
const HEAD = [
  'Select',
  'Happened',
  'Event',
  'Order',
  'Delivery',
  { number: 'Tries' },
  'Next try',
  'Last error',
];

/** Events, oldest first, with what became of them; those that are selected are sent again. */
export function EventsForm({
  frame,
  events,
  order,
}: {
  frame: Frame;
  events: readonly EventRow[];
  /** Whose page leads back to it; left out: to the list. */
  order?: string;
}): VNode {
  return (
    <form method="post" action="/admin/releases">
      <FormToken visitor={frame.visitor} />
      {order !== undefined && <input type="hidden" name="order" value={order} />}
      <Table label="The events, and what became of each" head={HEAD}>
        {events.slice(0, MAX_SHOWN).map((event) => (
          <tr key={event.id}>
            <td>
              <input type="checkbox" name="id" value={event.id} aria-label={`${event.type} ${event.id}`} />
            </td>
            <td>
              <Moment at={event.happenedAt} />
            </td>
            <td>{event.type}</td>
            <td>
              <OrderLink id={event.orderId} />
            </td>
            <td>
              <Delivery word={event.delivery} why="this type is not asked for" />
            </td>
            <td class="number">{event.attempts}</td>
            <td>
              <Moment at={event.nextDeliveryAt} />
            </td>
            <td class="words">{event.lastError ?? ''}</td>
          </tr>
        ))}
      </Table>
      {events.length > MAX_SHOWN && <p class="none">The oldest {MAX_SHOWN} are shown.</p>}
      <Allowed visitor={frame.visitor} action="events">
        <div class="action">
          <WhoAndWhy visitor={frame.visitor} id="redeliver-events" />
          <p class="field">
            <button>Send selected again</button>
          </p>
        </div>
      </Allowed>
    </form>
  );
}

const DELIVERIES: Readonly<Record<string, string>> = { unneeded: 'not sent', dead: 'given up' };

/** What became of a delivery. @param why it was not sent, if it was not */
export function Delivery({ word, why }: { word: string; why?: string }): VNode {
  return (
    <>
      <span class={`status ${word}`}>{DELIVERIES[word] ?? word}</span>
      {word === 'unneeded' && why !== undefined && ` ${why}`}
    </>
  );
}

type Props = { frame: Frame; undelivered: readonly Undelivered[]; isWithheld?: boolean };

/** Paid orders that the delivery system does not have; those that are selected are sent. */
export function UndeliveredForm({ frame, undelivered, isWithheld = false }: Props): VNode {
  return (
    <form method="post" action="/admin/releases">
      <FormToken visitor={frame.visitor} />
      <Table
        label={isWithheld ? 'Withheld orders' : 'Orders waiting for delivery'}
        head={[
          'Select',
          'Paid',
          'Order',
          'Delivery',
          { number: 'Tries' },
          'Next try',
          { number: 'Amount' },
          'Last error',
        ]}
      >
        {undelivered.slice(0, MAX_SHOWN).map((release) => (
          <tr key={release.id}>
            <td>
              <input type="checkbox" name="id" value={release.id} aria-label={`Order ${release.orderId}`} />
            </td>
            <td>
              <Moment at={release.releasedAt} />
            </td>
            <td>
              <OrderLink id={release.orderId} />
            </td>
            <td>
              <Delivery word={release.delivery} />
            </td>
            <td class="number">{release.attempts}</td>
            <td>
              <Moment at={release.nextDeliveryAt} />
            </td>
            <td class="number">
              <Amount {...release} />
            </td>
            <td class="words">{release.lastError ?? ''}</td>
          </tr>
        ))}
      </Table>
      {undelivered.length > MAX_SHOWN && <p class="none">The oldest {MAX_SHOWN} are shown.</p>}
      <Allowed visitor={frame.visitor} action="releases">
        <div class="action">
          <WhoAndWhy visitor={frame.visitor} id={isWithheld ? 'send-withheld' : 'redeliver'} />
          <p class="field">
            {isWithheld ? (
              <button name="operation" value="withheld" class="quiet">
                Send selected all the same
              </button>
            ) : (
              <button>Send selected again</button>
            )}
          </p>
        </div>
      </Allowed>
    </form>
  );
}
