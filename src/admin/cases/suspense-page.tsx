import type { VNode } from 'preact';
import { Amount } from '../../platform/html.tsx';
import { DECISIONS, type Decision } from '../../cases/decision.ts';
import type { SuspenseItem } from '../../cases/suspense-list.sql.ts';
import type { ActionForm } from '../actions/action-form.ts';
import { AdminPage, FormToken, WhoAndWhy, type Frame } from '../layout/frame.tsx';
import { Choice, Moment, Older, OrderLink, Table, words } from '../layout/parts.tsx';
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
  rows: readonly SuspenseItem[];
  count: number;
  next: string | null;
};

const FACTS = ['Item', { number: 'Amount' }, 'Since', 'Owner', 'Order', 'Reference'];

/** Money the shop holds and has not earned, oldest first: each item gets an owner and an end. */
export function SuspensePage({ frame, filter, classes, rows, count, next }: Props): VNode {
  return (
    <AdminPage frame={frame} title="Suspense" here="/admin/suspense">
      <p class="none">
        Money the shop holds and has not earned. What you decide is final: the service may show it as paid
        later, and it never pays its order by itself again.
      </p>
      <FilterForm address="/admin/suspense" filter={filter} classes={classes} />
      {rows.length === 0 ? (
        <p class="none">Nothing is open.</p>
      ) : (
        <form method="post" action="/admin/suspense">
          <FormToken visitor={frame.visitor} />
          <KeepFilter filter={filter} />
          <p class="none">{count} open, oldest first.</p>
          <Table label="Open items" head={['Tick', ...FACTS]}>
            {rows.map((item) => (
              <tr key={String(item.id)}>
                <td>
                  <TickBox row={item} label={`Item ${item.id}, ${words(item.class)}`} />
                </td>
                <Facts item={item} />
              </tr>
            ))}
          </Table>
          {next !== null && <Older address="/admin/suspense" params={filterParams(filter, next)} />}
          <TickAll rows={rows.length} />
          <Actions frame={frame} />
        </form>
      )}
    </AdminPage>
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
  const { id, amount, currency, openedAt, owner, orderId, reference, notes } = item;
  return (
    <>
      <td>
        #{String(id)} <span class="status review">{words(item.class)}</span>
        <Notes notes={notes} />
      </td>
      <td class="number">
        <Amount amount={amount} currency={currency} />
      </td>
      <td>
        <Moment at={openedAt} />
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

function Actions({ frame }: { frame: Frame }): VNode {
  const decisions = Object.keys(DECISIONS).map((value) => ({ value, name: words(value) }));
  return (
    <>
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
          <label for="refund">Refund number, with a refund</label>
          <input id="refund" name="refund" maxLength={200} autocomplete="off" />
        </p>
        <p class="field">
          <button name="operation" value="resolve">
            Resolve the ticked ones…
          </button>
        </p>
      </div>
      <div class="action">
        <NoteAction />
        <AssignTo />
      </div>
      <dl class="facts">
        {Object.entries(DECISIONS).map(([word, meaning]) => (
          <>
            <dt key={word}>{words(word)}</dt>
            <dd>{asOnPaper(meaning)}</dd>
          </>
        ))}
      </dl>
    </>
  );
}

/** The command line's description, without its options. */
function asOnPaper(meaning: string): string {
  return meaning.replace('--refund', 'its number').replace('; the decision when none is given', '');
}
