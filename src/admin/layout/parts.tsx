import type { ComponentChildren, VNode } from 'preact';
import type { OrderId } from '../../platform/ids.ts';

export { span } from '../../platform/span.ts';

/** A time in UTC, to the second: every operator everywhere sees the same. */
export function Moment({ at }: { at: Date | null }): VNode {
  if (at === null) return <span class="none">–</span>;
  const iso = at.toISOString();
  return <time dateTime={iso}>{`${iso.slice(0, 10)} ${iso.slice(11, 19)}`}</time>;
}

export function Status({ word }: { word: string }): VNode {
  return <span class={`status ${word}`}>{words(word)}</span>;
}

/** An identifier as readable text. */
export function words(word: string): string {
  return word.replaceAll('_', ' ');
}

/** The head of a table; a column of numbers stands to the right. */
export type Head = readonly (string | { number: string })[];

/** A table that scrolls by itself where the screen is narrower. */
export function Table({
  label,
  head,
  children,
}: {
  label: string;
  head: Head;
  children: ComponentChildren;
}): VNode {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {head.map((name) =>
              typeof name === 'string' ? (
                <th scope="col" key={name}>
                  {name}
                </th>
              ) : (
                <th scope="col" class="number" key={name.number}>
                  {name.number}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
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
  return id === null ? <span class="none">none</span> : <a href={`/admin/orders/${id}`}>{id}</a>;
}

export type Option = { value: string; name: string };

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
