import { scaleBand, scaleLinear } from 'd3-scale';
import { stack } from 'd3-shape';
import type { VNode } from 'preact';
import { words } from '../layout/parts.tsx';
import { totalOf, type Chart } from './series.ts';

const WIDTH = 720;
const HEIGHT = 240;
const MARGIN = { top: 8, right: 8, bottom: 24, left: 116 };
const TICKS = 4;
/** More labels than this would overlap. */
const MAX_LABELS = 8;
/** How many classes have a colour of their own; the style sheet defines as many. */
const COLOURS = 6;

/** A stacked column chart as a picture, its sentence, its legend, and the same numbers as a table. */
export function Columns({ chart }: { chart: Chart }): VNode {
  const { id, title, summary, keys, classes } = chart;
  const isEmpty = keys.every((key) => totalOf(chart, key) === 0);
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p class="none">{summary}</p>
      {!isEmpty && (
        <figure>
          <div class="scroll" tabIndex={0} role="region" aria-label={`Chart: ${title}`}>
            <Picture chart={chart} />
          </div>
          <figcaption>
            <ul class="legend">
              {classes.map((name, index) => (
                <li key={name}>
                  <svg class={`colour-${index % COLOURS}`} viewBox="0 0 12 12" aria-hidden="true">
                    <rect width="12" height="12" rx="2" />
                  </svg>
                  {words(name)}
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

function Picture({ chart }: { chart: Chart }): VNode {
  const { title, summary, keys, classes, values, format } = chart;
  const x = scaleBand<string>([...keys], [MARGIN.left, WIDTH - MARGIN.right]).padding(0.2);
  const largest = Math.max(...keys.map((key) => totalOf(chart, key)));
  const y = scaleLinear([0, largest], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(TICKS);
  const layers = stack<unknown, string, string>()
    .keys(classes)
    .value((key, name) => values[key]?.[name] ?? 0)([...keys] as string[]);
  const every = Math.ceil(keys.length / MAX_LABELS);
  return (
    <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${title}. ${summary}`}>
      {y.ticks(TICKS).map((tick) => (
        <g key={tick}>
          <line class="grid" x1={MARGIN.left} x2={WIDTH - MARGIN.right} y1={y(tick)} y2={y(tick)} />
          <text x={MARGIN.left - 8} y={y(tick)} dy="0.32em" text-anchor="end">
            {format(tick)}
          </text>
        </g>
      ))}
      {layers.map((layer, index) => (
        <g class={`colour-${index % COLOURS}`} key={layer.key}>
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
        place % every === 0 ? (
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
                  {words(name)}
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
