import type { VNode } from 'preact';
import { ROW_TYPES, type EventType } from '../../fulfilment/event.ts';
import { type EventRow, undeliveredEvents } from '../../fulfilment/events.sql.ts';
import {
  type Undelivered,
  type Unsent,
  undeliveredReleases,
  unsentReleases,
  withheldReleases,
} from '../../fulfilment/releases.sql.ts';
import { Amount, sendPage } from '../../platform/html.tsx';
import { AdminPage, type Frame } from '../layout/frame.tsx';
import { Delivery, EventsForm, UndeliveredForm } from './delivery-forms.tsx';
import { Button, Choice, Moment, Older, OrderLink, Table } from '../layout/parts.tsx';
import { type ReleaseRow, latestReleases, PAGE_ROWS } from './releases.sql.ts';
import { parseOrderId } from '../../platform/ids.ts';
import type { AdminParts } from '../pages.ts';
import { fitting, type Told } from '../action-form.ts';

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
function ReleasesPage(props: Props): VNode {
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
          <Button>Show</Button>
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
        rows={latest.map(({ orderId, delivery, amount, currency, releasedAt, deliveredAt }) => [
          <Moment at={releasedAt} />,
          <OrderLink id={orderId} />,
          <Delivery word={delivery} why="no delivery system was connected" />,
          <Amount amount={amount} currency={currency} />,
          <Moment at={deliveredAt} />,
        ])}
      />
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
          `${unsent.count} paid ${unsent.count === 1 ? 'order' : 'orders'} from before the delivery system ` +
            `was connected, since ${unsent.oldest.toISOString().slice(0, 10)}, ${unsent.count === 1 ? 'was' : 'were'} ` +
            'never sent. To send: npm run releases -- send-unsent --by "your name"',
        ]),
  ];
}

const RELEASE_ID = /^rel_[A-Za-z0-9]{24}$/;

/** Which releases and events have not been delivered yet? */
export function releaseRoutes({ gateway, show, act, redeliver, hasReceiver }: AdminParts): void {
  const { mode } = gateway;

  show('/admin/releases', async (req, res, { database, frame }) => {
    const before = fitting(req.query.before, RELEASE_ID);
    const type = ROW_TYPES.find((known) => known === req.query.type) ?? null;
    const [undelivered, withheld, events, unsent, latest] = await Promise.all([
      undeliveredReleases(database, mode),
      withheldReleases(database, mode, PAGE_ROWS),
      undeliveredEvents(database, mode, type),
      unsentReleases(database, mode),
      latestReleases(database, mode, before),
    ]);
    const next = latest.length > PAGE_ROWS ? (latest[PAGE_ROWS - 1]?.id ?? null) : null;
    const rows = { undelivered, withheld, events, unsent, latest: latest.slice(0, PAGE_ROWS) };
    const page = { ...rows, type, hasReceiver, next };
    sendPage(res, ReleasesPage({ frame, ...page }));
  });

  act(
    '/admin/releases',
    (_req, fields) => {
      const order = parseOrderId(fields.get('order'));
      return order !== null ? `/admin/orders/${order}` : '/admin/releases';
    },
    async ({ ids, by, note, operation }) => {
      const told: Told = {};
      for (const idOrOrderId of ids) {
        const word = await redeliver({ idOrOrderId, by, note, withheld: operation === 'withheld' });
        told[word] = (told[word] ?? 0) + 1;
      }
      return told;
    },
  );
}
