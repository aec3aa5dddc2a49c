import type { VNode } from 'preact';

import type { SetFault } from '../faults/book.ts';
import { AIR_NAMES, DECK } from '../faults/deck.ts';
import type { Mode } from '../keys.ts';
import type { Balance } from '../ledger/balances.ts';
import { Amount } from '../pages/amount.tsx';
import { PROFILES, type ProfileName } from '../profiles/all.ts';

const AIR_CARDS = DECK.filter(({ name }) => AIR_NAMES.some((air) => air === name));

/** Which service it plays, and the choice of another. */
export function ProfileChoice({ name }: { name: ProfileName }): VNode {
  return (
    <section aria-labelledby="profile">
      <h2 id="profile">It plays: {PROFILES[name].title}</h2>
      <p class="lead">{PROFILES[name].kind}</p>
      <form class="line" method="post" action="/profile">
        <label>
          Play another service
          <select name="name">
            {Object.entries(PROFILES).map(([other, { title }]) => (
              <option key={other} value={other} selected={other === name}>
                {`${title} (${other})`}
              </option>
            ))}
          </select>
        </label>
        <button class="button secondary" type="submit">
          Switch
        </button>
      </form>
    </section>
  );
}

/** What goes wrong for everybody. For one checkout the choice is on its page. */
export function FaultChoice({ faults }: { faults: readonly SetFault[] }): VNode {
  return (
    <section aria-labelledby="faults">
      <h2 id="faults">
        Faults in the air <span class="count">{faults.length}</span>
      </h2>
      {faults.length > 0 && (
        <ul class="air">
          {faults.map((fault) => (
            <li key={fault.id}>
              <span class="code">{fault.fault}</span> {limitsOf(fault)}
            </li>
          ))}
        </ul>
      )}
      <form class="line" method="post" action="/faults">
        <label>
          From now on
          <select name="fault">
            {[...new Set(AIR_CARDS.map(({ family }) => family))].map((family) => (
              <optgroup key={family} label={family}>
                {AIR_CARDS.filter((card) => card.family === family).map(({ name, title }) => (
                  <option key={name} value={name}>
                    {title}
                  </option>
                ))}
              </optgroup>
            ))}
          </select>
        </label>
        <label class="short">
          Calls (empty: all)
          <input name="calls" type="number" inputMode="numeric" min="1" max="1000" />
        </label>
        <button class="button secondary" type="submit">
          Let it happen
        </button>
      </form>
      <div class="line">
        <form method="post" action="/faults/clear">
          <button class="button secondary" type="submit">
            Clear the air
          </button>
        </form>
        <form method="post" action="/reset">
          <button class="button secondary" type="submit">
            Reset: forget transactions, money and faults
          </button>
        </form>
      </div>
    </section>
  );
}

function limitsOf({ endpoint, reference, calls }: SetFault): string {
  const parts = [
    endpoint === null ? '' : `on ${endpoint}`,
    reference === null ? '' : `for ${reference}`,
    calls === null ? 'until it is taken back' : `${calls} more times`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** Collected and not taken back = pending + available + paid out. */
export function Balances({ balances }: { balances: readonly (Balance & { mode: Mode })[] }): VNode {
  return (
    <section aria-labelledby="money">
      <h2 id="money">Balances</h2>
      {balances.length === 0 ? (
        <p class="empty">Nothing was collected yet.</p>
      ) : (
        <dl class="details">
          {balances.map(({ mode, currency, available, pending, transferred }) => (
            <>
              <dt>
                {currency}, {mode}
              </dt>
              <dd>
                <Amount money={{ minor: available, currency }} /> available,{' '}
                <Amount money={{ minor: pending, currency }} /> pending,{' '}
                <Amount money={{ minor: transferred, currency }} /> paid out
              </dd>
            </>
          ))}
        </dl>
      )}
    </section>
  );
}
