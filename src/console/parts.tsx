import type { ComponentChildren as Kids, VNode } from 'preact';
import { dateOf, timeOf, whenText, type View } from '../custom/days.ts';
import { TEXTS } from '../reporting/words.ts';
import words from './words.json' with { type: 'json' };

// The parts that all pages are made of. Text is escaped by the renderer.

/** Of a state or a class, by its name; a shop may have translated it. */
export const badgeOf = (name: string): string => (TEXTS.states[name] ?? TEXTS.cases[name])?.badge ?? name;
const CASES = Object.keys(TEXTS.cases).map(badgeOf);

/** By the word of a badge. Whatever is to be decided is amber, unless it is worse. */
export function toneOf(word: string): string {
  const named = Object.entries(words.tones).find(([, names]) => names.some((one) => badgeOf(one) === word));
  return named?.[0] ?? (CASES.includes(word) ? 'warn' : '');
}

export const badge = (word: string): VNode => (word === '' ? <i /> : <b class={`badge ${toneOf(word)}`}>{word}</b>);

/** A time as people say it; in whole where one points at it. */
export function when(at: Date, view: View): VNode {
  const whole = `${dateOf(at, view.timeZone)} ${timeOf(at, view.timeZone)}`;
  return <time title={whole}>{whenText(at, view)}</time>;
}

export const line = (...kids: Kids[]): VNode => <p>{kids}</p>;
export const quiet = (...kids: Kids[]): VNode => line(<small>{kids}</small>);
export const link = (href: string, ...kids: Kids[]): VNode => <a href={href}>{kids}</a>;

/** What is true, what is to be done now, and a form to do it. */
export const notice = (tone: string, sentence: Kids, next = '', ...kids: Kids[]): VNode => (
  <section class={tone}>
    {sentence !== '' && <h2>{sentence}</h2>}
    {next !== '' && line(next)}
    {kids}
  </section>
);
export const card = (title: Kids, ...kids: Kids[]): VNode => notice('', title, '', kids);

/** Something that is closed until somebody wants it. */
export const more = (title: string, ...kids: Kids[]): VNode => (
  <details>
    <summary>{title}</summary>
    {kids}
  </details>
);

export type Row = { href?: string; small: Kids; main: Kids; amount?: Kids; badge?: string };

/** Rows that are links as a whole: when and what, who, how much, how it stands. */
export function list(rows: readonly Row[], empty: string): VNode {
  if (rows.length === 0) return line(empty);
  const items = rows.map(({ href, small, main, amount = '', badge: word = '' }) => {
    const cells = [<small>{small}</small>, <span>{main}</span>, <b>{amount}</b>, badge(word)];
    return <li>{href === undefined ? <div>{cells}</div> : link(href, cells)}</li>;
  });
  return <ul class="list">{items}</ul>;
}

type Figures = readonly [name: Kids, cells: readonly Kids[], isSum?: boolean];

/** Figures, right-aligned; it scrolls inside of itself where the screen is too narrow. */
export function numbers(about: string, columns: readonly Kids[], rows: readonly Figures[]): VNode {
  const heads = columns.map((one) => <th scope="col">{one}</th>);
  const lines = rows.map(([name, cells, isSum = false]) => {
    const figures = cells.map((cell) => <td>{isSum ? <b>{cell}</b> : cell}</td>);
    return <tr>{[<th scope="row">{isSum ? <b>{name}</b> : name}</th>, figures]}</tr>;
  });
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={about}>
      <table>{[<thead>{<tr>{[<td />, heads]}</tr>}</thead>, <tbody>{lines}</tbody>]}</table>
    </div>
  );
}

/** Facts by their names, or what happened by its times; empty ones are left out. */
export function detail(facts: readonly (readonly [name: Kids, fact: Kids])[]): VNode {
  const known = facts.filter(([, fact]) => fact !== '' && fact !== null);
  const pairs = known.map(([name, fact]) => <div>{[<dt>{name}</dt>, <dd>{fact}</dd>]}</div>);
  return <dl>{pairs}</dl>;
}

export type Tab = readonly [name: string, href: string, isHere: boolean];
export const tabs = (about: string, all: readonly Tab[]): VNode => (
  <nav aria-label={about}>
    {all.map(([name, href, isHere]) => (
      <a href={href} aria-current={isHere ? 'page' : undefined}>
        {name}
      </a>
    ))}
  </nav>
);

export type Option = readonly [value: string, text: string];
export const choice = (name: string, label: string, value: string, options: readonly Option[]): VNode => (
  <label>
    {label}
    <select name={name} value={value}>
      {options.map(([one, text]) => (
        <option value={one}>{text}</option>
      ))}
    </select>
  </label>
);

export const date = (name: string, query: URLSearchParams): VNode => (
  <label>
    {name}
    <input type="date" name={name} value={query.get(name) ?? ''} required />
  </label>
);

/** Chooses what a page shows. */
export const filter = (...kids: Kids[]): VNode => (
  <form class="act">
    {kids}
    <button class="plain">Show</button>
  </form>
);

/** `1 order`, `3 orders`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** A text with its values in place of the names in braces. */
export const fill = (text: string, values: Record<string, string>): string =>
  text.replace(/\{(\w+)\}/g, (_, one: string) => values[one] ?? '');
