import type { Attributes as OtelAttributes, SpanContext } from '@opentelemetry/api';
import type { Request, RequestHandler, Response } from 'express';
import type { IncomingHttpHeaders } from 'node:http';
import { routeOf } from '../request.ts';

/** The identity of a span, which a later one may name as its parent or link to. */
export type Place = SpanContext;

/**
 * The attributes of a span: references, ids, counts and words of ours. Never a key, an e-mail address, a
 * parameter of a statement, or anything out of a body.
 */
export type Attributes = OtelAttributes;

export type SpanStart = {
  name: string;
  /** `server`: it serves a request; `client`: it waits for the answer of another system. */
  kind?: 'server' | 'client';
  attributes?: Attributes;
  /** By default the caller's current span; null: a trace of its own. */
  parent?: Place | null;
  links?: readonly Place[];
  /** When it began, if that is in the past. */
  startedAt?: Date;
};

export type OpenSpan = {
  place: Place;
  rename(name: string): void;
  note(attributes: Attributes): void;
  /** @param type a class or a code: an error's message may quote confidential data */
  fail(type: string): void;
  end(): void;
};

/**
 * Manual spans, at entry points and bottlenecks. Where tracing is off, this object does not exist and
 * nothing is wrapped.
 */
export type Tracing = {
  /** Runs `work` inside a span that ends with it. An error marks the span as failed, and is rethrown. */
  span<T>(start: SpanStart, work: (span: OpenSpan) => Promise<T>): Promise<T>;
  /** A span that is not made the current one; the caller ends it. */
  open(start: SpanStart): OpenSpan;
  /** The current span. */
  here(): Place | null;
  /** Adds to the current span, if there is one. */
  note(attributes: Attributes): void;
  /** The span that a caller's headers name; null when they name none, or are not to be trusted. */
  parentIn(headers: IncomingHttpHeaders): Place | null;
  /** Headers that pass the current span on to a callee. */
  headers(): Record<string, string>;
  /** `trace_id` and `span_id` for a log line. */
  logFields(): object;
  /** Sends the remaining spans, for two seconds at most. */
  close(): Promise<void>;
};

/** Called once when spans cannot be delivered, and once when they can again: `reason` null. */
export type DeliveryReport = (reason: string | null) => void;

// Names of OpenTelemetry's semantic conventions.
export const HTTP_METHOD = 'http.request.method';
export const HTTP_ROUTE = 'http.route';
export const HTTP_STATUS = 'http.response.status_code';
export const DB_SYSTEM = 'db.system.name';
export const DB_STATEMENT = 'db.query.summary';
export const DB_OPERATION = 'db.operation.name';
export const ERROR_TYPE = 'error.type';

// Our own, named with the words of the glossary.
export const REFERENCE = 'integrator.reference';
export const ORDER_ID = 'integrator.order_id';
export const RELEASE = 'integrator.release';
export const EVENT = 'integrator.event';
export const CAUSE = 'integrator.cause';
export const OUTCOME = 'integrator.outcome';
export const ATTEMPT = 'integrator.attempt';
export const ROWS = 'integrator.rows';

type RequestTracing = {
  /** Paths that are requested every few seconds and not traced. */
  unwatched: readonly string[];
  /** Paths that a foreign party calls: it decides neither which trace we are in nor whether that is kept. */
  foreign: readonly string[];
};

/**
 * A span for each request, named by its route's pattern: an address with its ids and query is never
 * recorded. Must come before all other handlers.
 */
export function traceRequests(tracing: Tracing, { unwatched, foreign }: RequestTracing): RequestHandler {
  return (req, res, next) => {
    if (unwatched.includes(req.path)) {
      next();
      return;
    }
    const { method } = req;
    const parent = foreign.includes(req.path) ? null : tracing.parentIn(req.headers);
    void tracing.span(
      { name: method, kind: 'server', parent, attributes: { [HTTP_METHOD]: method } },
      (span) =>
        new Promise<void>((resolve) => {
          res.once('close', () => {
            conclude(span, req, res);
            resolve();
          });
          next();
        }),
    );
  };
}

function conclude(span: OpenSpan, req: Request, res: Response): void {
  const route = routeOf(req);
  if (route !== null) {
    span.rename(`${req.method} ${route}`);
    span.note({ [HTTP_ROUTE]: route });
  }
  if (!res.headersSent) {
    span.note({ [ERROR_TYPE]: 'caller-gave-up' });
    return;
  }
  span.note({ [HTTP_STATUS]: res.statusCode });
  if (res.statusCode >= 500) span.fail(String(res.statusCode));
}
