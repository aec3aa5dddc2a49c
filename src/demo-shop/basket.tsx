import type { VNode } from 'preact';
import { currencyNames, useReader } from './language.tsx';
import type { Product } from '../orders/catalogue.ts';
import { minorDigits } from '../platform/money.ts';
import type { Order } from '../orders/order.ts';
import { EVERY_CURRENCY } from '../payments/checkout-stops.sql.ts';
import { Amount } from '../platform/html.tsx';

/**
 * The products of one currency. One order is paid in one currency, so each is paid by a button of its own.
 */
export type Shelf = { currency: string; digits: number; products: Product[] };

/** Shelves in the order in which their currencies first appear; products keep their order. */
export function shelvesOf(products: readonly Product[]): Shelf[] {
  const shelves = new Map<string, Shelf>();
  for (const product of products) {
    const { currency } = product.price;
    const shelf = shelves.get(currency) ?? { currency, digits: minorDigits(currency) ?? 0, products: [] };
    shelf.products.push(product);
    shelves.set(currency, shelf);
  }
  return [...shelves.values()];
}

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

/** A basket is kept by the browser, so that it can be bought later. */
export function Stopped({ currencies }: { currencies: readonly string[] }): VNode | null {
  const { language, words } = useReader();
  if (currencies.length === 0) return null;
  const { allStopped, stopped } = words.shop;
  const names = (): string[] => [...new Set(currencies)].map((currency) => currencyNames(currency, language));
  return (
    <p class="notice" role="status">
      {currencies.includes(EVERY_CURRENCY)
        ? allStopped
        : stopped(new Intl.ListFormat(language).format(names()))}
    </p>
  );
}

/**
 * A shopper who comes back to the shop without having paid need not choose again, and
 * should not order twice.
 */
export function OpenOrder({ order: { id, lines, total } }: { order: Order }): VNode {
  const { open, openHelp, openLink, openPay } = useReader().words.shop;
  return (
    <section class="notice" aria-labelledby="open-order-heading">
      <h2 id="open-order-heading">{open}</h2>
      <p>
        {lines.map(({ quantity, description }) => `${quantity} × ${description}`).join(', ')}:{' '}
        <Amount {...total} />. {openHelp} <a href={`/shop/orders/${id}`}>{openLink}</a>.
      </p>
      <form class="resume" method="post" action="/checkout">
        <input type="hidden" name="orderId" value={id} />
        <button class="button secondary" type="submit">
          {openPay}
        </button>
      </form>
    </section>
  );
}

/** Tells the script which things the last order took out of the basket. */
export function Bought({ order }: { order: Order | null }): VNode | null {
  if (order?.status !== 'paid' && order?.status !== 'review') return null;
  return (
    <ul data-bought={order.id} hidden>
      {order.lines.map(
        ({ sku, quantity }) => sku !== null && <li key={sku} data-sku={sku} data-quantity={quantity} />,
      )}
    </ul>
  );
}
