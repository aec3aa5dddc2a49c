import type { VNode } from 'preact';
import { ROW_TYPES, type EventType } from '../../fulfilment/event.ts';
import type { EventRow } from '../../fulfilment/events.sql.ts';
import type { Undelivered } from '../../fulfilment/releases.sql.ts';
import { Amount } from '../../platform/html.tsx';
import { AdminPage, Allowed, FormToken, WhoAndWhy, type Frame } from '../layout/frame.tsx';
import { EventsForm } from './events-form.tsx';
import { Choice, Moment, Older, OrderLink, Status, Table } from '../layout/parts.tsx';
import type { ReleaseRow } from './releases.sql.ts';

type Props = {
  frame: Frame;
  undelivered: readonly Undelivered[];
  /** Of one type, or of all. */
  events: readonly EventRow[];
  type: EventType | null;
  /** The message about releases that were never sent to a receiver; null: there are none. */
  notice: string | null;
  latest: readonly ReleaseRow[];
  next: string | null;
};

const MAX_SHOWN = 200;

/** Releases that are not delivered yet, and the latest releases. */
export function ReleasesPage({ frame, undelivered, events, type, notice, latest, next }: Props): VNode {
  return (
    <AdminPage frame={frame} title="Releases" here="/admin/releases">
      <section aria-labelledby="undelivered">
        <h2 id="undelivered">Not delivered yet: {undelivered.length}</h2>
        {notice !== null && <p class="none">{notice}</p>}
        {undelivered.length === 0 && notice === null && <p class="none">Every release has been delivered.</p>}
        {undelivered.length > 0 && <UndeliveredForm frame={frame} undelivered={undelivered} />}
      </section>
      <section aria-labelledby="events">
        <h2 id="events">Events not delivered yet: {events.length}</h2>
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
      <section aria-labelledby="latest">
        <h2 id="latest">Latest</h2>
        <Table
          label="Latest releases"
          head={['Released', 'Order', 'Delivery', { number: 'Amount' }, 'Delivered']}
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
                <Status word={delivery} />
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
    </AdminPage>
  );
}

function UndeliveredForm({ frame, undelivered }: Pick<Props, 'frame' | 'undelivered'>): VNode {
  return (
    <form method="post" action="/admin/releases">
      <FormToken visitor={frame.visitor} />
      <Table
        label="Releases not delivered yet"
        head={[
          'Tick',
          'Released',
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
              <input
                type="checkbox"
                name="id"
                value={release.id}
                aria-label={`Release of order ${release.orderId}`}
              />
            </td>
            <td>
              <Moment at={release.releasedAt} />
            </td>
            <td>
              <OrderLink id={release.orderId} />
            </td>
            <td>
              <Status word={release.delivery} />
            </td>
            <td class="number">{release.attempts}</td>
            <td>
              <Moment at={release.nextCheckAt} />
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
          <WhoAndWhy visitor={frame.visitor} id="redeliver" />
          <p class="field">
            <button>Deliver the ticked ones again</button>
          </p>
        </div>
      </Allowed>
    </form>
  );
}
