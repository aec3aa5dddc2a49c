import type { ErrorRequestHandler, Request, RequestHandler } from 'express';
import type { VNode } from 'preact';
import { z } from 'zod';
import type { Logger } from './logger.ts';
import { isDatabaseAway } from './database/database.ts';
import { sendPage } from './html.tsx';
import { PROBLEMS, type ProblemType } from './problem-types.ts';
import { routeOf } from './request.ts';
import type { OrderId, Reference } from './ids.ts';

const fieldError = z.strictObject({
  path: z.string().describe('items.0.sku'),
  message: z.string().describe('What is wrong with that field'),
});
/** A field path (`items.0.sku`) and what is wrong with it. */
type FieldError = z.output<typeof fieldError>;

/** The body of every refusal (RFC 9457). */
export const problemDocument = z.looseObject({
  type: z.string().describe('/problems/…: the page there tells cause and cure'),
  title: z.string(),
  status: z.int(),
  detail: z.string().optional(),
  instance: z.string().describe('The path that was asked for'),
  errors: z.array(fieldError).optional().describe('With 422 each faulty field, with out-of-stock the items'),
  orderId: z.string().optional().describe('The order that was kept'),
});
type ProblemDocument = z.output<typeof problemDocument>;

type ProblemOptions = {
  detail?: string;
  errors?: FieldError[];
  /** Seconds for a `Retry-After` header. */
  retryAfterSec?: number;
  /** Further members of the answer, for example the order that was kept. */
  extra?: Record<string, string>;
  /** What it is about, for the page of a person: a currency, the products that are short. */
  about?: string;
};

/** A problem in words for a person: what it is, and what to mend, one sentence each. */
export type ProblemWording = { title: string; lines: string[] };

/** Thrown by handlers; {@link problemHandler} makes the answer of it. Holds nothing a client may not see. */
export class Problem extends Error {
  readonly type: ProblemType;
  readonly options: ProblemOptions;

  constructor(type: ProblemType, options: ProblemOptions = {}) {
    super(options.detail ?? PROBLEMS[type].title);
    this.name = 'Problem';
    this.type = type;
    this.options = options;
  }

  get status(): number {
    return PROBLEMS[this.type].status;
  }
}

// body-parser's names for what is wrong with a request body.
const BODY_PROBLEMS: Record<string, ProblemType> = {
  'entity.too.large': 'too-large',
  'encoding.unsupported': 'unsupported-media-type',
  'charset.unsupported': 'unsupported-media-type',
  'parameters.too.many': 'too-large',
};

function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isDatabaseAway(error)) return new Problem('database-unavailable', { retryAfterSec: 5 });
  const { type, status } = error as { type?: unknown; status?: unknown };
  if (typeof type === 'string' && type in BODY_PROBLEMS)
    return new Problem(BODY_PROBLEMS[type] ?? 'malformed-request');
  // Express and body-parser mark client errors with a 4xx status. Their messages quote the input: not sent.
  if (typeof status === 'number' && status >= 400 && status < 500) return new Problem('malformed-request');
  return new Problem('internal-error');
}

/**
 * The last handler: every error becomes `application/problem+json`, or a page for a browser that asked
 * for one (it sent a plain HTML form for a person). Unexpected errors are logged, never shown.
 * @param page what a person sees; if left out, the same as a program
 */
export function problemHandler(
  logger: Logger,
  page?: (wording: ProblemWording, problem: Problem, req: Request) => VNode,
): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    const problem = asProblem(error);
    if (problem.status >= 500 && problem !== error)
      logger.error({ err: error, ...contextOf(error), route: routeOf(req) }, 'request failed');
    if (res.headersSent) {
      next(error);
      return;
    }
    const { retryAfterSec } = problem.options;
    if (retryAfterSec !== undefined) res.set('retry-after', String(retryAfterSec));
    if (page && req.accepts(['application/problem+json', 'application/json', 'html']) === 'html') {
      sendPage(res, page(wording(problem), problem, req), problem.status);
      return;
    }
    res
      .status(problem.status)
      .set('cache-control', 'no-store')
      .type('application/problem+json')
      .send(JSON.stringify(document(problem, req.originalUrl.split('?')[0] ?? '')));
  };
}

/** A problem for code that answers without Express: before there are routes, or to unreadable input. */
export function problemText(type: ProblemType, instance: string): { status: number; body: string } {
  const problem = new Problem(type);
  return { status: problem.status, body: JSON.stringify(document(problem, instance)) };
}

function document(problem: Problem, instance: string): ProblemDocument {
  const { detail, errors, extra } = problem.options;
  return {
    type: `/problems/${problem.type}`,
    title: PROBLEMS[problem.type].title,
    status: problem.status,
    ...(detail !== undefined && { detail }),
    instance,
    ...(errors && { errors }),
    ...extra,
  };
}

/** What a person reads in place of the title, which is for programs. */
const FOR_A_PERSON: Partial<Record<ProblemType, ProblemWording>> = {
  'database-unavailable': {
    title: 'We cannot show this right now',
    lines: ['Nothing is lost. If you have paid, do not pay again: load this page again in a minute.'],
  },
};

function wording({ type, options }: Problem): ProblemWording {
  const own = FOR_A_PERSON[type];
  if (own !== undefined) return own;
  const faults = (options.errors ?? []).map(({ path, message }) => `${path}: ${message}`);
  return {
    title: PROBLEMS[type].title,
    lines: [...(options.detail === undefined ? [] : [options.detail]), ...faults],
  };
}

/** After all routes: no route has the address. */
export const notFound: RequestHandler = () => {
  throw new Problem('not-found');
};

/** The payment and order that something is about, as log lines name them. */
type ErrorContext = { reference?: Reference | undefined; orderId?: OrderId | undefined };

const contexts = new WeakMap<object, ErrorContext>();

/** Attaches to an error what it is about, for the code that logs it far away. @returns the error */
export function withContext(error: unknown, context: ErrorContext): unknown {
  if (error instanceof Error) contexts.set(error, { ...context, ...contexts.get(error) });
  return error;
}

/** What an error is about, as far as that was attached. */
function contextOf(error: unknown): ErrorContext {
  return error instanceof Error ? (contexts.get(error) ?? {}) : {};
}

/**
 * What a client sent, as the schema reads it.
 * @throws {Problem} 422 with an entry for every faulty field, and for every unknown one
 */
export function parseInput<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({
          path: [...issue.path, key].join('.'),
          message: 'is not a field of this request',
        }))
      : [{ path: issue.path.join('.'), message: issue.message }],
  );
  throw new Problem('invalid-input', { errors });
}

/** For one field that the schema cannot judge. */
export function invalidField(path: string, message: string): Problem {
  return new Problem('invalid-input', { errors: [{ path, message }] });
}

/** The body that the JSON parser has read. @throws {Problem} 415 when there is none */
export function jsonOf(req: Request, detail = 'Send JSON.'): unknown {
  if (req.body === undefined) throw new Problem('unsupported-media-type', { detail });
  return req.body;
}
