import type { VNode } from 'preact';
import { currencyNames, type Shelf } from './group-by-currency.ts';
import { useReader } from './language.tsx';

type BasketProps = {
  shelves: readonly Shelf[];
  /** Whether a currency is stopped. */
  isStopped: (currency: string) => boolean;
  isDemo: boolean;
};

/**
 * What is chosen, one e-mail field, and one button per currency. The script fills the parts marked with
 * `data-part`, and shows only the currencies of which something is chosen.
 */
export function Basket({ shelves, isStopped, isDemo }: BasketProps): VNode {
  const { words, language } = useReader();
  const { basket, plainHelp, email, emailHelp, emailOfDemo, pay, stopped } = words.shop;
  return (
    <section class="basket" id="basket" aria-labelledby="basket-heading">
      <h2 id="basket-heading" tabIndex={-1}>
        {basket}
      </h2>
      <p data-part="plain-help">{plainHelp}</p>
      <p data-part="empty" hidden>
        {words.script.empty}
      </p>
      {shelves.map(({ currency, digits }) => (
        <div key={currency} class="purse" data-purse={currency} data-digits={digits} hidden>
          <ul class="basket-lines" data-part="lines" />
          <p class="basket-total" data-part="total" role="status" />
        </div>
      ))}
      <div class="checkout" data-part="checkout">
        <label class="email">
          <span class="label">{email}</span>
          <input
            type="email"
            name="email"
            required
            maxLength={254}
            autocomplete="email"
            aria-describedby="email-help"
          />
        </label>
        <p class="help" id="email-help">
          {emailHelp} {isDemo && emailOfDemo}
        </p>
        {shelves.map(({ currency }) =>
          isStopped(currency) ? (
            <p key={currency} class="stopped" data-pay={currency}>
              {stopped(currencyNames(currency, language))}
            </p>
          ) : (
            <button
              key={currency}
              class="button primary"
              type="submit"
              name="currency"
              value={currency}
              data-pay={currency}
            >
              {pay(currency)}
            </button>
          ),
        )}
      </div>
    </section>
  );
}
