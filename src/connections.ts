import type { Alarm, AlertHook } from './alerts/alert.ts';
import { allHooks, createAlertWebhook, createAlertMail } from './alerts/hooks.ts';
import type { Config } from './config.ts';
import type { BackingServices } from './config/backing-services.ts';
import type { Extensions } from './extensions.ts';
import type { EventReceiver } from './fulfilment/event.ts';
import { createHttpReceiver } from './fulfilment/http-receiver.ts';
import type { Receiver } from './fulfilment/release.ts';
import { createGateway, type Gateway } from './gateway/gateway.ts';
import { systemClock } from './platform/clock.ts';
import type { Logger } from './platform/logger.ts';
import type { Tracing } from './platform/tracing/tracing.ts';

/* The other systems that the configuration names. */

/** The service as the configuration names it. Nothing is asked yet. */
export function gatewayOf(
  { config, services, logger }: { config: Config; services: BackingServices; logger: Logger },
  alarm: Alarm,
): Gateway {
  const { mode } = services.secretKey;
  return createGateway({
    url: services.gatewayUrl,
    key: services.secretKey,
    dialect: config.dialect,
    checkoutHosts: config.CHECKOUT_HOSTS,
    callsPerSecond: config.GATEWAY_CALLS_PER_SECOND,
    concurrency: config.GATEWAY_CONCURRENCY,
    onTrouble: (trouble) => void alarm({ ...trouble, mode }),
    logger,
  });
}

/** Who is sent releases and events: FULFILMENT_URL, else what the shop has written. */
export function receiverOf(
  { FULFILMENT_URL, FULFILMENT_SECRET }: Config,
  tracing: Tracing | null,
  { receiver, onEvent = null }: Extensions,
): { receive: Receiver | null; receiveEvent: EventReceiver | null; close(): Promise<void> } {
  if (FULFILMENT_URL && FULFILMENT_SECRET) {
    const { receive, close } = createHttpReceiver(FULFILMENT_URL, FULFILMENT_SECRET, tracing?.headers);
    return { receive, receiveEvent: receive, close };
  }
  return { receive: receiver, receiveEvent: onEvent, close: () => Promise.resolve() };
}

/** Whom alerts are told: what the shop has written, ALERT_URL and ALERT_EMAIL. */
export function alertHookOf(
  { ALERT_URL, ALERT_SECRET, SMTP_URL, ALERT_EMAIL }: Config,
  { onAlert }: Extensions,
): { onAlert: AlertHook | null; close(): Promise<void> } {
  const webhook = ALERT_URL && ALERT_SECRET ? createAlertWebhook(ALERT_URL, ALERT_SECRET) : null;
  const mail = SMTP_URL && ALERT_EMAIL.length > 0 ? createAlertMail(SMTP_URL, ALERT_EMAIL) : null;
  return {
    onAlert: allHooks([onAlert, webhook?.hook ?? null, mail?.hook ?? null], systemClock),
    close: async () => {
      mail?.close();
      await webhook?.close();
    },
  };
}
