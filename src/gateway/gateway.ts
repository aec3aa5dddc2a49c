import { systemClock, type Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import { createBreaker } from './breaker.ts';
import { createBudget, type Urgency } from './budget.ts';
import type { CheckoutUrlRule } from './checkout-url.ts';
import type { Dialect } from './dialect.ts';
import { GatewayKeyRefused, GatewayNotAsked } from './errors.ts';
import { guardClient } from './guarded-client.ts';
import { initialize, KEY_REFUSED, type InitializeRequest, type InitializeResult } from './initialize.ts';
import { HISTORY_PATH } from './messages.ts';
import type { SecretKey } from './secret-key.ts';
import { createClient, type Client } from './client.ts';
import { PERSON_WAITS, verify, type VerifyAnswer, type VerifyDeadline } from './verify.ts';

/** The service, as the rest of the program sees it. The only holder of the secret key. */
export type Gateway = {
  mode: Mode;
  dialect: Dialect;
  initialize(request: InitializeRequest): Promise<InitializeResult>;
  /**
   * @param urgency by default that of a shopper's return where a person waits, else background
   * @throws {GatewayUnavailable} {@link GatewayKeyRefused}
   */
  verify(
    reference: string,
    expectedCurrency: string,
    deadline: VerifyDeadline,
    urgency?: Urgency,
  ): Promise<VerifyAnswer>;
  /** For history, which reads its answers as a stream. */
  client: Client;
  /** Whether the service refused our key the last time it was asked. Readiness is red until it accepts it again. */
  isKeyRefused(): boolean;
  /** Asks for the start of history to learn whether a refused key is accepted again: one call in ten seconds at most. */
  checkRefusedKey(): Promise<void>;
  close(): Promise<void>;
};

/** A load balancer asks for readiness every second; the service need not be. */
const KEY_CHECK_PAUSE_MS = 10_000;

export type GatewayOptions = {
  url: URL;
  key: SecretKey;
  dialect: Dialect;
  checkoutHosts: readonly string[];
  /** Calls a second at most, all kinds together; 0, the default: no limit. */
  callsPerSecond?: number;
  /** Calls in flight at most. */
  concurrency: number;
  logger: Logger;
  clock?: Clock;
};

export function createGateway({
  url,
  key,
  dialect,
  checkoutHosts,
  callsPerSecond = 0,
  concurrency,
  logger,
  clock = systemClock,
}: GatewayOptions): Gateway {
  const client = createClient(url, key, concurrency);
  const budget = createBudget({ callsPerSecond, concurrency, clock });
  const breaker = createBreaker({ clock, logger });
  const clientFor = (urgency: Urgency): Client => guardClient(client, budget, breaker, urgency);
  const rule: CheckoutUrlRule = { mode: key.mode, hosts: checkoutHosts };
  let keyRefused = false;

  function note(refused: boolean): void {
    if (refused && !keyRefused) logger.error('the service refuses the secret key: check GATEWAY_SECRET_KEY');
    if (!refused && keyRefused) logger.info('the service accepts the secret key again');
    keyRefused = refused;
  }

  let checkedAtMs = -Infinity;
  async function checkRefusedKey(): Promise<void> {
    if (!keyRefused || clock.elapsedMs() - checkedAtMs < KEY_CHECK_PAUSE_MS) return;
    checkedAtMs = clock.elapsedMs();
    const limits = { headersMs: 2_000, totalMs: 2_000, maxBytes: Infinity };
    // Whoever asks for readiness waits no longer than a shopper.
    const answer = await clientFor('checkout')
      .stream({ method: 'GET', path: HISTORY_PATH, ...limits })
      .catch(() => null);
    if (answer === null) return;
    if (answer.status < 500) note(answer.status === 401 || answer.status === 403);
    await discard(answer.body);
  }

  return {
    mode: key.mode,
    checkRefusedKey,
    dialect,
    client: clientFor('background'),
    isKeyRefused: () => keyRefused,
    initialize: async (request) => {
      const result = await initialize(clientFor('checkout'), dialect, rule, request).catch(notSent);
      if (result.outcome === 'opened' || result.outcome === 'refused') {
        note(result.outcome === 'refused' && result.reason === KEY_REFUSED);
      }
      return result;
    },
    verify: async (reference, expectedCurrency, deadline, urgency = urgencyOf(deadline)) => {
      try {
        const answer = await verify(clientFor(urgency), dialect, reference, expectedCurrency, deadline);
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

function urgencyOf(deadline: VerifyDeadline): Urgency {
  return deadline === PERSON_WAITS ? 'return' : 'background';
}

function notSent(error: unknown): InitializeResult {
  if (error instanceof GatewayNotAsked) return { outcome: 'not-sent', reason: error.reason };
  throw error;
}

/** Leaving the loop closes the answer, and with it the connection: there may be a whole history in it. */
async function discard(body: AsyncIterable<Buffer>): Promise<void> {
  for await (const chunk of body) if (chunk.length > 0) break;
}
