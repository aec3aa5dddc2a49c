import type { Router } from 'express';
import type { AlertCheck, AlertHook } from './alerts/alert.ts';
import type { EventReceiver } from './fulfilment/event.ts';
import type { Receiver } from './fulfilment/release.ts';
import type { Identity } from './identity.ts';
import type { Catalogue, CreateCatalogue } from './orders/catalogue.ts';
import type { Database } from './platform/database/database.ts';
import type { Logger } from './platform/logger.ts';
import type { Mode } from './platform/mode.ts';
import type { Usage } from './platform/usage.ts';

/**
 * Addresses of the shop's own. Nothing has read a body before them: `req.body` is undefined until a route
 * takes `express.json(…)`, or `express.raw(…)` for the bytes as they came, each with a limit of its own. Nor
 * is there a login, CORS or a limit of calls. Headers and body must be here within 20 s, answers get our
 * security headers, and what a handler throws is answered as `application/problem+json`: a `Problem` as it
 * says, a faulty body by 4xx, anything else by 500 and a log line.
 */
export type ShopRoutes = {
  /** Where they are mounted, after ours: an address that we answer stays ours. */
  prefix: `/${string}`;
  create: (parts: ShopParts) => Router;
};

/**
 * A command of the shop's own. `npm run NAME` runs it once `scripts` of package.json has the line of any
 * command of ours with its name in place of ours. It has no options, and a name of ours stays ours.
 */
export type ShopCommand = Pick<Usage, 'does' | 'forms' | 'example'> & {
  /**
   * @param args what was typed after the name
   * @returns what is printed on standard output
   * @throws {UsageError} to print how it is called, and end with 64; anything else ends it with 1
   */
  run: (parts: ShopParts, args: readonly string[]) => Promise<string>;
};

/** What the shop's own routes and commands are given. */
export type ShopParts = {
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
  /** Beside {@link receiver}; left out: it gets no events. */
  onEvent?: EventReceiver | null;
  onAlert: AlertHook | null;
  /** What else raises an alert; left out: nothing. */
  alertChecks?: readonly AlertCheck[];
  identity: Identity | null;
  routes: ShopRoutes | null;
  /** By the name that is typed; left out: none. */
  commands?: Readonly<Record<string, ShopCommand>>;
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
