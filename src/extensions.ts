import type { Router } from 'express';
import type { AlertHook } from './alerts/alert.ts';
import type { EventReceiver } from './fulfilment/event.ts';
import type { Receiver } from './fulfilment/release.ts';
import type { Catalogue, CreateCatalogue } from './orders/catalogue.ts';
import type { Order } from './orders/order.ts';
import type { Database } from './platform/database/database.ts';
import type { Logger } from './platform/logger.ts';
import type { Mode } from './platform/mode.ts';

/** A text of the shop: the same in every language, or one for each, by its code (`en` when it lacks the page's). */
export type ShopText = string | Readonly<Record<string, string>>;

/** Who the shop is on every page that a shopper sees. */
export type Identity = {
  name: string;
  /** Whom a shopper asks for help. */
  helpEmail: string;
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
  /** A file in it, loaded after the demo shop's style sheet: `:root { --accent: #0a5c36; }` sets a colour. */
  stylesheet?: string;
  /**
   * A sentence of the shop on the page of an order, such as when it will arrive; null: none. Asked whenever
   * the page is shown, with the page's language (`en` or `fr`). When it fails the page is shown without it.
   */
  orderNote?: (order: Order, database: Database, language: string) => Promise<string | null>;
};

/** The shop's identity while `src/custom/identity.ts` does not define one. */
export const DEMO_IDENTITY: Identity = { name: 'Three Markets', helpEmail: 'help@three-markets.example' };

/** Addresses of the shop's own. */
export type ShopRoutes = {
  /** Where they are mounted, after ours: an address that we answer stays ours. */
  prefix: `/${string}`;
  create: (parts: ShopRoutesParts) => Router;
};

export type ShopRoutesParts = {
  database: Database;
  catalogue: Catalogue;
  mode: Mode;
  /** Our own origin as browsers reach it. */
  publicOrigin: () => string;
  logger: Logger;
};

/** What a shop puts in place of what the program comes with; null: the default. */
export type Extensions = {
  catalogue: CreateCatalogue | null;
  receiver: Receiver | null;
  /** Beside {@link receiver}; left out: it is not told of events. */
  onEvent?: EventReceiver | null;
  onAlert: AlertHook | null;
  identity: Identity | null;
  routes: ShopRoutes | null;
  /** The folder of `<name>/migration.sql`, applied after ours in the order of their names; may be absent. */
  migrations: URL | null;
};

/** A shop that has changed nothing. The demo, the rehearsals and the tests run with it. */
export const DEFAULTS: Extensions = {
  catalogue: null,
  receiver: null,
  onAlert: null,
  identity: null,
  routes: null,
  migrations: null,
};
