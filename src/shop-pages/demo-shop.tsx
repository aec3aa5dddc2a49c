import { randomUUID } from 'node:crypto';
import type { VNode } from 'preact';
import { ALL } from '../cases/stops.ts';
import type { Product } from '../orders/catalogue.ts';
import { amountText, write } from '../reporting/words.ts';
import { Frame, type Site } from './pages.tsx';

/**
 * The quantities that a shopper can choose. shop.css shows the sum for the chosen quantity, without
 * a script.
 */
const QUANTITIES = [1, 2, 3];

/** @param stopped the stopped currencies, or {@link ALL} */
export function DemoShop(props: Site & { products: readonly Product[]; stopped: readonly string[] }): VNode {
  const { products, stopped, ...site } = props;
  const { demo } = site.words;
  const isAll = stopped.includes(ALL);
  return (
    <Frame {...site} home={null} isTest={false} title={demo.title}>
      <h1>{demo.heading}</h1>
      <p>
        <b>{site.isTest ? demo.test : demo.live}</b> {demo.steps.join(' → ')}
      </p>
      {isAll && <p class="notice">{demo.allStopped}</p>}
      {products.length === 0 && <p>{demo.nothing}</p>}
      {products.map(({ sku, name, description, unitAmount, currency }) => (
        <section key={sku} class="goods">
          <svg viewBox="0 0 64 64" aria-hidden="true">
            {DRAWINGS[sku]?.map((path) => (
              <path key={path} d={path} />
            ))}
          </svg>
          <div>
            <h2>{name}</h2>
            <p>{description}</p>
            {isAll || stopped.includes(currency) ? (
              <p class="notice">
                {isAll ? amountText({ amount: unitAmount, currency }) : write(demo.stopped, { currency })}
              </p>
            ) : (
              <Purchase {...{ sku, unitAmount, currency }} words={demo} />
            )}
          </div>
        </section>
      ))}
    </Frame>
  );
}

type PurchaseProps = Pick<Product, 'sku' | 'unitAmount' | 'currency'> & { words: Site['words']['demo'] };

/**
 * This plain form is all that a shop needs. `intent` is the idempotency key: a form that is sent
 * twice places one order.
 */
function Purchase({ sku, unitAmount, currency, words }: PurchaseProps): VNode {
  return (
    <form class="act" method="post" action="/checkout">
      <input type="hidden" name="sku" value={sku} />
      <input type="hidden" name="intent" value={randomUUID()} />
      <label>
        {words.quantity}
        <select name="quantity">
          {QUANTITIES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      <label class="wide">
        {words.email}
        <input type="email" name="email" required autocomplete="email" />
      </label>
      <button>
        {words.pay}{' '}
        {QUANTITIES.map((one) => (
          <span key={one}>{amountText({ amount: unitAmount * BigInt(one), currency })}</span>
        ))}
      </button>
    </form>
  );
}

/** The drawings of the demo's products, by sku. Other products have none. */
const DRAWINGS: Partial<Record<string, string[]>> = {
  'ankara-tote': [
    'M10 24h44l4 34H6zM22 30V16c0-12 20-12 20 0v14',
    'M9 34h46M7 46h50M20 34l4 12 4-12 4 12 4-12 4 12 4-12',
  ],
  djembe: [
    'M12 10a20 5 0 1 0 40 0a20 5 0 1 0-40 0c0 18 12 18 13 28l-5 20h24l-5-20c1-10 13-10 13-28',
    'M14 17l8 14 5-16 5 18 5-18 5 16 8-14M24 38h16',
  ],
  'brass-dallah': [
    'M24 22h20c-2 8 8 14 8 24 0 8-4 12-8 12H24c-4 0-8-4-8-12 0-10 10-16 8-24C16 21 12 16 6 8',
    'M45 26c14-2 14 20 6 24M26 22c0-10 16-10 16 0M34 14V8M18 42h32',
  ],
};
