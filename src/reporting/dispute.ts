import { foreignText } from '../platform/foreign-text.ts';
import { htmlOf } from '../platform/html.tsx';
import { DisputePage, type Shown } from './dispute-page.tsx';
import type { Dispute } from './dispute.sql.ts';

/** `withCustomer`: whether addresses stand there whole, and what the shopper entered beside them. */
type DisputeForm = { as: 'html' | 'json'; withCustomer: boolean };

/** The pack as one file. Without the customer every e-mail address in it, bodies included, is masked. */
export function disputePack(dispute: Dispute, { as, withCustomer }: DisputeForm): string {
  const shown: Shown = (text) => foreignText(Buffer.isBuffer(text) ? text : Buffer.from(text), withCustomer);
  const details = withCustomer ? dispute.order.details : {};
  const told = { ...dispute, order: { ...dispute.order, details } };
  if (as === 'html') return htmlOf(DisputePage({ dispute: told, shown }));
  const plain = (value: unknown): unknown => {
    if (typeof value === 'string' || Buffer.isBuffer(value)) return shown(value);
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
  };
  return JSON.stringify(plain(told), null, 2);
}
