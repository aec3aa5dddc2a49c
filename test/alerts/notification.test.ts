import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { Alert, Told } from '../../src/alerts/alert.ts';
import { allHooks, createAlertWebhook, createAlertMail } from '../../src/alerts/hooks.ts';
import { ConfigError, loadConfig } from '../../src/config.ts';
import { alertHookOf } from '../../src/connections.ts';
import { DEFAULTS } from '../../src/extensions.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { Secret } from '../../src/platform/secret.ts';
import { startMailServer } from '../support/mail-server.ts';

const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes!!!!').toString('base64')}`;
const got: { headers: Record<string, string>; body: string }[] = [];
const receiver = createServer((req, res) => {
  let body = '';
  req.setEncoding('utf8').on('data', (text: string) => (body += text));
  req.on('end', () => {
    got.push({ headers: req.headers as Record<string, string>, body });
    res.writeHead(204).end();
  });
});
let mail: Awaited<ReturnType<typeof startMailServer>>;
let byWebhook: ReturnType<typeof createAlertWebhook>;
let byMail: ReturnType<typeof createAlertMail>;
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  mail = await startMailServer();
  const url = new URL(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`);
  byWebhook = createAlertWebhook(url, new Secret(SECRET));
  byMail = createAlertMail(new Secret(mail.url), ['ops@example.com']);
});
afterAll(async () => {
  byMail.close();
  await byWebhook.close();
  await mail.close();
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});

const alertOf = (reason: string): Alert & Told => ({
  ...({ event: 'release-failing', mode: 'test', reason } as const),
  ...{ at: new Date().toISOString(), since: '2026-01-31T00:00:00.000Z', cause: reason },
  ...{ todo: 'npm run releases -- list', over: false },
});

test('a mail that fails is sent again alone: the webhook is not told twice', async () => {
  const hook = allHooks([byWebhook.hook, null, byMail.hook], systemClock);
  if (hook === null) throw new Error('there are hooks');
  mail.state.isFailing = true;
  const alert = alertOf('HTTP 500\r\nBcc: eve@example.com');
  await expect(hook(alert)).rejects.toThrow();
  await expect(hook({ ...alert, at: new Date().toISOString() })).rejects.toThrow();
  mail.state.isFailing = false;
  await hook(alert);
  expect([got.length, mail.state.mails.length]).toEqual([1, 1]);
  const [told] = got;
  expect(new Webhook(SECRET).verify(told?.body ?? '', told?.headers ?? {})).toMatchObject({
    type: 'alert.release-failing',
    data: { mode: 'test', since: alert.since, cause: alert.cause },
  });
  expect(mail.state.mails[0]).toMatch(
    /Subject: \[test\] release-failing[^]*Since: 2026[^]*What to do: npm run releases/,
  );
  expect(mail.state.mails[0]).not.toMatch(/^Bcc:/m);
  // Told and taken: the same a day later is another reminder, for both.
  await hook(alert);
  expect([got.length, mail.state.mails.length]).toEqual([2, 2]);
});

test.each([
  ['ALERT_SECRET', { ALERT_URL: 'https://x.example/' }],
  ['ALERT_URL', { ALERT_SECRET: SECRET }],
  ['SMTP_URL', { ALERT_EMAIL: 'ops@example.com' }],
  ['ALERT_EMAIL', { SMTP_URL: 'smtp://127.0.0.1', ALERT_EMAIL: 'nobody' }],
])('half of it is refused: %s is named', (name, env) => {
  expect(() => loadConfig(env)).toThrow(ConfigError);
  expect(() => loadConfig(env)).toThrow(new RegExp(`- ${name}: `));
});

test('a mail server without addressees of alerts is for mails of the shop', () => {
  const config = loadConfig({ SMTP_URL: 'smtp://127.0.0.1' });
  expect(alertHookOf(config, DEFAULTS).onAlert).toBeNull();
});

test('the mail server answers, or not', async () => {
  await byMail.verify();
  const away = createAlertMail(new Secret('smtp://127.0.0.1:9'), ['ops@example.com']);
  await expect(away.verify()).rejects.toThrow();
});
