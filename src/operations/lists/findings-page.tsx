import type { VNode } from 'preact';
import { CLASSES } from '../../reconciliation/classes.ts';
import type { Finding } from '../../reconciliation/findings.ts';
import { AdminPage, FormToken, WhoAndWhy, type Frame } from '../pages/frame.tsx';
import { Older, OrderLink, Table, words } from '../pages/parts.tsx';
import { filterParams, type ListFilter } from './filter.ts';
import { FilterForm, KeepFilter } from './list-parts.tsx';

type Props = {
  frame: Frame;
  filter: ListFilter;
  classes: readonly Finding['class'][];
  rows: readonly Finding[];
  count: number;
  next: string | null;
};

/** Disagreements that nobody has resolved, oldest first, and what to do about each class. */
export function FindingsPage({ frame, filter, classes, rows, count, next }: Props): VNode {
  return (
    <AdminPage frame={frame} title="Findings" here="/admin/findings">
      <FilterForm address="/admin/findings" filter={filter} classes={classes} />
      {rows.length === 0 ? (
        <p class="none">Nothing is open.</p>
      ) : (
        <form method="post" action="/admin/findings">
          <FormToken visitor={frame.visitor} />
          <KeepFilter filter={filter} />
          <p class="none">{count} open, oldest first.</p>
          <Table
            label="Open findings"
            head={[
              'Tick',
              'Finding',
              'Open for',
              { number: 'Expected' },
              { number: 'Actual' },
              'Order',
              'Reference',
            ]}
          >
            {rows.map((finding) => (
              <Row key={String(finding.id)} finding={finding} />
            ))}
          </Table>
          {next !== null && <Older address="/admin/findings" params={filterParams(filter, next)} />}
          <div class="deed">
            <WhoAndWhy visitor={frame.visitor} id="resolve" />
            <p class="field">
              <button>Resolve the ticked ones</button>
            </p>
          </div>
        </form>
      )}
      <WhatToDo classes={[...new Set(rows.map((finding) => finding.class))]} />
    </AdminPage>
  );
}

function Row({ finding }: { finding: Finding }): VNode {
  const { id, age, expected, actual, currency, orderId, reference } = finding;
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          name="id"
          value={String(id)}
          aria-label={`Finding ${id}, ${words(finding.class)}`}
        />
      </td>
      <td>
        #{String(id)} <span class="status findings">{words(finding.class)}</span>
      </td>
      <td>{age}</td>
      <td class="number">{expected ?? '–'}</td>
      <td class="number">{actual === null ? '–' : `${actual} ${currency ?? ''}`}</td>
      <td>
        <OrderLink id={orderId} />
      </td>
      <td class="words">
        <code>{reference}</code>
      </td>
    </tr>
  );
}

function WhatToDo({ classes }: { classes: readonly Finding['class'][] }): VNode | null {
  if (classes.length === 0) return null;
  return (
    <section aria-labelledby="todo">
      <h2 id="todo">What to do</h2>
      <dl class="facts">
        {classes.map((name) => (
          <>
            <dt key={name}>{words(name)}</dt>
            <dd>{CLASSES[name].todo}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}
