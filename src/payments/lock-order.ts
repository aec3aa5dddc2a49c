/**
 * In which order statements lock orders `o` and payments `p`: `ORDER BY` this, then `FOR NO KEY UPDATE OF o, p`, with
 * the order before its payment. Whoever locks several keeps to it: two who meet at the same rows in different order wait
 * for each other until PostgreSQL ends one of them, and who only queues behind them may be the one it ends. References
 * alone are no such order: those of two payments of one order may stand on either side of another order's.
 */
export const LOCK_ORDER = 'p.order_id, p.reference';
