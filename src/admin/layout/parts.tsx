import type { ComponentChildren, JSX, VNode } from 'preact';
import type { OrderId } from '../../platform/ids.ts';

export { span } from '../../platform/locale.ts';

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

/** The columns of a table: one of numbers stands to the right, one of words is as wide as the rest leaves. */
export type Head = readonly (string | { number: string } | { words: string })[];

type TableProps = {
  label: string;
  head: Head;
  /** Under the head, cell by cell. */
  rows: readonly (readonly ComponentChildren[])[];
  /** Whether the first cell says what its row is about. */
  isHeaded?: boolean;
};

/**
 * A table that scrolls by itself where the screen is narrower; on a phone each row of more than two columns
 * is a card, whose cells bear the names of their columns.
 */
export function Table({ label, head, rows, isHeaded = false }: TableProps): VNode {
  const columns = head.map((column) => {
    const [kind, name] = typeof column === 'string' ? [undefined, column] : (Object.entries(column)[0] ?? []);
    return { kind, name };
  });
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class={columns.length > 2 ? 'rows' : undefined}>
        <thead>
          <tr>
            {columns.map(({ kind, name }) => (
              <th scope="col" class={kind === 'number' ? kind : undefined} key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, place) => (
            <tr key={place}>
              {cells.map((cell, at) =>
                isHeaded && at === 0 ? (
                  <th scope="row" data-label={columns[at]?.name} key={at}>
                    {cell}
                  </th>
                ) : (
                  <td class={columns[at]?.kind} data-label={columns[at]?.name} key={at}>
                    {cell}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
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
  return id === null ? (
    <span class="none">none</span>
  ) : (
    <a class="id" href={`/admin/orders/${id}`}>
      {id}
    </a>
  );
}

type FieldProps = JSX.IntrinsicElements['input'] & {
  id: string;
  label: ComponentChildren;
  width?: 'wide' | 'short';
};

/** An input under its label. */
export function Field({ label, width, ...input }: FieldProps): VNode {
  return (
    <p class={width === undefined ? 'field' : `field ${width}`}>
      <label for={input.id}>{label}</label>
      <input {...input} />
    </p>
  );
}

type ButtonProps = { name?: string; value?: string; isQuiet?: boolean; children: ComponentChildren };

/** Sends its form. */
export function Button({ isQuiet = false, ...button }: ButtonProps): VNode {
  return (
    <p class="field">
      <button class={isQuiet ? 'quiet' : undefined} {...button} />
    </p>
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
