import type { VNode } from 'preact';
import type { Product } from '../orders/catalogue.ts';
import type { Order } from '../orders/order.ts';
import { Amount } from '../platform/html.tsx';
import { EVERY_CURRENCY } from '../payments/currency-stops.sql.ts';
import type { Mode } from '../platform/mode.ts';
import { CurrencyGroup } from './currency-group.tsx';
import type { Branding } from './branding.ts';
import { Frame } from './frame.tsx';
import { shelvesOf, type Shelf } from './group-by-currency.ts';

export type ShopPageProps = {
  branding: Branding;
  products: Product[];
  mode?: Mode | undefined;
  /** The order for which this browser was sent to the payment page minutes ago, and which is not paid yet. */
  openOrder?: Order | null;
  /** The currencies in which nobody can begin to pay now, or {@link EVERY_CURRENCY}. */
  stopped?: readonly string[];
};

/** What is for sale, one form per currency. */
export function ShopPage({ branding, products, mode, openOrder = null, stopped = [] }: ShopPageProps): VNode {
  const shelves = shelvesOf(products);
  return (
    <Frame title="Shop" branding={branding} script="basket.js" mode={mode}>
      <div class="intro">
        <h1>Things worth carrying home</h1>
        {shelves.length === 0 ? (
          <p class="lead">There is nothing on sale right now.</p>
        ) : (
          <>
            <p class="lead">Each order is paid in one currency, so each currency has its own basket.</p>
            <ShelfLinks shelves={shelves} />
          </>
        )}
        <Stopped currencies={stopped} />
        {openOrder === null ? (
          <p class="notice" data-part="open-order" role="status" hidden />
        ) : (
          <OpenOrder order={openOrder} />
        )}
      </div>
      {shelves.map((shelf) => (
        <CurrencyGroup key={shelf.currency} shelf={shelf} />
      ))}
      <AboutTheDemo />
    </Frame>
  );
}

/** A basket is kept by the browser, so that it can be bought later. */
function Stopped({ currencies }: { currencies: readonly string[] }): VNode | null {
  if (currencies.length === 0) return null;
  const what = currencies.includes(EVERY_CURRENCY) ? '' : ` in ${[...new Set(currencies)].join(' and ')}`;
  return (
    <p class="notice" role="status">
      We take no new orders{what} right now. Your basket is kept: come back a little later.
    </p>
  );
}

/**
 * A shopper who comes back to the shop without having paid need not choose again, and
 * should not order twice.
 */
function OpenOrder({ order: { id, lines, total } }: { order: Order }): VNode {
  return (
    <section class="notice" aria-labelledby="open-order-heading">
      <h2 id="open-order-heading">You have an open order</h2>
      <p>
        {lines.map(({ quantity, description }) => `${quantity} × ${description}`).join(', ')}:{' '}
        <Amount {...total} />. If you have paid for it, do not pay again:{' '}
        <a href={`/shop/orders/${id}`}>look at that order</a>.
      </p>
      <form class="resume" method="post" action="/checkout">
        <input type="hidden" name="orderId" value={id} />
        <button class="button secondary" type="submit">
          I have not paid: continue to payment
        </button>
      </form>
    </section>
  );
}

function ShelfLinks({ shelves }: { shelves: Shelf[] }): VNode {
  return (
    <nav class="shelf-links" aria-label="Currencies">
      <ul>
        {shelves.map(({ currency, currencyName }) => (
          <li key={currency}>
            <a href={`#${currency}`}>
              {currencyName} <span class="count" data-count={currency} />
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function AboutTheDemo(): VNode {
  return (
    <section class="about-demo" id="demo" aria-labelledby="demo-heading">
      <h2 id="demo-heading">What happens when you buy</h2>
      <ol>
        <li>
          <h3>We price it</h3>
          <p>The server takes the prices from its own catalogue and writes down your order.</p>
        </li>
        <li>
          <h3>You pay elsewhere</h3>
          <p>
            The payment service shows its own page. Without a key that page is the built-in sandbox: you play
            the bank and decide whether the payment succeeds, fails or stays open. Sandbox and test keys move
            no real money.
          </p>
        </li>
        <li>
          <h3>We check</h3>
          <p>
            Back in the shop, your order counts as paid only when the payment service has confirmed its exact
            amount.
          </p>
        </li>
      </ol>
    </section>
  );
}
