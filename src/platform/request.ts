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

/** Headers that proxies and tunnels of any kind add to a request that they pass on. */
const PASSED_ON =
  /^(forwarded|via|cdn-loop|x-(forwarded|real|original|client|cluster|proxy|envoy|amzn|azure|appengine).*|.*-(client|connecting)-ip)$/;

/**
 * Whether the client is on this machine. The address alone does not prove it: a local proxy or tunnel calls
 * from here for the whole world, and a stranger's page may point its name here. They show in a forwarder's
 * headers, in the host that was asked for, or in HTTP/1.0, which nginx speaks to its upstreams.
 */
export function isLocalRequest(req: Request): boolean {
  const isNear = ['127.0.0.1', '::1', '::ffff:127.0.0.1'].includes(req.socket.remoteAddress ?? '');
  const isOwnName = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(req.get('host') ?? '');
  const isDirect =
    req.httpVersion !== '1.0' && !Object.keys(req.headers).some((name) => PASSED_ON.test(name));
  return isNear && isOwnName && isDirect;
}

/** The token of an `Authorization: Bearer …` header, or null. */
export function bearerToken(header: string | undefined): string | null {
  return /^Bearer +(\S+)$/i.exec(header ?? '')?.[1] ?? null;
}

/** The value of a cookie in a `Cookie` header; empty when there is none, or it cannot be decoded. */
export function cookieIn(header: string | undefined, name: string): string {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim());
  const value = pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
  try {
    return decodeURIComponent(value);
  } catch {
    return '';
  }
}

type CookieLine = {
  /** Browsers take a `__Host-` cookie only from this very host, over https (or localhost), for all paths. */
  name: `__Host-${string}`;
  value: string;
  /** 0 makes the browser delete it. */
  maxAgeSec: number;
  /** Lax: it is also sent when a link on another site leads here. */
  sameSite: 'Strict' | 'Lax';
};

/** A `Set-Cookie` line that no script can read. */
export function cookieLine({ name, value, maxAgeSec, sameSite }: CookieLine): string {
  return `${name}=${encodeURIComponent(value)}; Path=/; Max-Age=${maxAgeSec}; HttpOnly; Secure; SameSite=${sameSite}`;
}
