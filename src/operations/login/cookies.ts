import type { Request } from 'express';

// The prefix makes browsers take the cookie only from this very host, over https (or on localhost) and for all paths.
export const COOKIES = { session: '__Host-admin', name: '__Host-admin-name' } as const;
type CookieName = (typeof COOKIES)[keyof typeof COOKIES];

/** The value of a cookie; empty when there is none, or none that we wrote. */
export function cookieOf(req: Request, name: CookieName): string {
  const pairs = (req.get('cookie') ?? '').split(';').map((pair) => pair.trim());
  const value = pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
  try {
    return decodeURIComponent(value);
  } catch {
    return '';
  }
}

/** A `Set-Cookie` line. @param maxAgeSec 0 makes the browser forget the cookie */
export function cookieLine(name: CookieName, value: string, maxAgeSec: number): string {
  return `${name}=${encodeURIComponent(value)}; Path=/; Max-Age=${maxAgeSec}; HttpOnly; Secure; SameSite=Strict`;
}
