import type { Alarm } from '../alerts/alert.ts';
import type { Queryable } from '../platform/database/database.ts';
import type { Mode } from '../platform/mode.ts';
import type { ConfirmParts } from './confirm.ts';
import { untoldStops, untoldUnitErrors } from './currency-stops.sql.ts';

/** Alerts to a payment that came in another unit, and to its currency if this payment stopped it. */
export function alertOnUnitError(alarm: Alarm): NonNullable<ConfirmParts['onUnitError']> {
  return ({ mode, orderId, reference, currency }, stopsCurrency) => {
    const about = { mode, orderId, reference, currency };
    void alarm({ event: 'unit-error', ...about }).then(() =>
      stopsCurrency ? alarm({ event: 'currency-stopped', ...about }) : undefined,
    );
  };
}

/**
 * Notes what no process lived to tell, in the transaction `tx`: unit errors, and the currencies that they
 * stopped.
 */
export async function noteUntoldUnitErrors(tx: Queryable, alarm: Alarm, mode: Mode): Promise<void> {
  for (const error of await untoldUnitErrors(tx, mode))
    await alarm({ event: 'unit-error', mode, ...error }, tx);
  for (const stop of await untoldStops(tx, mode))
    await alarm({ event: 'currency-stopped', mode, ...stop }, tx);
}
