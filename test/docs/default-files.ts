import { readFileSync } from 'node:fs';

/**
 * The folder that a shop edits, as the program came: the pages speak of that, whatever stands there by now. Paths in the
 * copy that somebody follows a page in.
 */
export const DEFAULT_FILES: Readonly<Record<string, string>> = {
  'src/custom/index.ts': `import type { Extensions } from '../extensions.ts';
import { alertChecks, onAlert } from './alerts.ts';
import { catalogue } from './catalogue.ts';
import { commands } from './commands.ts';
import { receiver } from './fulfilment.ts';
import { identity } from './identity.ts';
import { routes } from './routes.ts';

export const EXTENSIONS: Extensions = {
  catalogue,
  receiver,
  onAlert,
  alertChecks,
  identity,
  routes,
  commands,
  migrations: new URL('./migrations/', import.meta.url),
};
`,
  'src/custom/catalogue.ts': `import type { CreateCatalogue } from '../orders/catalogue.ts';

export const catalogue: CreateCatalogue | null = null;
`,
  'src/custom/fulfilment.ts': `import type { Receiver } from '../fulfilment/release.ts';

export const receiver: Receiver | null = null;
`,
  // An example that is there to be changed: as it stands.
  'src/custom/receipt.ts': readFileSync(new URL('../../src/custom/receipt.ts', import.meta.url), 'utf8'),
  'src/custom/alerts.ts': `import type { AlertCheck, AlertHook } from '../alerts/alert.ts';

export const onAlert: AlertHook | null = null;
export const alertChecks: readonly AlertCheck[] = [];
`,
  'src/custom/commands.ts': `import type { ShopCommand } from '../extensions.ts';

export const commands: Readonly<Record<string, ShopCommand>> = {};
`,
  'src/custom/routes.ts': `import type { ShopRoutes } from '../extensions.ts';

export const routes: ShopRoutes | null = null;
`,
  'src/custom/identity.ts': `import type { Identity } from '../identity.ts';

export const identity: Identity | null = null;
`,
};
