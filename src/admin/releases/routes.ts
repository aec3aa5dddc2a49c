import { ROW_TYPES } from '../../fulfilment/event.ts';
import { undeliveredEvents } from '../../fulfilment/events.sql.ts';
import { undeliveredReleases, unsentReleases, withheldReleases } from '../../fulfilment/releases.sql.ts';
import { sendPage } from '../../platform/html.tsx';
import { parseOrderId } from '../../platform/ids.ts';
import type { AdminParts } from '../admin-parts.ts';
import { fitting } from '../layout/query.ts';
import type { Told } from '../actions/flash-message.ts';
import { latestReleases, PAGE_ROWS } from './releases.sql.ts';
import { ReleasesPage } from './releases-page.tsx';

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
