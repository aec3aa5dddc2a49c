import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import type { CheckoutUrlRule } from './checkout-url.ts';
import type { Dialect } from './dialect.ts';
import { GatewayKeyRefused } from './errors.ts';
import { initialize, type InitializeRequest, type InitializeResult } from './initialize.ts';
import type { SecretKey } from './secret-key.ts';
import { createClient, type Client } from './client.ts';
import { verify, type VerifyAnswer, type VerifyDeadline } from './verify.ts';

/** The service, as the rest of the program sees it. The only holder of the secret key. */
export type Gateway = {
  mode: Mode;
  dialect: Dialect;
  initialize(request: InitializeRequest): Promise<InitializeResult>;
  /** @throws {GatewayUnavailable} {@link GatewayKeyRefused} */
  verify(reference: string, expectedCurrency: string, deadline: VerifyDeadline): Promise<VerifyAnswer>;
  /** For history, which reads its answers as a stream. */
  client: Client;
  /** Whether the service refused our key the last time it was asked. Readiness is red until it accepts it again. */
  isKeyRefused(): boolean;
  close(): Promise<void>;
};

export type GatewayOptions = {
  url: URL;
  key: SecretKey;
  dialect: Dialect;
  checkoutHosts: readonly string[];
  /** Calls in flight at most. */
  concurrency: number;
  logger: Logger;
};

export function createGateway({
  url,
  key,
  dialect,
  checkoutHosts,
  concurrency,
  logger,
}: GatewayOptions): Gateway {
  const client = createClient(url, key, concurrency);
  const rule: CheckoutUrlRule = { mode: key.mode, hosts: checkoutHosts };
  let keyRefused = false;

  function note(refused: boolean): void {
    if (refused && !keyRefused) logger.error('the service refuses the secret key: check GATEWAY_SECRET_KEY');
    if (!refused && keyRefused) logger.info('the service accepts the secret key again');
    keyRefused = refused;
  }

  return {
    mode: key.mode,
    dialect,
    client,
    isKeyRefused: () => keyRefused,
    initialize: async (request) => {
      const result = await initialize(client, dialect, rule, request);
      if (result.outcome === 'opened' || result.outcome === 'refused') {
        note(result.outcome === 'refused' && result.keyRefused);
      }
      return result;
    },
    verify: async (reference, expectedCurrency, deadline) => {
      try {
        const answer = await verify(client, dialect, reference, expectedCurrency, deadline);
        note(false);
        return answer;
      } catch (error) {
        if (error instanceof GatewayKeyRefused) note(true);
        throw error;
      }
    },
    close: () => client.close(),
  };
}
