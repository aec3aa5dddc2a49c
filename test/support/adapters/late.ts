import type { ServiceAdapter } from '../../../src/gateway/adapter.ts';
import service from '../../../local/sandbox-adapter.ts';

/**
 * The default service, but its hosted pages die after a quarter of an hour, its payments may be
 * paid for a month, and it sends a webhook again until it reads ACCEPTED.
 */
const adapter: ServiceAdapter = {
  ...service,
  checkoutLifetimeMin: 15,
  payableDays: 30,
  webhook: { ...service.webhook, acknowledgement: { status: 200, contentType: 'text/plain', body: 'ACCEPTED' } },
};

export default adapter;
