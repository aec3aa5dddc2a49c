import { createTransport } from 'nodemailer';
import type { Secret } from '../platform/secret.ts';
import type { AlertHook } from './alert.ts';

/** Less than a hook may take. */
const MAX_MS = 8_000;

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
