import type { VNode } from 'preact';
import type { Product } from '../orders/catalogue.ts';
import type { Order } from '../orders/order.ts';
import { useLocale, Amount } from '../platform/html.tsx';
import { newId } from '../platform/ids.ts';
import { EVERY_CURRENCY } from '../payments/checkout-stops.sql.ts';
import type { Mode } from '../platform/mode.ts';
import { Basket, Bought, OpenOrder, shelvesOf, Stopped, type Shelf } from './basket.tsx';
import { type Branding, Frame } from './frame.tsx';
import { currencyName, useReader } from './language.tsx';
import { versioned } from './assets.ts';

type ShopPageProps = {
  branding: Branding;
  products: Product[];
  mode?: Mode | undefined;
  /** The order for which this browser was sent to the payment page minutes ago. */
  lastOrder?: Order | null;
  /** The currencies that are stopped, or {@link EVERY_CURRENCY}. */
  stopped?: readonly string[];
};

/** What is for sale: one plain form that works without script. Its button says which currency is bought. */
export function ShopPage({ branding, products, mode, lastOrder = null, stopped = [] }: ShopPageProps): VNode {
  const { shop } = useReader().words;
  const shelves = shelvesOf(products);
  const isStopped = (currency: string): boolean =>
    [currency, EVERY_CURRENCY].some((of) => stopped.includes(of));
  return (
    <Frame title={shop.title} branding={branding} script="basket.js" mode={mode}>
      <div class="intro">
        <h1>{shop.heading}</h1>
        {shelves.length === 0 ? (
          <p class="lead">{shop.nothing}</p>
        ) : (
          <>
            <p class="lead">{shop.lead}</p>
            <ShelfLinks shelves={shelves} />
          </>
        )}
        <Stopped currencies={stopped} />
        {lastOrder?.status === 'pending' ? (
          <OpenOrder order={lastOrder} />
        ) : (
          <p class="notice" data-part="open-order" role="status" hidden />
        )}
        <Bought order={lastOrder} />
      </div>
      {shelves.length > 0 && (
        <form class="shop" method="post" action="/checkout" data-locale={useLocale()}>
          {/* A double click sends this id twice, which counts as one request. No other browser sends it. */}
          <input type="hidden" name="intent" value={newId()} />
          <div class="shelves">
            {shelves.map((shelf) => (
              <ShelfOfGoods key={shelf.currency} shelf={shelf} />
            ))}
            <a class="basket-bar" href="#basket" data-part="bar" hidden />
          </div>
          <Basket shelves={shelves} isStopped={isStopped} isDemo={branding.isDemo} />
        </form>
      )}
      {branding.isDemo && <AboutTheDemo />}
    </Frame>
  );
}

function ShelfOfGoods({ shelf: { currency, products } }: { shelf: Shelf }): VNode {
  return (
    <section class="shelf" id={currency} aria-labelledby={`${currency}-heading`}>
      <h2 id={`${currency}-heading`}>
        {currencyName(currency, useReader().language)} <span class="code">{currency}</span>
      </h2>
      <ul class="products">
        {products.map((product) => (
          <ProductCard key={product.sku} product={product} />
        ))}
      </ul>
    </section>
  );
}

function ShelfLinks({ shelves }: { shelves: Shelf[] }): VNode {
  const { language, words } = useReader();
  return (
    <nav class="shelf-links" aria-label={words.shop.currencies}>
      <ul>
        {shelves.map(({ currency }) => (
          <li key={currency}>
            <a href={`#${currency}`}>
              {currencyName(currency, language)} <span class="count" data-count={currency} />
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function AboutTheDemo(): VNode {
  const { heading, steps } = useReader().words.demo;
  return (
    <section class="about-demo" id="demo" aria-labelledby="demo-heading">
      <h2 id="demo-heading">{heading}</h2>
      <ol>
        {steps.map(([step, explanation]) => (
          <li key={step}>
            <h3>{step}</h3>
            <p>{explanation}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** More of one product than a shopper buys here; the server has its own limit. */
const MAX_QUANTITY = 99;

/**
 * One product and how many of it are wanted. The fields `sku`, `quantity` and `skuCurrency` are what
 * `POST /checkout` reads; the data attributes are for the basket's running total, which is
 * shown and never sent.
 */
function ProductCard({ product }: { product: Product }): VNode {
  const { sku, name, description, image, price } = product;
  const { quantity, of } = useReader().words.shop;
  return (
    <li
      class="product"
      data-sku={sku}
      data-name={name}
      data-currency={price.currency}
      data-unit-amount={price.amount.toString()}
    >
      <img class="picture" src={versioned(image)} alt="" width="320" height="240" />
      <div class="about">
        <h3>{name}</h3>
        <p class="description">{description}</p>
        <p class="price">
          <Amount {...price} />
        </p>
        <div class="quantity">
          <input type="hidden" name="sku" value={sku} />
          <input type="hidden" name="skuCurrency" value={price.currency} />
          <label>
            <span class="label">
              {quantity}
              <span class="unseen">{of(name)}</span>
            </span>
            <input
              type="number"
              name="quantity"
              value="0"
              min="0"
              max={MAX_QUANTITY}
              step="1"
              inputMode="numeric"
              autocomplete="off"
            />
          </label>
        </div>
      </div>
    </li>
  );
}
