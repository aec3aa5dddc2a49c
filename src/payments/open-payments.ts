import type { PaymentStatus } from './payment.ts';

/** Statuses in which a payment may still bring money. */
export const OPEN_STATUSES: readonly PaymentStatus[] = ['created', 'sending', 'open', 'ambiguous'];
/** More attempts within the hour than a person makes; a program that makes them is stopped here. */
export const MAX_OPEN_PAYMENTS = 5;
/** Hosted checkouts live for some hours at least; a second click within the first hour gets the same page. */
export const RESUME_WITHIN_SEC = 3_600;
