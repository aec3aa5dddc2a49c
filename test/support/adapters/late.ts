import type { ServiceAdapter } from '../../../src/gateway/adapter.ts';
import service from '../../../local/sandbox-adapter.ts';

/**
 * The default service, but hosted pages end after a quarter of an hour, payments can be paid for a
 * month, and a webhook is sent again until the service reads ACCEPTED.
 */
const adapter: ServiceAdapter = {
  ...service,
  checkoutLifetimeMin: 15,
  payableDays: 30,
  webhook: { ...service.webhook, acknowledgement: { status: 200, contentType: 'text/plain', body: 'ACCEPTED' } },
};

export default adapter;
