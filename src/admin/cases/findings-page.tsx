import type { VNode } from 'preact';
import { MajorNumber } from '../../platform/html.tsx';
import { CLASSES } from '../../cases/classes.ts';
import type { Finding } from '../../cases/findings.ts';
import type { ActionForm } from '../actions/action-form.ts';
import { Allowed, WhoAndWhy, type Frame } from '../layout/frame.tsx';
import { words, type Head } from '../layout/parts.tsx';
import { AssignTo, NoteAction, ResolveTicked } from './list-parts.tsx';
import { ConfirmPage } from './confirm-page.tsx';
import { CaseCell, OwnerCells, WorkListPage, type ListProps } from './work-list-page.tsx';

const FACTS: Head = [
  'Finding',
  'Open for',
  { number: 'Expected' },
  { number: 'Actual' },
  'Owner',
  'Order',
  'Reference',
];

/** The open disagreements, oldest first, and what to do about each class. */
export function FindingsPage(props: ListProps<Finding>): VNode {
  const { visitor } = props.frame;
  const actions = (
    <Allowed visitor={visitor} action="note">
      <div class="action">
        <WhoAndWhy visitor={visitor} id="action" />
      </div>
      <div class="action">
        <Allowed visitor={visitor} action="resolve">
          <ResolveTicked />
        </Allowed>
        <NoteAction />
        <AssignTo />
      </div>
    </Allowed>
  );
  return (
    <WorkListPage
      {...props}
      title="Findings"
      address="/admin/findings"
      item="Finding"
      head={FACTS}
      cells={(finding) => <Facts finding={finding} />}
      actions={actions}
    >
      <WhatToDo classes={[...new Set(props.rows.map((finding) => finding.class))]} />
    </WorkListPage>
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
  const { age, expected, actual, currency } = finding;
  return (
    <>
      <CaseCell row={finding} look="findings" />
      <td>{age}</td>
      <td class="number">{expected === null ? '–' : <MajorNumber text={expected} />}</td>
      <td class="number">
        {actual === null ? '–' : <MajorNumber text={actual} />} {actual === null ? '' : currency}
      </td>
      <OwnerCells row={finding} />
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
