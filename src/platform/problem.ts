import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { z } from 'zod';
import type { Logger } from './logger.ts';

/** Every error that a client can get (RFC 9457). */
export const PROBLEMS = {
  'malformed-request': { status: 400, title: 'The request could not be read' },
  unauthorized: { status: 401, title: 'A valid credential is needed' },
  'bad-signature': { status: 401, title: 'The signature does not match the body' },
  'foreign-origin': { status: 403, title: 'Pages of this origin may not send this request' },
  'role-may-not': { status: 403, title: 'Your role does not allow this action' },
  'not-found': { status: 404, title: 'Nothing was found at this address' },
  'method-not-allowed': { status: 405, title: 'This address does not support the method' },
  'request-timeout': { status: 408, title: 'The request did not arrive in time' },
  'already-paid': { status: 409, title: 'The order is already paid' },
  'under-review': { status: 409, title: 'A payment of this order is under review; do not pay again' },
  'order-cancelled': { status: 409, title: 'The order was cancelled' },
  'order-expired': { status: 409, title: 'The order has expired' },
  'not-paid': { status: 409, title: 'The order is not paid, so it cannot be refunded' },
  'refund-differs': { status: 409, title: 'The externalId belongs to another refund of the order' },
  'refund-too-large': { status: 409, title: 'The refund is larger than the amount that can be refunded' },
  'out-of-stock': { status: 409, title: 'Not enough items are in stock' },
  'request-in-flight': { status: 409, title: 'The same request is being processed; try again in a moment' },
  'external-id-taken': { status: 409, title: 'Another order already has this externalId' },
  'currency-stopped': { status: 409, title: 'New payments in this currency are currently stopped' },
  'too-large': { status: 413, title: 'The body is too large' },
  'unsupported-media-type': { status: 415, title: 'The content type of the body is not supported' },
  'invalid-input': { status: 422, title: 'The input is not valid' },
  'idempotency-key-reused': { status: 422, title: 'This Idempotency-Key was used for another request' },
  'too-many-requests': { status: 429, title: 'Too many requests; try again later' },
  'too-many-open-payments': { status: 429, title: 'This order has too many open payments' },
  'headers-too-large': { status: 431, title: 'The address or the headers are too long' },
  'internal-error': { status: 500, title: 'Something went wrong on our side' },
  'payment-refused': { status: 502, title: 'The payment service refused to open a checkout' },
  'payment-service-unavailable': { status: 503, title: 'The payment service cannot be reached right now' },
  'checkouts-stopped': { status: 503, title: 'New payments are currently stopped' },
  'database-unavailable': { status: 503, title: 'The database cannot be reached right now' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemType = keyof typeof PROBLEMS;

type ProblemOptions = {
  detail?: string;
  /** Field paths (`items.0.sku`) and what is wrong with each field. */
  errors?: { path: string; message: string }[];
  /** Seconds for the `Retry-After` header. */
  retryAfterSec?: number;
  /** Additional members of the answer, for example the id of the order that was kept. */
  extra?: Record<string, string>;
};

/**
 * Handlers throw it, and {@link problemHandler} turns it into the answer. It contains nothing that
 * a client may not see.
 */
export class Problem extends Error {
  readonly type: ProblemType;
  readonly status: number;
  readonly options: ProblemOptions;

  constructor(type: ProblemType, options: ProblemOptions = {}) {
    super(options.detail ?? PROBLEMS[type].title);
    this.name = 'Problem';
    this.type = type;
    this.status = PROBLEMS[type].status;
    this.options = options;
  }
}

// body-parser's names for its errors.
const BODY_PROBLEMS: Record<string, ProblemType> = {
  'entity.too.large': 'too-large',
  'parameters.too.many': 'too-large',
  'encoding.unsupported': 'unsupported-media-type',
  'charset.unsupported': 'unsupported-media-type',
};

/** Converts any error to a problem that a client may see. */
export function asProblem(error: unknown, isDatabaseAway: (error: unknown) => boolean): Problem {
  if (error instanceof Problem) return error;
  const { type, status } = Object(error) as { type?: unknown; status?: unknown };
  const known = typeof type === 'string' ? BODY_PROBLEMS[type] : undefined;
  if (known !== undefined) return new Problem(known);
  // Express and body-parser mark a client's errors with a 4xx status. Their messages quote the
  // input, so they are not sent.
  const isClients = typeof status === 'number' && status >= 400 && status < 500;
  if (isClients) return new Problem('malformed-request');
  // This check is last, because the text of a client's error may also contain a word like
  // "terminated".
  return isDatabaseAway(error)
    ? new Problem('database-unavailable', { retryAfterSec: 5 })
    : new Problem('internal-error');
}

/**
 * The last handler: every error becomes `application/problem+json`. An unexpected error is logged
 * and never shown.
 */
export function problemHandler(logger: Logger, isDatabaseAway: (error: unknown) => boolean): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    const problem = asProblem(error, isDatabaseAway);
    if (problem !== error && problem.status >= 500)
      logger.error({ err: error, requestId: req.id, problem: problem.type }, 'request failed');
    if (res.headersSent) {
      // A partial answer must not look complete.
      res.destroy();
      next();
      return;
    }
    const { retryAfterSec } = problem.options;
    if (retryAfterSec !== undefined) res.set('retry-after', String(retryAfterSec));
    res.status(problem.status).set('cache-control', 'no-store').type('application/problem+json');
    res.send(documentOf(problem, req.originalUrl.split('?')[0] ?? ''));
  };
}

/**
 * The body of a problem, for code that answers without Express: before routing, or for unreadable
 * input.
 */
export function documentOf({ type, status, options: { detail, errors, extra } }: Problem, instance: string): string {
  const { title } = PROBLEMS[type];
  return JSON.stringify({ type: `/problems/${type}`, title, status, detail, instance, errors, ...extra });
}

/** Follows all routes, and answers if no route has the address. */
export const notFound: RequestHandler = () => {
  throw new Problem('not-found');
};

/**
 * Parses a client's input with a schema.
 * @throws {Problem} 422 with an entry for every invalid and every unknown field
 */
export function parseInput<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...issue.path, key].join('.'), message: 'is not a field of this request' }))
      : [{ path: issue.path.join('.'), message: issue.message }],
  );
  throw new Problem('invalid-input', { errors });
}

/** A problem with one field, for a check that the schema cannot make. */
export function invalidField(path: string, message: string): Problem {
  return new Problem('invalid-input', { errors: [{ path, message }] });
}
