import type { ComponentChildren as Kids, VNode } from 'preact';
import { dateOf, timeOf, whenText, type View } from '../custom/days.ts';
import { badgeOf } from '../reporting/groups.ts';
import { TEXTS } from '../reporting/words.ts';
import words from './words.json' with { type: 'json' };

// The building blocks of all pages. The renderer escapes text.

const CASES = Object.keys(TEXTS.cases).map(badgeOf);

/** The tone of a badge. The badge of a case is amber, unless words.json gives it another tone. */
export function toneOf(word: string): string {
  const named = Object.entries(words.tones).find(([, names]) => names.some((one) => badgeOf(one) === word));
  return named?.[0] ?? (CASES.includes(word) ? 'warn' : '');
}

export const badge = (word: string): VNode => (word === '' ? <i /> : <b class={`badge ${toneOf(word)}`}>{word}</b>);

/** A time in everyday words, with the full date and time as its tooltip. */
export function when(at: Date, view: View): VNode {
  const whole = `${dateOf(at, view.timeZone)} ${timeOf(at, view.timeZone)}`;
  return <time title={whole}>{whenText(at, view)}</time>;
}

export const line = (...kids: Kids[]): VNode => <p>{kids}</p>;
export const quiet = (...kids: Kids[]): VNode => line(<small>{kids}</small>);
export const link = (href: string, ...kids: Kids[]): VNode => <a href={href}>{kids}</a>;

/** A fact, the next step, and a form for that step. */
export const notice = (tone: string, sentence: Kids, next = '', ...kids: Kids[]): VNode => (
  <section class={tone}>
    {sentence !== '' && <h2>{sentence}</h2>}
    {next !== '' && line(next)}
    {kids}
  </section>
);
export const card = (title: Kids, ...kids: Kids[]): VNode => notice('', title, '', kids);

/** Content that is collapsed at first, or open. */
export const more = (title: string, kids: Kids, isOpen = false): VNode => (
  <details open={isOpen}>
    <summary>{title}</summary>
    {kids}
  </details>
);

export type Row = { href?: string; small: Kids; main: Kids; amount?: Kids; badge?: string };

/** A list whose rows are links: a small line, the main text, the amount and the badge. */
export function list(rows: readonly Row[], empty: string): VNode {
  if (rows.length === 0) return line(empty);
  const items = rows.map(({ href, small, main, amount = '', badge: word = '' }) => {
    const cells = [<small>{small}</small>, <span>{main}</span>, <b>{amount}</b>, badge(word)];
    return <li>{href === undefined ? <div>{cells}</div> : link(href, cells)}</li>;
  });
  return <ul class="list">{items}</ul>;
}

type Figures = readonly [name: Kids, cells: readonly Kids[], isSum?: boolean];

/** A table of right-aligned figures. On a narrow screen, the table itself scrolls. */
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

const BAR = { width: 8, step: 10, height: 40 };

/**
 * A bar chart of amounts. Show a table with the same figures beside it. A day whose amount is not
 * above 0 has no bar.
 * @param points the text of each bar, and its amount in minor units
 */
export function bars(about: string, points: readonly (readonly [text: string, amount: bigint])[]): VNode {
  const most = points.reduce((largest, [, amount]) => (amount > largest ? amount : largest), 1n);
  const drawn = points.map(([text, amount], place) => {
    // A float is exact enough for the height of a bar. No sum uses it.
    const height = amount > 0n ? Math.max(1, (BAR.height * Number(amount)) / Number(most)) : 0;
    return (
      <rect x={place * BAR.step} y={BAR.height - height} width={BAR.width} height={height}>
        <title>{text}</title>
      </rect>
    );
  });
  const box = `0 0 ${points.length * BAR.step} ${BAR.height}`;
  return (
    <svg class="bars" viewBox={box} role="img" aria-label={about} preserveAspectRatio="none">
      {drawn}
    </svg>
  );
}

/** Events with their times. */
export const story = (events: readonly (readonly [time: Kids, event: Kids])[]): VNode => (
  <div class="story">{detail(events)}</div>
);

/** Facts with their names. Empty facts are left out. */
export function detail(facts: readonly (readonly [name: Kids, fact: Kids])[]): VNode {
  const known = facts.filter(([, fact]) => fact !== '' && fact !== null);
  const pairs = known.map(([name, fact]) => <div>{[<dt>{name}</dt>, <dd>{fact}</dd>]}</div>);
  return <dl>{pairs}</dl>;
}

/** A few large figures beside each other. */
export const figures = (facts: readonly (readonly [name: string, figure: string])[]): VNode => (
  <dl class="figures">
    {facts.map(([name, figure]) => (
      <div>
        <dt>{name}</dt>
        <dd>{figure}</dd>
      </div>
    ))}
  </dl>
);

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

/** A form that chooses what a page shows. */
export const filter = (...kids: Kids[]): VNode => (
  <form class="act">
    {kids}
    <button class="plain">Show</button>
  </form>
);

/** `1 order`, `3 orders`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Replaces each name in braces by its value. */
export const fill = (text: string, values: Record<string, string>): string =>
  text.replace(/\{(\w+)\}/g, (_, one: string) => values[one] ?? '');
