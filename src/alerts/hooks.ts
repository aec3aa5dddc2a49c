import { createHash } from 'node:crypto';
import { createTransport } from 'nodemailer';
import type { Clock } from '../platform/clock.ts';
import type { Secret } from '../platform/secret.ts';
import { createSignedPost } from '../platform/signed-post.ts';
import type { Alert, AlertHook, Told } from './alert.ts';

/** A day: then an alert of a state that goes on is sent again, also to hooks that have taken it. */
const FORGET_MS = 24 * 3_600_000;

/**
 * Several hooks as one: each gets each alert at least once. It fails while one of them fails, so the alert
 * comes again; who has taken it in this process is left out then.
 * @returns null when there is none
 */
export function allHooks(hooks: readonly (AlertHook | null)[], clock: Clock): AlertHook | null {
  const present = hooks.filter((hook) => hook !== null);
  if (present.length === 0) return null;
  const pending = new Map<string, { taken: Set<AlertHook>; atMs: number }>();

  return async (alert) => {
    const nowMs = clock.elapsedMs();
    for (const [name, { atMs }] of pending) if (nowMs - atMs >= FORGET_MS) pending.delete(name);
    const name = nameOf(alert);
    const { taken } = pending.get(name) ?? { taken: new Set<AlertHook>() };
    const left = present.filter((hook) => !taken.has(hook));
    pending.set(name, { taken, atMs: pending.get(name)?.atMs ?? nowMs });
    const tried = await Promise.allSettled(
      left.map(async (hook) => {
        await hook(alert);
        taken.add(hook);
      }),
    );
    const failed = tried.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    pending.delete(name);
  };
}

/** The same at each try: all of the alert but the time of the try. */
function nameOf(alert: Alert & Told): string {
  return JSON.stringify({ ...alert, at: undefined });
}

/** Less than a hook may take. */
const MAX_MS = 8_000;

/**
 * Sends each alert as a signed POST (Standard Webhooks): `{type: "alert.<event>", timestamp, data}`. The id
 * is the same when the same alert of the same day comes again. Any 2xx is a receipt; no redirect is followed.
 */
export function createAlertWebhook(url: URL, secret: Secret): { hook: AlertHook; close(): Promise<void> } {
  const { post, close } = createSignedPost(url, secret, 2);
  return {
    hook: async (alert) => {
      const { event, at, ...data } = alert;
      const body = JSON.stringify({ type: `alert.${event}`, timestamp: at, data });
      const digest = createHash('sha256').update(`${at.slice(0, 10)} ${nameOf(alert)}`);
      const id = `alert_${digest.digest('hex').slice(0, 32)}`;
      const { status } = await post({ id, body, sentAt: new Date(at), signal: AbortSignal.timeout(MAX_MS) });
      if (status < 200 || status > 299) throw new Error(`ALERT_URL answered HTTP ${status}`);
    },
    close,
  };
}

type AlertMail = { hook: AlertHook; verify(): Promise<void>; close(): void };

/**
 * Sends each alert as a mail in plain text: what, since when, why, what to type.
 * @param server `smtp://` or `smtps://`, with name and password where it wants them
 * @param to the first of them is the sender, too
 */
export function createAlertMail(server: Secret, to: readonly string[]): AlertMail {
  const limits = { connectionTimeout: MAX_MS, greetingTimeout: MAX_MS, socketTimeout: MAX_MS };
  const transport = createTransport({ url: server.reveal(), ...limits });
  return {
    hook: async ({ event, mode, since, cause, todo, over }) => {
      const text = [
        over ? `Over: ${event} (${mode} mode).` : `${event} (${mode} mode).`,
        `Since: ${since}`,
        `Why: ${cause}`,
        `What to do: ${todo}`,
      ];
      await transport.sendMail({
        from: to[0],
        to: [...to],
        subject: `[${mode}] ${over ? 'over: ' : ''}${event}`,
        // Names and references come from outside: no control character gets into a mail.
        text: `${text.map((line) => line.replace(/\p{C}/gu, '?')).join('\n')}\n`,
      });
    },
    verify: async () => {
      await transport.verify();
    },
    close: () => {
      transport.close();
    },
  };
}
