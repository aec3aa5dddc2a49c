import type { VNode } from 'preact';
import { useLocale } from '../platform/html.tsx';
import { newId } from '../platform/ids.ts';
import { ProductCard } from './product-card.tsx';
import type { Shelf } from './group-by-currency.ts';

/**
 * Everything sold in one currency, as one plain form that works without script. The basket script fills
 * the parts marked with `data-part` and hides the sentence that explains the plain form.
 */
export function CurrencyGroup({ shelf }: { shelf: Shelf }): VNode {
  const { currency, currencyName, digits, products } = shelf;
  return (
    <section class="shelf" id={currency} aria-labelledby={`${currency}-heading`}>
      <h2 id={`${currency}-heading`}>
        {currencyName} <span class="code">{currency}</span>
      </h2>
      <form
        method="post"
        action="/checkout"
        data-currency={currency}
        data-digits={digits}
        data-locale={useLocale()}
      >
        <input type="hidden" name="currency" value={currency} />
        {/* A double click sends this id twice, which counts as one request. No other browser sends it. */}
        <input type="hidden" name="intent" value={newId()} />
        <ul class="products">
          {products.map((product) => (
            <ProductCard key={product.sku} product={product} />
          ))}
        </ul>
        <Basket currency={currency} />
      </form>
    </section>
  );
}

function Basket({ currency }: { currency: string }): VNode {
  const helpId = `${currency}-email-help`;
  return (
    <div class="basket" role="group" aria-labelledby={`${currency}-basket`}>
      <h3 id={`${currency}-basket`} tabIndex={-1}>
        Your {currency} basket
      </h3>
      <p data-part="plain-help">
        Set how many you want of each, then buy. Zero means none. One order is paid in one currency.
      </p>
      <ul class="basket-lines" data-part="lines" hidden />
      <p class="basket-total" data-part="total" role="status" hidden />
      <label class="email">
        <span class="label">E-mail</span>
        <input
          type="email"
          name="email"
          required
          maxLength={254}
          autocomplete="email"
          aria-describedby={helpId}
        />
      </label>
      <p class="help" id={helpId}>
        Given to the payment service with your payment. To try the shop, ada@example.com will do.
      </p>
      <p class="fault" data-part="fault" role="alert" />
      <button class="button primary" type="submit">
        Buy in {currency}
      </button>
    </div>
  );
}
