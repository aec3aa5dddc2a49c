import type { ComponentChildren, VNode } from 'preact';
import type { OrderId } from '../../platform/ids.ts';
import { downloadAddress } from '../layout/download.ts';
import { AdminPage, FormToken, type Frame } from '../layout/frame.tsx';
import { Older, OrderLink, Table, words, type Head } from '../layout/parts.tsx';
import { filterParams, type ListFilter } from './filter.ts';
import { FilterForm, KeepFilter, Notes, Owner, TickAll, TickBox } from './list-parts.tsx';

/** What rows of findings and of items in suspense have in common. */
type Case = {
  id: bigint;
  version: string;
  class: string;
  owner: string | null;
  orderId: OrderId | null;
  reference: string;
  notes: readonly { at: string; by: string; note: string }[];
};

/** What a page of a work list shows of its items. */
export type ListProps<Row> = {
  frame: Frame;
  filter: ListFilter;
  classes: readonly string[];
  rows: readonly Row[];
  /** Of all open items, on every page. */
  count: number;
  next: string | null;
};

type Props<Row extends Case> = ListProps<Row> & {
  title: string;
  address: '/admin/findings' | '/admin/suspense';
  /** What one item is called. */
  item: string;
  head: Head;
  cells: (row: Row) => VNode;
  introduction?: ComponentChildren;
  /** The fields and buttons of the actions on the ticked rows. */
  actions: ComponentChildren;
  children?: ComponentChildren;
};

/** A work list: the open items as rows to be ticked, oldest first, and one form for the actions on them. */
export function WorkListPage<Row extends Case>(props: Props<Row>): VNode {
  const { frame, filter, classes, rows, count, next, title, address, item, head, cells } = props;
  return (
    <AdminPage frame={frame} title={title} here="/admin/cases">
      {props.introduction}
      <FilterForm address={address} filter={filter} classes={classes} />
      {rows.length === 0 ? (
        <p class="none">Nothing is open.</p>
      ) : (
        <form method="post" action={address}>
          <FormToken visitor={frame.visitor} />
          <KeepFilter filter={filter} />
          <p class="none">{count} open, oldest first.</p>
          <Table label={`Open ${title.toLowerCase()}`} head={['Tick', ...head]}>
            {rows.map((row) => (
              <tr key={String(row.id)}>
                <td>
                  <TickBox row={row} label={`${item} ${row.id}, ${words(row.class)}`} />
                </td>
                {cells(row)}
              </tr>
            ))}
          </Table>
          <p>
            <a href={downloadAddress(title.toLowerCase(), { status: 'open' })}>All open ones as CSV</a>
          </p>
          {next !== null && <Older address={address} params={filterParams(filter, next)} />}
          <TickAll rows={rows.length} />
          {props.actions}
        </form>
      )}
      {props.children}
    </AdminPage>
  );
}

/** The first cell of an item: its number, its class and the notes. */
export function CaseCell({ row, look }: { row: Case; look: 'findings' | 'review' }): VNode {
  return (
    <td>
      #{String(row.id)} <span class={`status ${look}`}>{words(row.class)}</span>
      <Notes notes={row.notes} />
    </td>
  );
}

/** The last cells of an item: who works on it, and what it is about. */
export function OwnerCells({ row: { owner, orderId, reference } }: { row: Case }): VNode {
  return (
    <>
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
