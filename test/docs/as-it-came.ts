/**
 * The files that a shop replaces, as the program came: the pages speak of that, whatever stands there by now. Paths in the
 * copy that somebody follows a page in.
 */
export const AS_IT_CAME: Readonly<Record<string, string>> = {
  'src/custom/catalogue.ts': `import type { OwnCatalogue } from '../orders/catalogue.ts';

export const ownCatalogue: OwnCatalogue | null = null;
`,
  'src/custom/fulfilment.ts': `import type { Receiver } from '../fulfilment/release.ts';

export const ownReceiver: Receiver | null = null;
`,
  'src/custom/alerts.ts': `import type { OwnAlarm } from '../cases/alert.ts';

export const ownAlarm: OwnAlarm | null = null;
`,
  'src/demo-shop/identity.ts': `export const SHOP = {
  name: 'Three Markets',
  helpEmail: 'help@three-markets.example',
} as const;
`,
};
