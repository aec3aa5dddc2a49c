import type { VNode } from 'preact';
import { AdminPage, type Frame } from '../layout/frame.tsx';
import { Columns } from './columns.tsx';
import type { Chart } from './series.ts';

export function ChartsPage({
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
