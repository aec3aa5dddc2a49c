import type { VNode } from 'preact';
import type { EventRow } from '../../fulfilment/events.sql.ts';
import { Allowed, FormToken, WhoAndWhy, type Frame } from '../layout/frame.tsx';
import { Button, Moment, OrderLink, Table } from '../layout/parts.tsx';
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
  { words: 'Last error' },
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
      <Table
        label="The events, and what became of each"
        head={HEAD}
        rows={events
          .slice(0, MAX_SHOWN)
          .map((event) => [
            <input type="checkbox" name="id" value={event.id} aria-label={`${event.type} ${event.id}`} />,
            <Moment at={event.happenedAt} />,
            event.type,
            <OrderLink id={event.orderId} />,
            <Delivery word={event.delivery} why="this type is not asked for" />,
            event.attempts,
            <Moment at={event.nextDeliveryAt} />,
            event.lastError ?? '',
          ])}
      />
      {events.length > MAX_SHOWN && <p class="none">The oldest {MAX_SHOWN} are shown.</p>}
      <Allowed visitor={frame.visitor} action="events">
        <div class="action">
          <WhoAndWhy visitor={frame.visitor} id="redeliver-events" />
          <Button>Send selected again</Button>
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
          { words: 'Last error' },
        ]}
        rows={undelivered
          .slice(0, MAX_SHOWN)
          .map((release) => [
            <input type="checkbox" name="id" value={release.id} aria-label={`Order ${release.orderId}`} />,
            <Moment at={release.releasedAt} />,
            <OrderLink id={release.orderId} />,
            <Delivery word={release.delivery} />,
            release.attempts,
            <Moment at={release.nextDeliveryAt} />,
            <Amount {...release} />,
            release.lastError ?? '',
          ])}
      />
      {undelivered.length > MAX_SHOWN && <p class="none">The oldest {MAX_SHOWN} are shown.</p>}
      <Allowed visitor={frame.visitor} action="releases">
        <div class="action">
          <WhoAndWhy visitor={frame.visitor} id={isWithheld ? 'send-withheld' : 'redeliver'} />
          {isWithheld ? (
            <Button name="operation" value="withheld" isQuiet>
              Send selected all the same
            </Button>
          ) : (
            <Button>Send selected again</Button>
          )}
        </div>
      </Allowed>
    </form>
  );
}
