import { LOCK_ORDER } from '../../src/payments/lock-order.ts';

/**
 * Everything that waits for a time waits `$1` seconds less: the clock of the database cannot be moved. Orders
 * and payments are locked in the order that the program keeps to, or one of the two would be ended as a
 * deadlock.
 * @param of `$2` is the order whose payments are meant; else all
 */
export const passTimeSql = (of: 'all' | 'order'): string => `
  WITH held AS (
    SELECT p.reference FROM orders o JOIN payments p ON p.order_id = o.id ${of === 'order' ? 'WHERE o.id = $2' : ''}
    ORDER BY ${LOCK_ORDER} FOR NO KEY UPDATE OF o, p
  ), gone AS (
    SELECT make_interval(secs => $1) AS by
  )${of === 'order' ? '' : OTHERS}
  UPDATE payments p SET created_at = created_at - by, next_check_at = next_check_at - by,
    leased_until = leased_until - by, silent_until = silent_until - by, last_hinted_at = last_hinted_at - by
  FROM gone, held WHERE p.reference = held.reference`;

const OTHERS = `, r AS (
    UPDATE releases SET next_check_at = next_check_at - by, leased_until = leased_until - by FROM gone
      WHERE next_check_at IS NOT NULL
  ), e AS (
    UPDATE events SET next_check_at = next_check_at - by, leased_until = leased_until - by FROM gone
      WHERE next_check_at IS NOT NULL
  ), k AS (
    UPDATE idempotency_keys SET locked_until = locked_until - by FROM gone
  )`;
