import { createHmac, randomBytes, scryptSync } from 'node:crypto';
import { isSecret } from '../../platform/bearer.ts';
import type { Clock } from '../../platform/clock.ts';
import { Secret } from '../../platform/secret.ts';

/** Logins of people: each has an id of its own, ends by itself, and can be ended. */
export type Sessions = {
  /** A new session as the value of its cookie. */
  open(): string;
  /** @returns the session's id, or null when it was never opened, has ended, or was changed */
  idOf(cookie: string): string | null;
  close(id: string): void;
  /** What a form of that session carries: another site can make a browser post, and cannot know this. */
  formTokenOf(id: string): string;
};

export const SESSION_SEC = 12 * 3_600;

/**
 * Of one operator. Signed, not stored. The key comes from the operator's token, so that every node takes the login of
 * another one, a restart logs nobody out, and a new token logs that operator out everywhere. It is stretched: a stolen
 * cookie must not give the token away.
 */
export function createSessions(token: Secret | null, clock: Clock): Sessions {
  // Stretching takes some 50 ms, so nobody waits for it before a first login.
  let key: Buffer | undefined;
  const keyOnce = (): Buffer =>
    (key ??=
      token === null ? randomBytes(32) : scryptSync(token.reveal(), 'payment-integrator/admin-session', 32));
  const sign = (text: string): string => createHmac('sha256', keyOnce()).update(text).digest('base64url');
  // Of this process: elsewhere a closed session ends with its cookie, which the browser has been told to forget.
  const closed = new Map<string, number>();
  const nowSec = (): number => Math.floor(clock.now().getTime() / 1_000);

  return {
    open: () => {
      const id = `${randomBytes(18).toString('base64url')}.${nowSec() + SESSION_SEC}`;
      return `${id}.${sign(`session ${id}`)}`;
    },
    idOf: (cookie) => {
      const [, id = '', until = '', signature = ''] = /^([\w-]+\.(\d{1,12}))\.([\w-]+)$/.exec(cookie) ?? [];
      if (signature === '' || !isSecret(signature, new Secret(sign(`session ${id}`)))) return null;
      return Number(until) > nowSec() && !closed.has(id) ? id : null;
    },
    close: (id) => {
      for (const [old, until] of closed) if (until < nowSec()) closed.delete(old);
      closed.set(id, nowSec() + SESSION_SEC);
    },
    formTokenOf: (id) => sign(`form ${id}`),
  };
}
