import { pino, type DestinationStream, type Logger } from 'pino';

export type { Logger };

/**
 * JSON lines, on standard output unless that belongs to a command's result; `logOn` makes them readable on a
 * terminal. Messages are lower-case facts, their data is in fields, and the payment reference is in every
 * line about that payment. Bodies, headers and whole e-mail addresses are never logged.
 * @param fieldsOfNow further fields of each line, computed when it is written
 */
export function createLogger(
  level: string,
  destination: DestinationStream = process.stdout,
  fieldsOfNow?: () => object,
): Logger {
  const timestamp = pino.stdTimeFunctions.isoTime;
  const serializers = { err: describeError };
  return pino(
    { level, base: null, timestamp, serializers, ...(fieldsOfNow && { mixin: fieldsOfNow }) },
    destination,
  );
}

type ErrorDescription = {
  type: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: ErrorDescription;
};

/** The parts of an error that may be logged. Libraries attach connections, requests and passwords to it. */
function describeError(error: unknown, depth = 0): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: 'thrown, and no error' };
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return {
    type: name,
    message,
    ...(typeof code === 'string' && { code }),
    ...(stack !== undefined && depth === 0 && { stack }),
    ...(cause !== undefined && depth < 3 && { cause: describeError(cause, depth + 1) }),
  };
}
