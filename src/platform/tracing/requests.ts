import type { Request, RequestHandler, Response } from 'express';
import { ERROR_TYPE, HTTP_METHOD, HTTP_ROUTE, HTTP_STATUS } from './attributes.ts';
import type { OpenSpan, Tracing } from './tracing.ts';

export type RequestTracing = {
  /** Paths that are asked every few seconds and tell no story. */
  unwatched: readonly string[];
  /** Paths at which a foreign party calls: it does not decide which trace we are in, nor whether it is kept. */
  foreign: readonly string[];
};

/**
 * A span for each request, named by its route as it is written in the source: an address with its ids and its query is
 * never told. To be used before everything else.
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

/** The route as it is written, with where its router is mounted; null when no route took the request. */
function routeOf(req: Request): string | null {
  const path = (req.route as { path?: unknown } | undefined)?.path;
  const written = typeof path === 'string' ? path : path instanceof RegExp ? templateOf(path) : null;
  if (written === null || written.includes('*')) return written;
  // Express forgets the mount when an error leaves its router. It has no parameters, so it is what the address has more.
  const own = segmentsOf(written);
  const asked = segmentsOf(req.originalUrl.split('?')[0] ?? '');
  return `/${[...asked.slice(0, Math.max(asked.length - own.length, 0)), ...own].join('/')}`;
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

/** `/^\/orders\/(?<orderId>[a-z]+)$/` as `/orders/:orderId`. */
function templateOf(pattern: RegExp): string {
  return pattern.source.replace(/\(\?<(\w+)>[^)]*\)/g, ':$1').replace(/[\\^$]/g, '');
}
