/**
 * The order in which statements lock orders `o` and payments `p`: `ORDER BY` this, then `FOR NO KEY UPDATE OF
 * o, p`, with the order row before its payment, or `OF p` where the order stays as it is. Every statement
 * that locks several rows must use it; `cases/suspend-found-money.sql.ts`, a folder below this one, repeats
 * it. Two transactions that lock the same rows in different orders deadlock, PostgreSQL ends one, and that
 * may be a third one which only queues behind them. References alone would not do: those of two payments of
 * one order may sort on either side of another order's.
 */
export const LOCK_ORDER = 'p.order_id, p.reference';
