import type { VNode } from 'preact';
import { DECISIONS } from '../../suspense/decision.ts';
import type { SuspenseItem } from '../../suspense/repository.ts';
import { AdminPage, FormToken, WhoAndWhy, type Frame } from '../pages/frame.tsx';
import { Choice, money, Moment, Older, OrderLink, Table, words } from '../pages/parts.tsx';
import { filterParams, type ListFilter } from './filter.ts';
import { FilterForm, KeepFilter } from './list-parts.tsx';

type Props = {
  frame: Frame;
  filter: ListFilter;
  classes: readonly string[];
  rows: readonly SuspenseItem[];
  count: number;
  next: string | null;
};

/** Money the shop holds and has not earned, oldest first: each item gets an owner and an end. */
export function SuspensePage({ frame, filter, classes, rows, count, next }: Props): VNode {
  return (
    <AdminPage frame={frame} title="Suspense" here="/admin/suspense">
      <p class="none">Money the shop holds and has not earned.</p>
      <FilterForm address="/admin/suspense" filter={filter} classes={classes} />
      {rows.length === 0 ? (
        <p class="none">Nothing is open.</p>
      ) : (
        <form method="post" action="/admin/suspense">
          <FormToken visitor={frame.visitor} />
          <KeepFilter filter={filter} />
          <p class="none">{count} open, oldest first.</p>
          <Table
            label="Open items"
            head={['Tick', 'Item', { number: 'Amount' }, 'Since', 'Owner', 'Order', 'Reference']}
          >
            {rows.map((item) => (
              <Row key={String(item.id)} item={item} />
            ))}
          </Table>
          {next !== null && <Older address="/admin/suspense" params={filterParams(filter, next)} />}
          <Deeds frame={frame} />
        </form>
      )}
    </AdminPage>
  );
}

function Row({ item }: { item: SuspenseItem }): VNode {
  const { id, amount, currency, openedAt, owner, orderId, reference } = item;
  return (
    <tr>
      <td>
        <input type="checkbox" name="id" value={String(id)} aria-label={`Item ${id}, ${words(item.class)}`} />
      </td>
      <td>
        #{String(id)} <span class="status review">{words(item.class)}</span>
      </td>
      <td class="number">{money(amount, currency)}</td>
      <td>
        <Moment at={openedAt} />
      </td>
      <td>{owner ?? <span class="none">nobody yet</span>}</td>
      <td>
        <OrderLink id={orderId} />
      </td>
      <td class="words">
        <code>{reference}</code>
      </td>
    </tr>
  );
}

function Deeds({ frame }: { frame: Frame }): VNode {
  const decisions = Object.keys(DECISIONS).map((value) => ({ value, name: words(value) }));
  return (
    <>
      <div class="deed">
        <WhoAndWhy visitor={frame.visitor} id="deed" />
      </div>
      <div class="deed">
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
          <button name="deed" value="resolve">
            Resolve the ticked ones
          </button>
        </p>
      </div>
      <div class="deed">
        <p class="field">
          <label for="owner">Who works on it</label>
          <input id="owner" name="owner" maxLength={80} autocomplete="off" />
        </p>
        <p class="field">
          <button name="deed" value="assign" class="quiet">
            Assign the ticked ones
          </button>
        </p>
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

/** The meaning as the command line tells it, without its options. */
function asOnPaper(meaning: string): string {
  return meaning.replace('--refund', 'its number').replace('; the decision when none is given', '');
}
