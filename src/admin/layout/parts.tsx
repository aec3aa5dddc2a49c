import {
  cloneElement,
  isValidElement,
  toChildArray,
  type ComponentChildren,
  type FunctionComponent,
  type VNode,
} from 'preact';
import type { OrderId } from '../../platform/ids.ts';

export { span } from '../../platform/span.ts';

/** A time in UTC, to the second: every operator everywhere sees the same. */
export function Moment({ at }: { at: Date | null }): VNode {
  if (at === null) return <span class="none">–</span>;
  const iso = at.toISOString();
  return <time dateTime={iso}>{`${iso.slice(0, 10)} ${iso.slice(11, 19)}`}</time>;
}

/** @param name what is shown; left out: the word itself, which sets the colour */
export function Status({ word, name = words(word) }: { word: string; name?: string }): VNode {
  return <span class={`status ${word}`}>{name}</span>;
}

/** An identifier as readable text. */
export function words(word: string): string {
  return word.replaceAll('_', ' ');
}

/** The head of a table; a column of numbers stands to the right. */
export type Head = readonly (string | { number: string })[];

/**
 * A table that scrolls by itself where the screen is narrower; on a phone each row of more than two columns
 * is a card, whose cells bear the names of their columns.
 */
export function Table({
  label,
  head,
  children,
}: {
  label: string;
  head: Head;
  children: ComponentChildren;
}): VNode {
  const names = head.map((name) => (typeof name === 'string' ? name : name.number));
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class={names.length > 2 ? 'rows' : undefined}>
        <thead>
          <tr>
            {head.map((name, at) => (
              <th scope="col" class={typeof name === 'string' ? undefined : 'number'} key={names[at]}>
                {names[at]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {elementsOf(children).map((row) => {
            const cells = elementsOf(row.props.children);
            return cloneElement(
              row,
              {},
              cells.map((cell, at) => cloneElement(cell, { 'data-label': names[at] })),
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

type Element = VNode<{ children?: ComponentChildren; 'data-label'?: string }>;

/**
 * The elements of HTML that children amount to: a component between a table and its rows or cells is called
 * here.
 */
function elementsOf(children: ComponentChildren): Element[] {
  return toChildArray(children).flatMap((child) => {
    if (!isValidElement(child)) return [];
    const { type, props } = child;
    if (typeof type === 'string') return [child];
    return elementsOf((type as FunctionComponent)(props));
  });
}

/**
 * The link to the next page, by the key of the last row: every page costs the same,
 * however far back it is.
 */
export function Older({ address, params }: { address: string; params: Record<string, string> }): VNode {
  return (
    <p class="pages">
      <a href={`${address}?${new URLSearchParams(params).toString()}`} rel="next">
        Older
      </a>
    </p>
  );
}

export function OrderLink({ id }: { id: OrderId | null }): VNode {
  return id === null ? (
    <span class="none">none</span>
  ) : (
    <a class="id" href={`/admin/orders/${id}`}>
      {id}
    </a>
  );
}

type Option = { value: string; name: string };

export function Choice(props: {
  id: string;
  name: string;
  label: string;
  chosen: string;
  options: Option[];
}): VNode {
  const { id, name, label, chosen, options } = props;
  return (
    <p class="field">
      <label for={id}>{label}</label>
      <select id={id} name={name}>
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === chosen}>
            {option.name}
          </option>
        ))}
      </select>
    </p>
  );
}

type Tab = { name: string; address: string; isHere: boolean };

/** Views of one list. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }): VNode {
  return (
    <nav aria-label={label} class="tabs">
      <ul>
        {tabs.map(({ name, address, isHere }) => (
          <li key={name}>
            <a href={address} aria-current={isHere ? 'page' : undefined}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
