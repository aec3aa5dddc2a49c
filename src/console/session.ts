import { createHmac, randomBytes, scryptSync } from 'node:crypto';
import type { Request, Response } from 'express';
import { isLocal } from '../shop-api/token.ts';
import { BY } from '../commands/registry.ts';
import { OWN_NAMES } from '../platform/ids.ts';
import { ROLES, userOfMachine, type Config, type Operator, type Role } from '../config.ts';
import { isSecret, Secret } from '../platform/secret.ts';
import words from './words.json' with { type: 'json' };

/**
 * Who asks for a page. `formToken`: what a form of this log-in holds, and no other site can know.
 */
export type Who = { name: string; role: Role; formToken: string; session: string | null };

export const SESSION_SEC = 12 * 3_600;

export const may = (who: Who, role: Role): boolean => ROLES.indexOf(who.role) >= ROLES.indexOf(role);

/**
 * Log-ins are signed and not stored: each server accepts those of the others, a restart ends none,
 * and a new token ends all that were made with the old one. The key is stretched, so that a stolen
 * cookie is no way to the token.
 */
function signerOf(token: Secret | null) {
  let key: Buffer | undefined;
  const keyOnce = () => (key ??= token ? scryptSync(token.reveal(), 'console sessions', 32) : randomBytes(32));
  return (text: string): string => createHmac('sha256', keyOnce()).update(text).digest('base64url');
}

/** Without any token the console is for this machine alone, and not in production. */
export function createSessions({ ADMIN_TOKEN, OPERATORS, production }: Config) {
  const admin: Operator[] = ADMIN_TOKEN ? [{ name: '', role: 'operator', token: ADMIN_TOKEN }] : [];
  const known = [...admin, ...OPERATORS].map((one) => ({ ...one, sign: signerOf(one.token) }));
  const signHere = signerOf(null);
  // Of this process: on the others a closed one ends with its cookie, which the browser was told to
  // forget.
  const closed = new Map<string, number>();

  function sessionOf(cookie: string): Who | null {
    const [, session = '', name = '', until = '', signature = ''] =
      /^(([\w-]+)\.[\w-]+\.(\d{10}))\.([\w-]+)$/.exec(cookie) ?? [];
    if (closed.has(session) || Number(until) * 1_000 < Date.now()) return null;
    const owner = known.find(({ sign }) => isSecret(signature, new Secret(sign(`session ${session}`))));
    if (owner === undefined) return null;
    const signed = Buffer.from(name, 'base64url').toString();
    return { name: signed, role: owner.role, session, formToken: owner.sign(`form ${session}`) };
  }

  return {
    hasKeys: known.length > 0,
    /**
     * Whether a name is asked for beside the key, as several people may share that of ADMIN_TOKEN.
     */
    asksName: ADMIN_TOKEN !== null,
    whoIs: (req: Request): Who | null => {
      const session = sessionOf(cookieOf(req, 'admin'));
      if (session !== null || known.length > 0 || production || !isLocal(req)) return session;
      const user = userOfMachine() ?? '';
      const name = BY.safeParse(user).success ? user : 'owner';
      return { name, role: 'operator', session: null, formToken: signHere('form') };
    },
    /** @returns the cookie's value, or a sentence why not */
    open: (key: string, typed: string): { cookie: string; name: string } | { fault: string } => {
      // All are compared: the time tells nothing about the one that nearly fits.
      const [owner] = known.filter(({ token }) => isSecret(key, token));
      if (owner === undefined) return { fault: words.login.unknown };
      const name = owner.name || typed.trim().slice(0, 80);
      if (name === '') return { fault: words.login.unnamed };
      const isTaken = owner.name === '' && OPERATORS.some((one) => one.name.toLowerCase() === name.toLowerCase());
      if (isTaken || OWN_NAMES.includes(name.toLowerCase())) return { fault: words.login.taken };
      const until = Math.floor(Date.now() / 1_000) + SESSION_SEC;
      const session = `${Buffer.from(name).toString('base64url')}.${randomBytes(18).toString('base64url')}.${until}`;
      return { name, cookie: `${session}.${owner.sign(`session ${session}`)}` };
    },
    close: ({ session }: Who): void => {
      for (const [old, until] of closed) if (until < Date.now()) closed.delete(old);
      if (session !== null) closed.set(session, Date.now() + SESSION_SEC * 1_000);
    },
  };
}

/**
 * Browsers take a `__Host-` cookie from this very host alone, over https or on this machine. Empty:
 * there is none.
 */
export function cookieOf(req: Request, name: string): string {
  const pairs = (req.get('cookie') ?? '').split(';').map((pair) => pair.trim());
  const value = pairs.find((pair) => pair.startsWith(`__Host-${name}=`))?.slice(`__Host-${name}=`.length) ?? '';
  try {
    return decodeURIComponent(value);
  } catch {
    return '';
  }
}

/** One that no script reads. @param sec 0: the browser forgets it */
export const setCookie = (res: Response, name: string, value: string, sec: number): Response =>
  res.cookie(`__Host-${name}`, value, { httpOnly: true, secure: true, sameSite: 'strict', maxAge: sec * 1_000 });

/**
 * Whether one of our pages sent this form: by what browsers say, and by what only our pages know.
 */
export const isOurForm = (req: Request, token: string | null, { formToken }: Who): boolean =>
  isFromHere(req) && isSecret(token ?? '', new Secret(formToken));

export function isFromHere(req: Request): boolean {
  const [site, origin] = [req.get('sec-fetch-site'), req.get('origin')];
  if (site !== undefined) return site === 'same-origin';
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === req.get('host'));
}
