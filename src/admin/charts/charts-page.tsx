import type { VNode } from 'preact';
import { AdminPage, type Frame } from '../layout/frame.tsx';
import { Columns } from './columns.tsx';
import { type Chart, receivedPerDay, wentBackPerDay, timeToConfirm, toDoByAge } from './series.ts';
import { systemClock } from '../../platform/clock.ts';
import { sendPage } from '../../platform/html.tsx';
import { localeOf } from '../../platform/locale.ts';
import type { AdminParts } from '../admin-parts.ts';
import { openCaseCounts } from '../cases/cases.sql.ts';
import { heldDays, confirmedDays, wentBackDays } from '../../reporting/money-by-day.sql.ts';

function ChartsPage({
  frame,
  charts,
  days,
}: {
  frame: Frame;
  charts: readonly Chart[];
  days: number;
}): VNode {
  return (
    <AdminPage frame={frame} title="Charts" here="/admin/charts">
      <p class="none">The last {days} days, in UTC.</p>
      {charts.map((chart) => (
        <Columns key={chart.id} chart={chart} />
      ))}
    </AdminPage>
  );
}

const DAYS = 30;
const DAY_MS = 86_400_000;

/** Charts of the last thirty days, and of what is to be done. */
export function chartRoutes({ gateway, show }: AdminParts): void {
  const { mode } = gateway;
  show('/admin/charts', async (req, res, { database, frame }) => {
    const [confirmed, held, wentBack, cases] = await Promise.all([
      confirmedDays(database, mode, DAYS),
      heldDays(database, mode, DAYS),
      wentBackDays(database, mode, DAYS),
      openCaseCounts(database, mode),
    ]);
    const today = systemClock.now().getTime();
    const days = Array.from({ length: DAYS }, (_, ago) =>
      new Date(today - (DAYS - 1 - ago) * DAY_MS).toISOString().slice(0, 10),
    );
    const locale = localeOf(req.get('accept-language'));
    const charts = [
      ...receivedPerDay(confirmed, held, days, locale),
      ...wentBackPerDay(confirmed, wentBack, days, locale),
      timeToConfirm(confirmed, DAYS),
      toDoByAge(cases),
    ];
    sendPage(res, ChartsPage({ frame, charts, days: DAYS }));
  });
}
