import type { WebhookSilence } from '../../reporting/shop-state.sql.ts';

/** A quarter of an hour in which nobody pays is an ordinary quarter of an hour. */
const SILENT_SEC = 900;
/** One or two orders may have been found by a shopper who was faster than the service. */
const PAID_MEANWHILE = 3;

/** Whether the service should have called: orders were paid, and no webhook came. */
export function isSilenceOdd({ silentSec, paidMeanwhile }: WebhookSilence): boolean {
  return (silentSec === null || silentSec >= SILENT_SEC) && paidMeanwhile >= PAID_MEANWHILE;
}
