import type { Request, RequestHandler, Response } from 'express';
import { routeOf } from '../route-of.ts';
import { ERROR_TYPE, HTTP_METHOD, HTTP_ROUTE, HTTP_STATUS, type OpenSpan, type Tracing } from './tracing.ts';

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
