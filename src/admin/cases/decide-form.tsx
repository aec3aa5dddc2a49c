import type { VNode } from 'preact';
import type { ActionForm } from '../action-form.ts';
import { FormToken, WhoAndWhy, type Frame, Allowed } from '../layout/frame.tsx';
import type { CaseKey, CaseRow } from './cases.sql.ts';
import type { CaseRecord } from './case-records.sql.ts';
import { DECISION_TEXTS, decisionsFor, surplusOf } from './case-advice.ts';
import { keyOf, tickOf } from './actions.ts';
import { DECISIONS, type Decision } from '../../cases/resolution.ts';
import { Button, Choice, Field } from '../layout/parts.tsx';
import type { Visitor } from '../login/guard.ts';

export type CasePageProps = {
  frame: Frame;
  /** As the address names it. */
  name: CaseKey;
  reference: string;
  /** Null: everything about it is closed. */
  row: CaseRow | null;
  records: readonly CaseRecord[];
  typed: ActionForm | null;
};

export function addressOf(key: CaseKey): string {
  return `/admin/cases/${keyOf(key)}`;
}

/** Which case a form is about, and the version of it that the person sees. */
export function Hidden({ frame, name, row }: CasePageProps): VNode {
  return (
    <>
      <FormToken visitor={frame.visitor} />
      <input type="hidden" name="id" value={row === null ? keyOf(name) : tickOf(row)} />
    </>
  );
}

/** The quieter ways: each ends the case, after a page that shows what that means. */
export function Decide(props: CasePageProps & { row: CaseRow }): VNode | null {
  const { frame, row, typed } = props;
  const decisions = decisionsFor(row).filter((decision) => frame.visitor.may(decision));
  const mayClose = row.held === null && frame.visitor.may('close');
  const isWaiting = surplusOf(row) !== null;
  if (decisions.length === 0 && !mayClose) return null;
  return (
    <section aria-labelledby="decide">
      <h2 id="decide">
        {mayClose ? 'Close it' : isWaiting ? 'Or end it in another way' : 'What did you do with the money?'}
      </h2>
      <form method="post" action={addressOf(props.name)}>
        <Hidden {...props} />
        {decisions.length > 0 && (
          <fieldset class="choices" aria-labelledby="decide">
            {decisions.map((decision) => (
              <label key={decision}>
                <input
                  type="radio"
                  name="decision"
                  value={decision}
                  required
                  checked={typed?.field('decision') === decision}
                />
                <span>
                  <strong>{DECISION_TEXTS[decision].name}</strong> {DECISION_TEXTS[decision].meaning}
                </span>
              </label>
            ))}
          </fieldset>
        )}
        <div class="action">
          {decisions.length > 0 && <RefundNumber id="refund" value={typed?.field('refund') ?? null} />}
          <WhoAndWhy visitor={frame.visitor} id="decision" typed={typed} />
          <Button name="operation" value={mayClose ? 'close' : 'resolve'} isQuiet={isWaiting}>
            {mayClose ? 'Close…' : 'Continue…'}
          </Button>
        </div>
      </form>
    </section>
  );
}

type Props = { visitor: Visitor; rows: number; typed: ActionForm | null };

/** What can be done with all selected cases of the list. */
export function SeveralAtOnce({ visitor, rows, typed }: Props): VNode {
  const decisions = (Object.keys(DECISIONS) as Decision[])
    .filter((decision) => visitor.may(decision))
    .map((value) => ({ value, name: DECISION_TEXTS[value].name }));
  return (
    <details open={typed !== null}>
      <summary>Several at once</summary>
      {rows > 1 && (
        <p>
          <label>
            <input type="checkbox" name="all" value="yes" checked={typed?.field('all') === 'yes'} /> Select
            all {rows}
          </label>
        </p>
      )}
      <div class="action">
        <WhoAndWhy visitor={visitor} id="action" typed={typed} />
      </div>
      <div class="action">
        <Choice
          id="decision"
          name="decision"
          label="What happens to the money?"
          chosen={typed?.field('decision') ?? ''}
          options={[{ value: '', name: 'choose…' }, ...decisions]}
        />
        <RefundNumber id="refund" value={typed?.field('refund') ?? null} />
        <Button name="operation" value="resolve">
          Decide about selected…
        </Button>
        <Allowed visitor={visitor} action="close">
          <Button name="operation" value="close" isQuiet>
            Close selected without money…
          </Button>
        </Allowed>
      </div>
      <div class="action">
        <NoteAndAssign typed={typed} />
      </div>
    </details>
  );
}

function RefundNumber({ id, value }: { id: string; value: string | null }): VNode {
  return (
    <Field
      id={id}
      label="Refund number from the payment service, required with a refund"
      name="refund"
      maxLength={200}
      autocomplete="off"
      value={value ?? ''}
    />
  );
}

export function NoteAndAssign({ typed }: { typed: ActionForm | null }): VNode {
  return (
    <>
      <Button name="operation" value="note" isQuiet>
        Add note
      </Button>
      <Field
        id="owner"
        label="Assign to"
        name="owner"
        maxLength={80}
        autocomplete="off"
        value={typed?.field('owner') ?? ''}
      />
      <Button name="operation" value="assign" isQuiet>
        Assign
      </Button>
    </>
  );
}
