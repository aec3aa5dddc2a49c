import type { WebhookFault } from './fault.ts';

/** How long a late one is on its way, in milliseconds: the shopper is back long before. */
const LATE_MS = 4_000;

/** What may befall the message that tells a change. Nobody may rely on it, so most of these end as if nothing were wrong. */
export const WEBHOOK_FAULTS = {
  'webhook-lost': {
    title: 'The webhook is lost',
    happens: 'The payment stands and nobody is told.',
    ends: 'The clock finds it: the order is paid and released once.',
    fate: { isLost: true },
  },
  'webhook-doubled': {
    title: 'The webhook comes twice',
    happens: 'The same bytes arrive two times, the second while the first is being worked on.',
    ends: 'The order is paid and released once.',
    fate: { copies: 2 },
  },
  'webhook-late': {
    title: 'The webhook is late',
    happens: 'It arrives seconds after the shopper has come back.',
    ends: 'The return has found the payment: the order is paid and released once, and the late one changes nothing.',
    fate: { delayMs: LATE_MS },
  },
  'webhook-reordered': {
    title: 'Webhooks come in the wrong order',
    happens: 'The first change is told behind the second: "failed" arrives after "paid".',
    ends: 'The order is paid and released once; the old news does not undo it.',
    fate: { isOvertaken: true },
  },
  'webhook-badly-signed': {
    title: 'The webhook is badly signed',
    happens: 'The right message carries a signature that does not fit, at every attempt.',
    ends: 'It is refused, and the clock finds the payment: the order is paid and released once.',
    fate: { isBadlySigned: true },
  },
} as const satisfies Record<string, WebhookFault>;
