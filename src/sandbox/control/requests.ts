import { z } from 'zod';

/* What the control routes take. Strict: a misspelt field in a test must not pass unnoticed. */

const aim = {
  /** Without it, the mode that knows the reference, test first. */
  mode: z.enum(['test', 'live']).optional(),
  /** False: the webhook is lost. */
  notify: z.boolean().default(true),
};

export const decisionSchema = z.strictObject(aim);

export const paymentSchema = z.strictObject({
  ...aim,
  /** Decimal text in major units; without it, what was asked for. */
  amount: z.string().optional(),
  /** Without it, the currency asked for. */
  currency: z.string().optional(),
});

export const keysSchema = z.strictObject({ refuse: z.boolean() });

/** Null ends the outage. */
export const outageSchema = z.strictObject({ status: z.int().min(400).max(599).nullable() });

/** Null: from now on nobody is told. */
export const webhookSchema = z.strictObject({ url: z.url({ protocol: /^https?$/ }).nullable() });

export const emptySchema = z.strictObject({});
