import type { Alarm } from '../cases/alert.ts';
import type { ConfirmParts } from './confirm.ts';

/** Alerts to a payment that came in another unit, and to its currency if this payment stopped it. */
export function alertOnUnitError(alarm: Alarm): NonNullable<ConfirmParts['onUnitError']> {
  return ({ mode, orderId, reference, currency }, stopsCurrency) => {
    const about = { mode, orderId, reference, currency };
    void alarm({ event: 'unit-error', ...about }).then(() =>
      stopsCurrency ? alarm({ event: 'currency-stopped', ...about }) : undefined,
    );
  };
}
