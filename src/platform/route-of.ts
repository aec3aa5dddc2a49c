import type { Request } from 'express';

/**
 * The route's pattern with its router's mount path; null when no route took the request. Logs and traces
 * name it instead of the address, into which a stranger may write anything.
 */
export function routeOf(req: Request): string | null {
  const path = (req.route as { path?: unknown } | undefined)?.path;
  const written = typeof path === 'string' ? path : path instanceof RegExp ? templateOf(path) : null;
  if (written === null || written.includes('*')) return written;
  // Express forgets the mount path when an error leaves its router. It has no parameters, so it is the
  // part of the address before the route.
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
