import type { VNode } from 'preact';
import type { ActionForm } from '../actions/action-form.ts';
import { FormToken, WhoAndWhy, type Frame } from '../layout/frame.tsx';
import type { CaseKey, CaseRow } from './cases.sql.ts';
import type { CaseRecord } from './case-records.sql.ts';
import { DECISION_TEXTS, decisionsFor, surplusOf } from './decisions.ts';
import { RefundNumber } from './several.tsx';
import { keyOf, tickOf } from './selection.ts';

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
          <p class="field">
            <button
              name="operation"
              value={mayClose ? 'close' : 'resolve'}
              class={isWaiting ? 'quiet' : undefined}
            >
              {mayClose ? 'Close…' : 'Continue…'}
            </button>
          </p>
        </div>
      </form>
    </section>
  );
}
