import type { VNode } from 'preact';
import { DECISIONS, type Decision } from '../../cases/decision.ts';
import type { ActionForm } from '../actions/action-form.ts';
import { Allowed, WhoAndWhy } from '../layout/frame.tsx';
import { Choice } from '../layout/parts.tsx';
import type { Visitor } from '../login/guard.ts';
import { DECISION_TEXTS } from './decisions.ts';

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
        <p class="field">
          <button name="operation" value="resolve">
            Decide about selected…
          </button>
        </p>
        <Allowed visitor={visitor} action="close">
          <p class="field">
            <button name="operation" value="close" class="quiet">
              Close selected without money…
            </button>
          </p>
        </Allowed>
      </div>
      <div class="action">
        <NoteAndAssign typed={typed} />
      </div>
    </details>
  );
}

export function RefundNumber({ id, value }: { id: string; value: string | null }): VNode {
  return (
    <p class="field">
      <label for={id}>Refund number from the payment service, required with a refund</label>
      <input id={id} name="refund" maxLength={200} autocomplete="off" value={value ?? ''} />
    </p>
  );
}

export function NoteAndAssign({ typed }: { typed: ActionForm | null }): VNode {
  return (
    <>
      <p class="field">
        <button name="operation" value="note" class="quiet">
          Add note
        </button>
      </p>
      <p class="field">
        <label for="owner">Assign to</label>
        <input
          id="owner"
          name="owner"
          maxLength={80}
          autocomplete="off"
          value={typed?.field('owner') ?? ''}
        />
      </p>
      <p class="field">
        <button name="operation" value="assign" class="quiet">
          Assign
        </button>
      </p>
    </>
  );
}
