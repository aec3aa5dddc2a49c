import type { VNode } from 'preact';
import { Choice, words } from '../pages/parts.tsx';
import { AGES, type ListFilter } from './filter.ts';

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

/** The form of a list carries the filter, so that the page that follows is the one that was looked at. */
export function KeepFilter({ filter }: { filter: ListFilter }): VNode {
  return (
    <>
      {filter.class !== null && <input type="hidden" name="class" value={filter.class} />}
      {filter.age !== null && <input type="hidden" name="age" value={filter.age} />}
    </>
  );
}
