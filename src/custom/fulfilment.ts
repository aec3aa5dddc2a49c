import type { Receiver } from '../fulfilment/deliver.ts';

/**
 * Replace this if the program itself delivers the goods. `createReceiver` is called once, after
 * `.env` was read. If it returns null, messages go to FULFILMENT_URL. If it returns a function, the
 * function gets every message that FULFILMENT_EVENTS names. The same message may come several
 * times, always with the same `id`: deliver it only once. If the function throws, the error is
 * stored as the reason, and the message is sent again. For example:
 *
 *     export const createReceiver = (): Receiver | null => async ({ id, type, body }, signal) => {
 *       if (type !== 'order.paid') return;
 *       const { status } = await fetch(`https://erp.example/sales/${id}`, { method: 'PUT', body, signal });
 *       if (status > 299) throw new Error(`the ERP answered HTTP ${status}`);
 *     };
 */
export const createReceiver = (): Receiver | null => null;
