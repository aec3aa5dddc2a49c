import type { VNode } from 'preact';
import type { Product } from '../orders/catalogue.ts';
import { Amount } from '../platform/html.tsx';
import { versioned } from './assets.ts';
import { useReader } from './language.tsx';

/** More of one product than a shopper buys here; the server has its own limit. */
const MAX_QUANTITY = 99;

/**
 * One product and how many of it are wanted. The fields `sku`, `quantity` and `skuCurrency` are what
 * `POST /checkout` reads; the data attributes are for the basket's running total, which is
 * shown and never sent.
 */
export function ProductCard({ product }: { product: Product }): VNode {
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
