import type { Receiver } from '../../fulfilment/release.ts';
import { ATTEMPT, CAUSE, ORDER_ID, OUTCOME, REFERENCE, RELEASE } from '../../platform/tracing/attributes.ts';
import type { Tracing } from '../../platform/tracing/tracing.ts';
import type { Reconcile } from '../../reconciliation/reconcile.ts';
import type { Confirm } from '../../payments/confirm.ts';
import { failureOf } from '../metrics/meters.ts';
import type { Hints } from './trace-entry-points.ts';

/**
 * A span around confirmation, whichever entry point asked for it. The webhook that caused it is linked,
 * because it was a request of its own.
 */
export function traceConfirm(confirm: Confirm, hints: Hints, tracing: Tracing): Confirm {
  return (payment, cause, urgency) => {
    const { reference, orderId } = payment;
    const attributes = { [REFERENCE]: reference, [ORDER_ID]: orderId, [CAUSE]: cause, ...attemptOf(payment) };
    return tracing.span({ name: 'confirm', attributes, links: hints.take(reference) }, async (span) => {
      try {
        const confirmed = await confirm(payment, cause, urgency);
        span.note({
          [OUTCOME]: confirmed.outcome,
          'integrator.payment': confirmed.status,
          'integrator.released': confirmed.released,
        });
        return confirmed;
      } catch (error) {
        span.note({ [OUTCOME]: failureOf(error) });
        throw error;
      }
    });
  };
}

export function traceReceiver(receive: Receiver, tracing: Tracing): Receiver {
  return (release, context) => {
    const { id, reference, orderId } = release;
    const attributes = { [RELEASE]: id, [REFERENCE]: reference, [ORDER_ID]: orderId, ...attemptOf(release) };
    return tracing.span({ name: 'deliver release', kind: 'client', attributes }, () =>
      receive(release, context),
    );
  };
}

/** Rows that a poller takes repeatedly have a count of attempts. */
function attemptOf(row: object): { [ATTEMPT]?: number } {
  const { checks, attempts } = row as { checks?: unknown; attempts?: unknown };
  const attempt = checks ?? attempts;
  return typeof attempt === 'number' ? { [ATTEMPT]: attempt } : {};
}

export function traceReconcile(reconcile: Reconcile, tracing: Tracing): Reconcile {
  return (options) =>
    tracing.span({ name: 'reconcile', attributes: { 'integrator.dry': options.dryRun } }, async (span) => {
      const report = await reconcile(options);
      span.note({
        [OUTCOME]: report.verdict,
        'integrator.run': report.runId,
        'integrator.records': report.history.records,
        'integrator.verified': report.verified,
        'integrator.findings': report.items.length,
      });
      return report;
    });
}
