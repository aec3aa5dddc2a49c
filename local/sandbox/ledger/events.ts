import { z } from 'zod';

/**
 * How the service shows that a part went back. `row`: a history row of its own with the word for reversed; `negative
 * row`: one that is paid and below zero; `field`: `refundedAmount` beside the status (the plain profile only).
 */
export const REFUND_SHAPES = ['row', 'negative row', 'field'] as const;

const mode = z.enum(['test', 'live']);
const head = { at: z.string(), mode, reference: z.string() };

/** Null: nobody is told (the webhook is lost, or no address is set). */
const webhookId = z.string().nullable();

/** Who decided: the shopper on the checkout page, or a test over the control routes. */
const by = z.enum(['checkout', 'control']);

/**
 * What happened, one line of the log each. Amounts are exact decimal texts in major units. A change and
 * the webhook it owes are one line, so that no crash can keep one and lose the other.
 */
export const ledgerEventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('initialized'),
    ...head,
    id: z.string(),
    token: z.string(),
    email: z.string(),
    amount: z.string(),
    currency: z.string(),
    redirectUrl: z.string(),
  }),
  z.object({ type: z.literal('paid'), ...head, amount: z.string(), currency: z.string(), by, webhookId }),
  z.object({
    type: z.enum(['in-review', 'abandoned', 'failed', 'cancelled', 'expired', 'reversed']),
    ...head,
    by,
    webhookId,
  }),
  /** A part of the money went back; the transaction stays paid, and no webhook tells of it. */
  z.object({
    type: z.literal('refunded'),
    ...head,
    id: z.string(),
    amount: z.string(),
    currency: z.string(),
    by,
    shown: z.enum(REFUND_SHAPES),
  }),
  z.object({ type: z.literal('webhook-ended'), webhookId: z.string(), delivered: z.boolean() }),
  /** Everything collected so far may be paid out. */
  z.object({ type: z.literal('made-available'), at: z.string(), mode }),
  /** Money left the shop's balance. */
  z.object({
    type: z.literal('transferred'),
    at: z.string(),
    mode,
    id: z.string(),
    reference: z.string(),
    amount: z.string(),
    currency: z.string(),
  }),
  z.object({ type: z.literal('reset') }),
]);

export type LedgerEvent = z.infer<typeof ledgerEventSchema>;
export type RefundShape = (typeof REFUND_SHAPES)[number];
export type Hand = z.infer<typeof by>;
