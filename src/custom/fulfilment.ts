import type { Receiver } from '../fulfilment/deliver.ts';

/**
 * The line to replace when this program itself is to give the value. It gets every message that
 * FULFILMENT_EVENTS names, perhaps more than once, always under the same `id`, and must give the
 * value once. What it throws is kept as the reason, and the message comes again. Where it is null,
 * messages go to FULFILMENT_URL. It is made when `.env` has been read. For example:
 *
 *     export const createReceiver = (): Receiver | null => async ({ id, type, body }, signal) => {
 *       if (type !== 'order.paid') return;
 *       const { status } = await fetch(`https://erp.example/sales/${id}`, { method: 'PUT', body, signal });
 *       if (status > 299) throw new Error(`the ERP answered HTTP ${status}`);
 *     };
 */
export const createReceiver = (): Receiver | null => null;
