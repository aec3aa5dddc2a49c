import { z } from 'zod';

import { ENDPOINTS } from '../calls.ts';
import { AIR_NAMES, DEED_NAMES } from '../faults/deck.ts';
import { MODES } from '../keys.ts';
import { REFUND_SHAPES } from '../ledger/events.ts';
import { STATES } from '../ledger/transaction.ts';
import { PROFILE_NAMES } from '../profiles/all.ts';
import { RATE_FORMS } from '../profiles/shapes/too-many.ts';

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

export const refundSchema = z.strictObject({
  mode: aim.mode,
  /** Decimal text in major units, in the currency that was paid. */
  amount: z.string(),
  shown: z.enum(REFUND_SHAPES).default('row'),
});

export const moveSchema = z.strictObject({ ...aim, to: z.enum(STATES).exclude(['pending', 'paid']) });

export const playSchema = z.strictObject({ ...aim, fault: z.enum(DEED_NAMES) });

export const faultSchema = z.strictObject({
  fault: z.enum(AIR_NAMES),
  /** Without it, wherever the fault can lie. */
  endpoint: z.enum([...ENDPOINTS, 'webhook']).optional(),
  /** Without it, every transaction. */
  reference: z.string().optional(),
  /** How many calls or webhooks it befalls; without it, all until it is taken back. */
  calls: z.int().min(1).optional(),
});

export const profileSchema = z.strictObject({ name: z.enum(PROFILE_NAMES) });

/** Null: as many calls as anybody likes. */
export const limitSchema = z.strictObject({
  callsPerSecond: z.int().min(0).nullable(),
  /** Without it, as the profile does. */
  form: z.enum(RATE_FORMS).optional(),
  /** How long a caller above the limit stays out; without it, until the next second. */
  lockOutSec: z.int().min(1).optional(),
});

const mode = z.enum(MODES).default('test');

export const modeSchema = z.strictObject({ mode });

export const transferSchema = z.strictObject({
  mode,
  /** Decimal text in major units. */
  amount: z.string(),
  currency: z.string(),
  /** The shop's own name for it. */
  reference: z.string().min(1).max(64).optional(),
});

export const keysSchema = z.strictObject({ refuse: z.boolean() });

/** At most a year. */
export const clockSchema = z.strictObject({ forwardSec: z.int().min(1).max(31_536_000) });

/** Null ends the outage. */
export const outageSchema = z.strictObject({ status: z.int().min(400).max(599).nullable() });

/** Null: from now on nobody is told. */
export const webhookSchema = z.strictObject({ url: z.url({ protocol: /^https?$/ }).nullable() });

export const emptySchema = z.strictObject({});
