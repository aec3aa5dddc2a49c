import { once } from 'node:events';
import { createTransport } from 'nodemailer';
import type { Logger } from 'pino';
import { Webhook } from 'standardwebhooks';
import { EnvHttpProxyAgent } from 'undici';
import type { Config } from '../config.ts';
import { USER_AGENT } from '../gateway/client.ts';
import type { Mode } from '../platform/prisma/client.ts';
import type { Secret } from '../platform/secret.ts';

/** An alert about a state. `name` is the state's name, and `says` may have several lines. */
export type Alert = { id: string; name: string; mode: Mode; isOver: boolean; says: string; todo: string | null };

/**
 * A way to reach people. `send` throws after ten seconds at the latest if the alert may not have
 * arrived.
 */
export type Channel = { name: 'log' | 'call' | 'mail'; send(alert: Alert): Promise<void> | void };

/** The configured channels. The log is always one of them. */
export function channelsOf({ ALERT_URL, ALERT_SECRET, ALERT_EMAIL, SMTP_URL }: Config, logger: Logger): Channel[] {
  const log: Channel['send'] = ({ name, isOver, says, todo }) => {
    logger[isOver ? 'info' : 'error']({ alert: name, isOver, todo }, says);
  };
  const channels: Channel[] = [{ name: 'log', send: log }];
  if (ALERT_URL !== null && ALERT_SECRET !== null)
    channels.push({ name: 'call', send: (alert) => call(ALERT_URL, ALERT_SECRET, alert) });
  if (SMTP_URL !== null && ALERT_EMAIL.length > 0)
    channels.push({ name: 'mail', send: (alert) => mail(SMTP_URL, ALERT_EMAIL, alert) });
  return channels;
}

const SEND_MS = 10_000;

/**
 * Sends a signed POST (Standard Webhooks). Any 2xx status accepts it. Redirects are not followed.
 */
async function call(url: URL, secret: Secret, { id, name, mode, isOver, says, todo }: Alert): Promise<void> {
  const at = new Date();
  const data = { mode, state: name, over: isOver, sentence: says, todo };
  const body = JSON.stringify({ type: `alert.${name}`, timestamp: at.toISOString(), data });
  const headers = {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret.reveal()).sign(id, at, body),
  };
  const agent = new EnvHttpProxyAgent({ connect: { timeout: 3_000 } });
  try {
    const [to, signal] = [{ origin: url.origin, path: url.pathname + url.search }, AbortSignal.timeout(SEND_MS)];
    const { statusCode, body: answer } = await agent.request({ ...to, method: 'POST', headers, body, signal });
    await answer.dump({ limit: 65_536 });
    if (statusCode < 200 || statusCode > 299) throw Object.assign(new Error(), { code: `HTTP ${statusCode}` });
  } finally {
    await agent.destroy();
  }
}

/** Sends plain text. The first recipient is also the sender. */
async function mail(server: Secret, to: string[], { id, name, mode, isOver, says, todo }: Alert): Promise<void> {
  const transport = createTransport({ url: server.reveal(), connectionTimeout: SEND_MS, socketTimeout: SEND_MS });
  const late = once(AbortSignal.timeout(SEND_MS), 'abort').then(() => {
    throw Object.assign(new Error(), { code: 'ETIMEDOUT' });
  });
  const subject = `[${mode}] ${isOver ? 'over: ' : ''}${name}`;
  const text = `${says}\n${todo === null ? '' : `\nWhat to do: ${todo}\n`}`;
  const sent = transport.sendMail({ from: to[0], to, subject, text, headers: { 'x-alert-id': id } });
  await Promise.race([sent, late]).finally(() => {
    transport.close();
  });
}
