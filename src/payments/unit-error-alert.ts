import type { Alarm } from '../cases/alert.ts';
import type { Queryable } from '../platform/database/database.ts';
import { stoppedCurrencies } from './currency-stops.sql.ts';
import type { Payment } from './payment.ts';

/** Alerts to a payment that came in another unit, and to its currency if this payment stopped it. */
export async function alertOnUnitError(db: Queryable, alarm: Alarm, payment: Payment): Promise<void> {
  const { mode, orderId, reference, currency } = payment;
  await alarm({ event: 'unit-error', mode, orderId, reference, currency });
  // The stop is committed. If the database cannot be asked now, the log and the admin pages still show it.
  const stops = await stoppedCurrencies(db, mode).catch(() => []);
  if (stops.some((stop) => stop.reference === reference))
    await alarm({ event: 'currency-stopped', mode, orderId, reference, currency });
}
