import type { Request } from 'express';
import { cookieIn, cookieLine as lineOf } from '../../platform/cookie.ts';

export const COOKIES = {
  session: '__Host-admin',
  name: '__Host-admin-name',
  acted: '__Host-admin-acted',
} as const;
type CookieName = (typeof COOKIES)[keyof typeof COOKIES];

/** The value of a cookie; empty when there is none, or not one that we wrote. */
export function cookieOf(req: Request, name: CookieName): string {
  return cookieIn(req.get('cookie'), name);
}

/** A `Set-Cookie` line. @param maxAgeSec 0 makes the browser forget the cookie */
export function cookieLine(name: CookieName, value: string, maxAgeSec: number): string {
  return lineOf({ name, value, maxAgeSec, sameSite: 'Strict' });
}
