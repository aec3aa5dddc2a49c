import type { Receiver } from '../fulfilment/deliver.ts';

/**
 * The line to replace when this program itself is to give the value, for example
 * `export const receiver: Receiver | null = ({ id, body }) => warehouse.shipOnce(id, JSON.parse(body));`
 * It gets every message that FULFILMENT_EVENTS names, perhaps more than once, always under the same `id`, and must give
 * the value once. While it is null, messages go to FULFILMENT_URL.
 */
export const receiver: Receiver | null = null;
