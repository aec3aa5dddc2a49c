import { z } from 'zod';

import { refusal, type Answer } from './http.ts';

export const ENDPOINTS = ['initialize', 'verify', 'history', 'transfers', 'balances'] as const;

export type Endpoint = (typeof ENDPOINTS)[number];

/**
 * The kinds of faults, and whether the service has done its work when the fault occurs. The work of
 * initialize is to open the transaction.
 */
const APPLIED = {
  'lost-before': false,
  'lost-after': true,
  status: false,
  body: true,
  delay: true,
  hang: true,
  'page-loop': true,
  'cut-list': true,
};

/** At most an hour. */
export const delaySchema = z.number().int().min(0).max(3_600_000);

export const faultSchema = z
  .strictObject({
    endpoint: z.enum([...ENDPOINTS, '*']),
    reference: z.string().optional(),
    kind: z.enum(Object.keys(APPLIED) as (keyof typeof APPLIED)[]),
    /** 0: until the fault is removed. */
    times: z.number().int().min(0).default(1),
    delayMs: delaySchema.default(0),
    status: z.number().int().min(200).max(599).optional(),
    body: z.unknown().optional(),
    contentType: z.string().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    applied: z.boolean().optional(),
    /** The number of rows that `cut-list` leaves. */
    rows: z.number().int().min(0).default(0),
  })
  .transform((given) => ({ ...given, applied: given.applied ?? APPLIED[given.kind], hits: 0 }));

export type Fault = z.infer<typeof faultSchema>;

/** The pending faults by id, oldest first. */
export type Faults = Map<number, Fault>;

/**
 * Uses the oldest fault that matches the call once. Null if there is none, and the answer is
 * honest.
 */
export function takeFault(faults: Faults, endpoint: Endpoint, reference: string | null): Fault | null {
  for (const [id, fault] of faults) {
    if (fault.endpoint !== '*' && fault.endpoint !== endpoint) continue;
    if (fault.reference !== undefined && fault.reference !== reference) continue;
    fault.hits += 1;
    if (fault.hits === fault.times) faults.delete(id);
    return fault;
  }
  return null;
}

/** The answer that replaces the honest one; null for the honest one. */
export function answerOf({ kind, status: given, body, contentType, headers }: Fault): Answer | null {
  if (kind !== 'status' && kind !== 'body') return null;
  const status = given ?? (kind === 'body' ? 200 : 500);
  const usual = kind === 'body' ? '' : refusal(status, `a fault of the sandbox answers ${status}`).body;
  return { status, body: body ?? usual, contentType, headers };
}
