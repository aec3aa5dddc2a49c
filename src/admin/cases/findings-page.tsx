import type { VNode } from 'preact';
import { MajorNumber } from '../../platform/html.tsx';
import { CLASSES } from '../../cases/classes.ts';
import type { Finding } from '../../cases/findings.ts';
import type { ActionForm } from '../actions/action-form.ts';
import { AdminPage, FormToken, WhoAndWhy, type Frame } from '../layout/frame.tsx';
import { Older, OrderLink, Table, words } from '../layout/parts.tsx';
import { filterParams, type ListFilter } from './filter.ts';
import {
  AssignTo,
  FilterForm,
  KeepFilter,
  NoteAction,
  Notes,
  Owner,
  TickAll,
  TickBox,
} from './list-parts.tsx';
import { ConfirmPage } from './confirm-page.tsx';

type Props = {
  frame: Frame;
  filter: ListFilter;
  classes: readonly string[];
  rows: readonly Finding[];
  count: number;
  next: string | null;
};

const FACTS = [
  'Finding',
  'Open for',
  { number: 'Expected' },
  { number: 'Actual' },
  'Owner',
  'Order',
  'Reference',
];

/** The open disagreements, oldest first, and what to do about each class. */
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
          <Table label="Open findings" head={['Tick', ...FACTS]}>
            {rows.map((finding) => (
              <tr key={String(finding.id)}>
                <td>
                  <TickBox row={finding} label={`Finding ${finding.id}, ${words(finding.class)}`} />
                </td>
                <Facts finding={finding} />
              </tr>
            ))}
          </Table>
          {next !== null && <Older address="/admin/findings" params={filterParams(filter, next)} />}
          <TickAll rows={rows.length} />
          <div class="action">
            <WhoAndWhy visitor={frame.visitor} id="action" />
          </div>
          <div class="action">
            <p class="field">
              <button name="operation" value="resolve">
                Resolve the ticked ones…
              </button>
            </p>
            <NoteAction />
            <AssignTo />
          </div>
        </form>
      )}
      <WhatToDo classes={[...new Set(rows.map((finding) => finding.class))]} />
    </AdminPage>
  );
}

/** Asks for confirmation before findings are resolved. */
export function ConfirmFindings(props: { frame: Frame; form: ActionForm; rows: readonly Finding[] }): VNode {
  const { frame, form, rows } = props;
  return (
    <ConfirmPage frame={frame} address="/admin/findings" form={form} count={rows.length} head={FACTS}>
      {rows.map((finding) => (
        <tr key={String(finding.id)}>
          <Facts finding={finding} />
        </tr>
      ))}
    </ConfirmPage>
  );
}

function Facts({ finding }: { finding: Finding }): VNode {
  const { id, age, expected, actual, currency, owner, orderId, reference, notes } = finding;
  return (
    <>
      <td>
        #{String(id)} <span class="status findings">{words(finding.class)}</span>
        <Notes notes={notes} />
      </td>
      <td>{age}</td>
      <td class="number">{expected === null ? '–' : <MajorNumber text={expected} />}</td>
      <td class="number">
        {actual === null ? '–' : <MajorNumber text={actual} />} {actual === null ? '' : currency}
      </td>
      <td>
        <Owner name={owner} />
      </td>
      <td>
        <OrderLink id={orderId} />
      </td>
      <td class="words">
        <code>{reference}</code>
      </td>
    </>
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
