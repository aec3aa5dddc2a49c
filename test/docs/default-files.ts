/**
 * The files that a shop replaces, as the program came: the pages speak of that, whatever stands there by now. Paths in the
 * copy that somebody follows a page in.
 */
export const DEFAULT_FILES: Readonly<Record<string, string>> = {
  'src/custom/catalogue.ts': `import type { CreateCatalogue } from '../orders/catalogue.ts';

export const catalogue: CreateCatalogue | null = null;
`,
  'src/custom/fulfilment.ts': `import type { Receiver } from '../fulfilment/release.ts';

export const receiver: Receiver | null = null;
`,
  'src/custom/alerts.ts': `import type { AlertHook } from '../cases/alert.ts';

export const onAlert: AlertHook | null = null;
`,
  'src/custom/identity.ts': `import type { Identity } from '../extensions.ts';

export const identity: Identity | null = null;
`,
};
