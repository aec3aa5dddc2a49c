import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { z } from 'zod';
import type { Logger } from './logger.ts';

/** Every refusal (RFC 9457). */
export const PROBLEMS = {
  'malformed-request': { status: 400, title: 'The request could not be read' },
  unauthorized: { status: 401, title: 'A valid credential is needed' },
  'bad-signature': { status: 401, title: 'The signature does not match the body' },
  'foreign-origin': { status: 403, title: 'Pages of that site may not do this' },
  'role-may-not': { status: 403, title: 'Your role may not do this' },
  'not-found': { status: 404, title: 'There is nothing here' },
  'method-not-allowed': { status: 405, title: 'This address does not take that method' },
  'request-timeout': { status: 408, title: 'The request did not arrive in time' },
  'already-paid': { status: 409, title: 'The order is paid already' },
  'under-review': { status: 409, title: 'A payment of this order is being looked at, do not pay again' },
  'order-cancelled': { status: 409, title: 'The order was cancelled' },
  'order-expired': { status: 409, title: 'The time to pay the order is over' },
  'not-paid': { status: 409, title: 'The order is not paid, so nothing of it can go back' },
  'refund-differs': { status: 409, title: 'This number stands for another refund of the order' },
  'refund-too-large': { status: 409, title: 'More would go back than the order has earned' },
  'out-of-stock': { status: 409, title: 'There is not enough of it left' },
  'request-in-flight': { status: 409, title: 'The same request is being worked on, try again in a moment' },
  'external-id-taken': { status: 409, title: 'Another order with this externalId exists already' },
  'currency-stopped': { status: 409, title: 'New payments in this currency are stopped for the time being' },
  'too-large': { status: 413, title: 'The body is too large' },
  'unsupported-media-type': { status: 415, title: 'This kind of body is not understood here' },
  'invalid-input': { status: 422, title: 'The input is not valid' },
  'idempotency-key-reused': { status: 422, title: 'This Idempotency-Key was used for another request' },
  'too-many-requests': { status: 429, title: 'Too many requests, try again later' },
  'too-many-open-payments': { status: 429, title: 'This order has too many open payments' },
  'headers-too-large': { status: 431, title: 'The address or the headers are too long' },
  'internal-error': { status: 500, title: 'Something went wrong on our side' },
  'payment-refused': { status: 502, title: 'The payment service refused to open a checkout' },
  'payment-service-unavailable': { status: 503, title: 'The payment service cannot be reached right now' },
  'checkouts-stopped': { status: 503, title: 'No new payment begins for the time being' },
  'database-unavailable': { status: 503, title: 'The database cannot be reached right now' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemType = keyof typeof PROBLEMS;

type ProblemOptions = {
  detail?: string;
  /** Field paths (`items.0.sku`), and what is wrong there. */
  errors?: { path: string; message: string }[];
  /** Seconds for a `Retry-After` header. */
  retryAfterSec?: number;
  /** Further members of the answer, for example the order that was kept. */
  extra?: Record<string, string>;
};

/**
 * Thrown by handlers; {@link problemHandler} makes the answer of it. Holds nothing that a client
 * may not see.
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

// body-parser's names for what is wrong with a body.
const BODY_PROBLEMS: Record<string, ProblemType> = {
  'entity.too.large': 'too-large',
  'parameters.too.many': 'too-large',
  'encoding.unsupported': 'unsupported-media-type',
  'charset.unsupported': 'unsupported-media-type',
};

/** Any error as the refusal that a client may see. */
export function asProblem(error: unknown, isDatabaseAway: (error: unknown) => boolean): Problem {
  if (error instanceof Problem) return error;
  const { type, status } = Object(error) as { type?: unknown; status?: unknown };
  const known = typeof type === 'string' ? BODY_PROBLEMS[type] : undefined;
  if (known !== undefined) return new Problem(known);
  // Express and body-parser mark a client's errors with a 4xx status. Their messages quote the
  // input: not sent.
  const isClients = typeof status === 'number' && status >= 400 && status < 500;
  if (isClients) return new Problem('malformed-request');
  // Last: a client's error may speak of something that was terminated, too.
  return isDatabaseAway(error)
    ? new Problem('database-unavailable', { retryAfterSec: 5 })
    : new Problem('internal-error');
}

/**
 * The last handler: every error becomes `application/problem+json`. What was not foreseen is
 * logged, never shown.
 */
export function problemHandler(logger: Logger, isDatabaseAway: (error: unknown) => boolean): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    const problem = asProblem(error, isDatabaseAway);
    if (problem !== error && problem.status >= 500)
      logger.error({ err: error, requestId: req.id, problem: problem.type }, 'request failed');
    if (res.headersSent) {
      // Half an answer must not look like a whole one.
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
 * The body of a refusal, for code that answers without Express: before there are routes, or to
 * unreadable input.
 */
export function documentOf({ type, status, options: { detail, errors, extra } }: Problem, instance: string): string {
  const { title } = PROBLEMS[type];
  return JSON.stringify({ type: `/problems/${type}`, title, status, detail, instance, errors, ...extra });
}

/** After all routes: no route has the address. */
export const notFound: RequestHandler = () => {
  throw new Problem('not-found');
};

/**
 * What a client sent, as the schema reads it.
 * @throws {Problem} 422 with an entry for every faulty field, and for every unknown one
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

/** For one field that the schema cannot judge. */
export function invalidField(path: string, message: string): Problem {
  return new Problem('invalid-input', { errors: [{ path, message }] });
}
