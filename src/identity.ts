import type { Order } from './orders/order.ts';
import type { Database } from './platform/database/database.ts';

/**
 * A text of the shop: the same in every language, or one for each, by its code (`en` when it lacks the
 * page's).
 */
export type ShopText = string | Readonly<Record<string, string>>;

/** Who the shop is on every page that a shopper sees. */
export type Identity = {
  name: string;
  /** Whom a shopper asks for help. */
  helpEmail: string;
  /** A picture among the `assets`, shown in place of the name in the header. */
  logo?: string;
  /** Where the name in the header leads. Left out: the demo shop's page, or nowhere while that is off. */
  homeUrl?: string;
  /** A few words beside the name. */
  ribbon?: ShopText;
  /** The line at the foot. */
  footer?: ShopText;
  /** What happens after paying, such as when the goods come: on the page of an order that is paid. */
  afterPaying?: ShopText;
  /** A folder of pictures and style sheets, served under `/shop/own/`. */
  assets?: URL;
  /**
   * A file in it, loaded after the style sheet of the pages: `:root { --accent: #0a5c36; }` sets a colour.
   */
  stylesheet?: string;
  /**
   * A sentence of the shop on the page of an order, such as when it will arrive; null: none. Asked whenever
   * the page is shown, with the page's language (`en`, `fr`, or what `LANGUAGES` has beside them). When it
   * fails the page is shown without it.
   */
  orderNote?: (order: Order, database: Database, language: string) => Promise<string | null>;
};
