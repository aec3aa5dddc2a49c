import type { VNode } from 'preact';
import { Amount } from '../../platform/html.tsx';
import { DECISIONS, type Decision } from '../../cases/decision.ts';
import type { SuspenseItem } from '../../cases/suspense.sql.ts';
import type { ActionForm } from '../actions/action-form.ts';
import { Allowed, WhoAndWhy, type Frame } from '../layout/frame.tsx';
import { Choice, Moment, words, type Head } from '../layout/parts.tsx';
import { AssignTo, NoteAction, ResolveTicked } from './list-parts.tsx';
import { ConfirmPage } from './confirm-page.tsx';
import { CaseCell, OwnerCells, WorkListPage, type ListProps } from './work-list-page.tsx';

const FACTS: Head = ['Item', { number: 'Amount' }, 'Since', 'Owner', 'Order', 'Reference'];

/** Money the shop holds and has not earned, oldest first: each item gets an owner and an end. */
export function SuspensePage(props: ListProps<SuspenseItem>): VNode {
  const introduction = (
    <p class="none">
      Money the shop holds and has not earned. What you decide is final: the service may show it as paid
      later, and it never pays an order any more.
    </p>
  );
  return (
    <WorkListPage
      {...props}
      title="Suspense"
      address="/admin/suspense"
      item="Item"
      head={FACTS}
      cells={(item) => <Facts item={item} />}
      introduction={introduction}
      actions={<Actions frame={props.frame} />}
    />
  );
}

/** Asks for confirmation before money leaves suspense. */
export function ConfirmSuspense(props: {
  frame: Frame;
  form: ActionForm;
  rows: readonly SuspenseItem[];
  decision: Decision;
}): VNode {
  const { frame, form, rows, decision } = props;
  const ending = `${words(decision)}: ${asOnPaper(DECISIONS[decision])}`;
  return (
    <ConfirmPage
      frame={frame}
      address="/admin/suspense"
      form={form}
      count={rows.length}
      head={FACTS}
      ending={[ending, form.field('refund')].filter((text) => text !== null).join(', ')}
    >
      {rows.map((item) => (
        <tr key={String(item.id)}>
          <Facts item={item} />
        </tr>
      ))}
    </ConfirmPage>
  );
}

function Facts({ item }: { item: SuspenseItem }): VNode {
  return (
    <>
      <CaseCell row={item} look="review" />
      <td class="number">
        <Amount amount={item.amount} currency={item.currency} />
      </td>
      <td>
        <Moment at={item.openedAt} />
      </td>
      <OwnerCells row={item} />
    </>
  );
}

function Actions({ frame }: { frame: Frame }): VNode {
  const allowed = Object.entries(DECISIONS).filter(([decision]) => frame.visitor.may(decision));
  const decisions = allowed.map(([value]) => ({ value, name: words(value) }));
  return (
    <Allowed visitor={frame.visitor} action="note">
      <div class="action">
        <WhoAndWhy visitor={frame.visitor} id="action" />
      </div>
      <div class="action">
        <Choice
          id="decision"
          name="decision"
          label="It ends by"
          chosen=""
          options={[{ value: '', name: 'choose…' }, ...decisions]}
        />
        <p class="field">
          <label for="refund">Refund number, required with a refund</label>
          <input id="refund" name="refund" maxLength={200} autocomplete="off" />
        </p>
        <ResolveTicked />
        <p class="field">
          <button name="operation" value="surplus" class="quiet">
            Only the surplus was refunded, under this number
          </button>
        </p>
      </div>
      <div class="action">
        <NoteAction />
        <AssignTo />
      </div>
      <dl class="facts">
        {allowed.map(([word, meaning]) => (
          <>
            <dt key={word}>{words(word)}</dt>
            <dd>{asOnPaper(meaning)}</dd>
          </>
        ))}
      </dl>
    </Allowed>
  );
}

/** The command line's description, without its options. */
function asOnPaper(meaning: string): string {
  return meaning.replace('--refund', 'its number').replace('; the decision when none is given', '');
}
