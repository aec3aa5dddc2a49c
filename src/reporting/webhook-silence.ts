import type { WebhookSilence } from './shop-state.sql.ts';

/** A quarter of an hour without webhooks is usual when no shopper pays. */
const SILENT_SEC = 900;
/** One or two orders may have been confirmed because the shopper came back before the webhook arrived. */
const PAID_MEANWHILE = 3;

/** Whether webhooks are missing: orders were paid, and none came. */
export function isWebhookSilenceSuspicious({ silentSec, paidMeanwhile }: WebhookSilence): boolean {
  return (silentSec === null || silentSec >= SILENT_SEC) && paidMeanwhile >= PAID_MEANWHILE;
}
