import type { VNode } from 'preact';
import { Choice, Moment, words } from '../layout/parts.tsx';
import { AGES, type ListFilter } from './filter.ts';
import { tickOf } from './selection.ts';

type Props = { address: string; filter: ListFilter; classes: readonly string[] };

export function FilterForm({ address, filter, classes }: Props): VNode {
  const named = (values: readonly string[]) => [
    { value: '', name: 'any' },
    ...values.map((value) => ({ value, name: words(value) })),
  ];
  return (
    <form method="get" action={address} class="filters">
      <Choice id="class" name="class" label="Class" chosen={filter.class ?? ''} options={named(classes)} />
      <Choice id="age" name="age" label="Open for" chosen={filter.age ?? ''} options={named(AGES)} />
      <p class="field">
        <button>Show</button>
      </p>
    </form>
  );
}

/** The form of a list contains the filter, so that the next page shows the same part of the list. */
export function KeepFilter({ filter }: { filter: ListFilter }): VNode {
  return (
    <>
      {filter.class !== null && <input type="hidden" name="class" value={filter.class} />}
      {filter.age !== null && <input type="hidden" name="age" value={filter.age} />}
    </>
  );
}

/**
 * The checkbox of a row. The form sends the row's version even if it is not ticked, because an operator
 * may tick the whole page.
 */
export function TickBox({ row, label }: { row: { id: bigint; version: string }; label: string }): VNode {
  const value = tickOf(row);
  return (
    <>
      <input type="checkbox" name="id" value={value} aria-label={label} />
      <input type="hidden" name="shown" value={value} />
    </>
  );
}

export function TickAll({ rows }: { rows: number }): VNode | null {
  if (rows < 2) return null;
  return (
    <p>
      <label>
        <input type="checkbox" name="all" value="yes" /> All {rows} on this page, ticked or not
      </label>
    </p>
  );
}

export function Owner({ name }: { name: string | null }): VNode {
  return name === null ? <span class="none">unassigned</span> : <>{name}</>;
}

/** The operators' notes about a row. */
export function Notes({
  notes,
}: {
  notes: readonly { at: string; by: string; note: string }[];
}): VNode | null {
  if (notes.length === 0) return null;
  return (
    <ul class="notes">
      {notes.map(({ at, by, note }, place) => (
        <li key={place}>
          <Moment at={new Date(at)} /> {by}: {note}
        </li>
      ))}
    </ul>
  );
}

export function ResolveTicked(): VNode {
  return (
    <p class="field">
      <button name="operation" value="resolve">
        Resolve the ticked ones…
      </button>
    </p>
  );
}

export function NoteAction(): VNode {
  return (
    <p class="field">
      <button name="operation" value="note" class="quiet">
        Only write it down
      </button>
    </p>
  );
}

export function AssignTo(): VNode {
  return (
    <>
      <p class="field">
        <label for="owner">Who works on it</label>
        <input id="owner" name="owner" maxLength={80} autocomplete="off" />
      </p>
      <p class="field">
        <button name="operation" value="assign" class="quiet">
          Assign the ticked ones
        </button>
      </p>
    </>
  );
}
