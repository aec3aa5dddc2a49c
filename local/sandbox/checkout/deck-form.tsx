import type { VNode } from 'preact';

import type { SetFault } from '../faults/book.ts';
import { DECK, DEED_NAMES, type Card } from '../faults/deck.ts';

const isDeed = ({ name }: Card): boolean => DEED_NAMES.some((deed) => deed === name);
const DEED_CARDS = DECK.filter(isDeed);
/** The list behind the history knows no single transaction. */
const AIR_CARDS = DECK.filter((card) => !isDeed(card) && !card.name.startsWith('history-'));

/** The fault deck, folded away: what a shopper never sees and whoever builds a shop wants to try. */
export function DeckForm({ token, inTheAir }: { token: string; inTheAir: readonly SetFault[] }): VNode {
  return (
    <details class="deck" open={inTheAir.length > 0}>
      <summary>Let something go wrong</summary>
      {inTheAir.length > 0 && (
        <ul class="air">
          {inTheAir.map(({ id, fault, calls }) => (
            <li key={id}>
              <span class="code">{fault}</span> {calls === null ? 'until it is taken back' : `× ${calls}`}
            </li>
          ))}
        </ul>
      )}
      <form method="post" action={`/checkout/${token}/deck`}>
        <label>
          The shopper
          <select name="deed">
            <option value="none">decides nothing</option>
            {DEED_CARDS.map(option)}
          </select>
        </label>
        <label>
          and from now on
          <select name="air">
            <option value="none">all goes well</option>
            {[...new Set(AIR_CARDS.map(({ family }) => family))].map((family) => (
              <optgroup key={family} label={family}>
                {AIR_CARDS.filter((card) => card.family === family).map(option)}
              </optgroup>
            ))}
          </select>
        </label>
        <label>
          How many times (empty: until cleared)
          <input name="calls" type="number" inputMode="numeric" min="1" max="1000" value="1" />
        </label>
        <button class="button secondary" type="submit">
          Do it and return to the shop
        </button>
      </form>
    </details>
  );
}

function option({ name, title }: Card): VNode {
  return (
    <option key={name} value={name}>
      {title}
    </option>
  );
}
