import type { AlertHook } from './cases/alert.ts';
import type { Receiver } from './fulfilment/release.ts';
import type { CreateCatalogue } from './orders/catalogue.ts';

/** Who the shop is on every page that a shopper sees. */
export type Identity = {
  name: string;
  /** Whom a shopper asks for help. */
  helpEmail: string;
  /** Where the name in the header leads. Left out: the demo shop's page, or nowhere while that is off. */
  homeUrl?: string;
  /** A few words beside the name. */
  ribbon?: string;
  /** The line at the foot. */
  footer?: string;
  /** A folder of pictures and style sheets, served under `/shop/own/`. */
  assets?: URL;
  /** A file in it, loaded after the demo shop's style sheet: `:root { --accent: #0a5c36; }` changes a colour. */
  stylesheet?: string;
};

/** What a shop puts in place of what the program comes with; null: the default. */
export type Extensions = {
  catalogue: CreateCatalogue | null;
  receiver: Receiver | null;
  onAlert: AlertHook | null;
  identity: Identity | null;
};

/** A shop that has changed nothing. The demo, the rehearsals and the tests run with it. */
export const DEFAULTS: Extensions = { catalogue: null, receiver: null, onAlert: null, identity: null };
