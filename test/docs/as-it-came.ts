/**
 * The files that a shop replaces, as the program came: the pages speak of that, whatever stands there by now. Paths in the
 * copy that somebody follows a page in.
 */
export const AS_IT_CAME: Readonly<Record<string, string>> = {
  'src/orders/own-catalogue.ts': `import type { OwnCatalogue } from './catalogue.ts';

export const ownCatalogue: OwnCatalogue | null = null;
`,
  'src/fulfilment/own-receiver.ts': `import type { Receiver } from './release.ts';

export const ownReceiver: Receiver | null = null;
`,
  'src/reconciliation/own-alarm.ts': `import type { OwnAlarm } from './alert.ts';

export const ownAlarm: OwnAlarm | null = null;
`,
  'src/shop/identity.ts': `export const SHOP = {
  name: 'Three Markets',
  helpEmail: 'help@three-markets.example',
} as const;
`,
};
