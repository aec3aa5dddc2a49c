import { createHmac, randomBytes, scryptSync } from 'node:crypto';
import type { Request, Response } from 'express';
import { isLocal } from '../shop-api/token.ts';
import { BY } from '../commands/registry.ts';
import { OWN_NAMES } from '../platform/ids.ts';
import { ROLES, userOfMachine, type Config, type Operator, type Role } from '../config.ts';
import { isSecret, Secret } from '../platform/secret.ts';
import words from './words.json' with { type: 'json' };

/**
 * The person who sent a request. `formToken` is in every form of the log-in, and no other site can
 * know it.
 */
export type Who = { name: string; role: Role; formToken: string; session: string | null };

export const SESSION_SEC = 12 * 3_600;

export const may = (who: Who, role: Role): boolean => ROLES.indexOf(who.role) >= ROLES.indexOf(role);

/**
 * Sessions are signed and not stored. Each server accepts the sessions of the others, a restart
 * ends none, and a new token ends all that were made with the old one. The key is stretched, so
 * that a stolen cookie does not help to guess the token.
 */
function signerOf(token: Secret | null) {
  let key: Buffer | undefined;
  const keyOnce = () => (key ??= token ? scryptSync(token.reveal(), 'console sessions', 32) : randomBytes(32));
  return (text: string): string => createHmac('sha256', keyOnce()).update(text).digest('base64url');
}

/** Whether a typed name belongs to somebody else, or to the program. Case does not matter. */
const isTaken = (name: string, others: readonly Operator[]): boolean =>
  [...OWN_NAMES, ...others.map((one) => one.name.toLowerCase())].includes(name.toLowerCase());

/**
 * Without any token, the console serves only requests from this machine, and none in production.
 */
export function createSessions({ ADMIN_TOKEN, OPERATORS, production }: Config) {
  const admin: Operator[] = ADMIN_TOKEN ? [{ name: '', role: 'operator', token: ADMIN_TOKEN }] : [];
  const known = [...admin, ...OPERATORS].map((one) => ({ ...one, sign: signerOf(one.token) }));
  const signHere = signerOf(null);
  // The sessions that were closed in this process. On other servers such a session ends because the
  // browser deletes its cookie.
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
    /** Whether the log-in asks for a name, because several people may share the ADMIN_TOKEN. */
    asksName: ADMIN_TOKEN !== null,
    whoIs: (req: Request): Who | null => {
      const session = sessionOf(cookieOf(req, 'admin'));
      if (session !== null || known.length > 0 || production || !isLocal(req)) return session;
      const user = userOfMachine() ?? '';
      const name = BY.safeParse(user).success ? user : 'owner';
      return { name, role: 'operator', session: null, formToken: signHere('form') };
    },
    /** @returns the cookie's value, or a sentence that explains the refusal */
    open: (key: string, typed: string): { cookie: string; name: string } | { fault: string } => {
      // Compare all tokens, so that the time reveals nothing about a near match.
      const [owner] = known.filter(({ token }) => isSecret(key, token));
      if (owner === undefined) return { fault: words.login.unknown };
      const name = owner.name || typed.trim().slice(0, 80);
      if (name === '') return { fault: words.login.unnamed };
      if (isTaken(name, owner.name === '' ? OPERATORS : [])) return { fault: words.login.taken };
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
 * Browsers accept a `__Host-` cookie only from this host, over https or on this machine. An empty
 * text means that there is none.
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

/** Sets a cookie that scripts cannot read. @param sec 0: the browser deletes the cookie */
export const setCookie = (res: Response, name: string, value: string, sec: number): Response =>
  res.cookie(`__Host-${name}`, value, { httpOnly: true, secure: true, sameSite: 'strict', maxAge: sec * 1_000 });

/**
 * Whether one of our pages sent this form, by the browser's headers and by a token that only our
 * pages know.
 */
export const isOurForm = (req: Request, token: string | null, { formToken }: Who): boolean =>
  isFromHere(req) && isSecret(token ?? '', new Secret(formToken));

export function isFromHere(req: Request): boolean {
  const [site, origin] = [req.get('sec-fetch-site'), req.get('origin')];
  if (site !== undefined) return site === 'same-origin';
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === req.get('host'));
}
