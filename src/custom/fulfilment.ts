import type { Receiver } from '../fulfilment/deliver.ts';

/**
 * Replace this line if this program itself delivers the goods. The function receives every message
 * that FULFILMENT_EVENTS names, possibly several times but always with the same `id`, and must
 * deliver only once. If it throws, the error is stored as the reason, and the message is sent again.
 * If it is null, messages go to FULFILMENT_URL. It is created after `.env` was read. For example:
 *
 *     export const createReceiver = (): Receiver | null => async ({ id, type, body }, signal) => {
 *       if (type !== 'order.paid') return;
 *       const { status } = await fetch(`https://erp.example/sales/${id}`, { method: 'PUT', body, signal });
 *       if (status > 299) throw new Error(`the ERP answered HTTP ${status}`);
 *     };
 */
export const createReceiver = (): Receiver | null => null;
