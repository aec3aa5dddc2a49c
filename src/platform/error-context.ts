import type { OrderId, Reference } from './ids.ts';
/** The payment and order that something is about, as log lines name them. */
type ErrorContext = { reference?: Reference | undefined; orderId?: OrderId | undefined };

const contexts = new WeakMap<object, ErrorContext>();

/** Attaches to an error what it is about, for the code that logs it far away. @returns the error */
export function withContext(error: unknown, context: ErrorContext): unknown {
  if (error instanceof Error) contexts.set(error, { ...context, ...contexts.get(error) });
  return error;
}

/** What an error is about, as far as that was attached. */
export function contextOf(error: unknown): ErrorContext {
  return error instanceof Error ? (contexts.get(error) ?? {}) : {};
}
