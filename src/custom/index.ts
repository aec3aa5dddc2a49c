import type { Extensions } from '../extensions.ts';
import { alertChecks, onAlert } from './alerts.ts';
import { catalogue } from './catalogue.ts';
import { commands } from './commands.ts';
import { onEvent } from './events.ts';
import { receiver } from './fulfilment.ts';
import { identity } from './identity.ts';
import { routes } from './routes.ts';

/**
 * The extensions of this shop. The server, the worker and the commands run with them; the demo, the
 * rehearsals and the tests run without, so they go on trying the program whatever is sold here, and no
 * receiver hears of what they do.
 */
export const EXTENSIONS: Extensions = {
  catalogue,
  receiver,
  onEvent,
  onAlert,
  alertChecks,
  identity,
  routes,
  commands,
  migrations: new URL('./migrations/', import.meta.url),
};
