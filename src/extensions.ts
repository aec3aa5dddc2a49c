import type { AlertHook } from './cases/alert.ts';
import type { Receiver } from './fulfilment/release.ts';
import type { CreateCatalogue } from './orders/catalogue.ts';

/** What a shop puts in place of what the program comes with; null: the default. */
export type Extensions = {
  catalogue: CreateCatalogue | null;
  receiver: Receiver | null;
  onAlert: AlertHook | null;
};

/** A shop that has changed nothing. The demo, the rehearsals and the tests run with it. */
export const DEFAULTS: Extensions = { catalogue: null, receiver: null, onAlert: null };
