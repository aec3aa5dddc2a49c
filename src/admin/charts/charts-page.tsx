import type { VNode } from 'preact';
import { AdminPage, type Frame } from '../layout/frame.tsx';
import {
  type Chart,
  receivedPerDay,
  wentBackPerDay,
  timeToConfirm,
  toDoByAge,
  colourOf,
  totalOf,
} from './series.ts';
import { systemClock } from '../../platform/clock.ts';
import { sendPage } from '../../platform/html.tsx';
import { localeOf } from '../../platform/locale.ts';
import type { AdminParts } from '../pages.ts';
import { openCaseCounts } from '../cases/cases.sql.ts';
import { heldDays, confirmedDays, wentBackDays } from '../../reporting/money-by-day.sql.ts';
import { scaleBand, scaleLinear } from 'd3-scale';
import { stack } from 'd3-shape';

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

const HEIGHT = 240;
const MARGIN = { top: 12, right: 4, bottom: 24, left: 48 };
const TICKS = 4;

/** A picture for each kind of screen, in pixels; the style sheet shows one of them. */
type Size = {
  name: 'wide' | 'phone';
  width: number;
  /** The last columns are drawn: today is among them. */
  maxColumns: number;
  /** More labels would overlap. */
  maxLabels: number;
};
const SIZES: readonly Size[] = [
  { name: 'wide', width: 1120, maxColumns: 31, maxLabels: 15 },
  { name: 'phone', width: 330, maxColumns: 14, maxLabels: 8 },
];

/** A stacked column chart as a picture, its sentence, its legend, and the same numbers as a table. */
function Columns({ chart }: { chart: Chart }): VNode {
  const { id, title, summary, keys, classes } = chart;
  const isEmpty = keys.every((key) => totalOf(chart, key) === 0);
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p class="none">{summary}</p>
      {!isEmpty && (
        <figure>
          {SIZES.map((size) => (
            <Picture key={size.name} chart={chart} size={size} />
          ))}
          <figcaption>
            <ul class="legend">
              {classes.map((name) => (
                <li key={name}>
                  <svg fill={`var(--colour-${colourOf(name)})`} viewBox="0 0 12 12" aria-hidden="true">
                    <rect width="12" height="12" rx="2" />
                  </svg>
                  {name}
                </li>
              ))}
            </ul>
          </figcaption>
          <AsTable chart={chart} />
        </figure>
      )}
    </section>
  );
}

function Picture({ chart, size }: { chart: Chart; size: Size }): VNode {
  const { title, summary, classes, values, short } = chart;
  const { name: screen, width } = size;
  const keys = chart.keys.slice(-size.maxColumns);
  const x = scaleBand<string>(keys, [MARGIN.left, width - MARGIN.right]).padding(0.2);
  const largest = Math.max(...keys.map((key) => totalOf(chart, key)), 1);
  const y = scaleLinear([0, largest], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(TICKS);
  const layers = stack<unknown, string, string>()
    .keys(classes)
    .value((key, name) => values[key]?.[name] ?? 0)(keys);
  const every = Math.ceil(keys.length / size.maxLabels);
  return (
    <svg
      class={`chart ${screen}`}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      role="img"
      aria-label={`${title}. ${summary}`}
    >
      {y
        .ticks(TICKS)
        .filter(Number.isInteger)
        .map((tick) => (
          <g key={tick}>
            <line class="grid" x1={MARGIN.left} x2={width - MARGIN.right} y1={y(tick)} y2={y(tick)} />
            <text x={MARGIN.left - 6} y={y(tick)} dy="0.32em" text-anchor="end">
              {short(tick)}
            </text>
          </g>
        ))}
      {layers.map((layer) => (
        <g fill={`var(--colour-${colourOf(layer.key)})`} key={layer.key}>
          {layer.map(([from, to], place) => {
            const key = keys[place] ?? '';
            return (
              <rect
                key={key}
                x={x(key) ?? 0}
                width={x.bandwidth()}
                y={y(to)}
                height={Math.max(y(from) - y(to), 0)}
              />
            );
          })}
        </g>
      ))}
      {keys.map((key, place) =>
        (keys.length - 1 - place) % every === 0 ? (
          <text key={key} x={(x(key) ?? 0) + x.bandwidth() / 2} y={HEIGHT - 6} text-anchor="middle">
            {key.replace(/^\d{4}-/, '')}
          </text>
        ) : null,
      )}
    </svg>
  );
}

function AsTable({ chart }: { chart: Chart }): VNode {
  const { title, keys, classes, values, format } = chart;
  const filled = keys.filter((key) => totalOf(chart, key) > 0);
  return (
    <details>
      <summary>The same as a table</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label={`Table: ${title}`}>
        <table>
          <thead>
            <tr>
              <td />
              {classes.map((name) => (
                <th scope="col" class="number" key={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {filled.map((key) => (
              <tr key={key}>
                <th scope="row">{key}</th>
                {classes.map((name) => (
                  <td class="number" key={name}>
                    {format(values[key]?.[name] ?? 0)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
