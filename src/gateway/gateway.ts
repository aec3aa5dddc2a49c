import { systemClock, type Clock } from '../platform/clock.ts';
import type { Reference } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import { createBreaker } from './traffic/circuit-breaker.ts';
import { createRateLimiter, EXTRA_SLOTS, type Urgency } from './traffic/rate-limiter.ts';
import {
  initialize,
  KEY_REFUSED,
  type CheckoutUrlRule,
  type InitializeRequest,
  type InitializeResult,
} from './initialize.ts';
import type { Dialect } from './dialect/dialect.ts';
import { GatewayKeyRefused, GatewayNotAsked } from './errors.ts';
import { guardClient, type Guards } from './traffic/guarded-client.ts';
import { createKeyRedactor } from './http/redact-key.ts';
import { createCredentialHealth } from './traffic/credential-health.ts';
import { createBackoff, type Endpoint } from './traffic/backoff.ts';
import type { SecretKey } from './secret-key.ts';
import { createClient, type Client } from './http/client.ts';
import {
  BACKGROUND_DEADLINE,
  INTERACTIVE_DEADLINE,
  verify,
  type VerifyAnswer,
  type VerifyDeadline,
} from './verify.ts';

/** The service, as the rest of the program sees it. The only holder of the secret key. */
export type Gateway = {
  mode: Mode;
  dialect: Dialect;
  initialize(request: InitializeRequest): Promise<InitializeResult>;
  /**
   * @param urgency its place in the queue of calls; `person-waits` also has less time
   * @param deadline default: by the urgency
   * @throws {GatewayUnavailable} {@link GatewayKeyRefused}
   */
  verify(
    reference: Reference,
    expectedCurrency: string,
    urgency: Urgency,
    deadline?: VerifyDeadline,
  ): Promise<VerifyAnswer>;
  /** A body from another source, with our key redacted; the same buffer when the key is not in it. */
  redactKey(body: Buffer): Buffer;
  /** For history, which reads its answers as a stream. */
  client: Client;
  /** Tries a refused key again, by a call for the start of history: at most one in ten seconds. */
  checkRefusedKey(): Promise<void>;
  /** The state of this process's calls to the service, for people and metrics. */
  health(): ServiceHealth;
  close(): Promise<void>;
};

export type ServiceHealth = {
  isKeyRefused: boolean;
  /** The configuration fault that kept a checkout from opening, until one opens; null: none. */
  misconfigured: string | null;
  /** Milliseconds until a failing service is asked again; 0: it is not failing. */
  failingForMs: number;
  /** Milliseconds left of a pause that the service asked for, by kind of call; 0: none. */
  pausedForMs: Record<Endpoint, number>;
};

type GatewayOptions = {
  url: URL;
  key: SecretKey;
  dialect: Dialect;
  checkoutHosts: readonly string[];
  /** Calls a second at most, all kinds together; 0, the default: no limit. */
  callsPerSecond?: number;
  /** Maximum calls in flight; a history that streams comes on top. */
  concurrency: number;
  /**
   * Called whenever a call shows that checkouts cannot be opened until a person mends something, or that
   * they can (`over`).
   */
  onTrouble?: (trouble: GatewayTrouble) => void;
  logger: Logger;
  clock?: Clock;
};

type GatewayTrouble =
  | { event: 'key-refused' }
  | { event: 'checkout-address-refused'; reference: Reference; reason: string }
  | { event: 'key-refused' | 'checkout-address-refused'; over: true };

export function createGateway({
  url,
  key,
  dialect,
  checkoutHosts,
  callsPerSecond = 0,
  concurrency,
  onTrouble = () => undefined,
  logger,
  clock = systemClock,
}: GatewayOptions): Gateway {
  const redactor = createKeyRedactor(key);
  const client = createClient(url, key, concurrency + EXTRA_SLOTS, undefined, redactor);
  const budget = createRateLimiter({ callsPerSecond, concurrency, clock });
  const guards: Guards = {
    budget,
    breaker: createBreaker({ clock, logger }),
    pauses: createBackoff({ clock, logger }),
  };
  const clientFor = (endpoint: Endpoint, urgency: Urgency): Client =>
    guardClient(client, guards, endpoint, urgency);
  const addresses = createAddressWatch(onTrouble, logger);
  const rule: CheckoutUrlRule = { mode: key.mode, hosts: checkoutHosts };
  // A readiness probe waits no longer for its turn than a shopper does.
  const probe = clientFor('history', 'checkout');
  const credentials = createCredentialHealth({ client: probe, onTrouble, logger, clock });

  return {
    mode: key.mode,
    checkRefusedKey: credentials.checkRefused,
    dialect,
    redactKey: redactor.clean,
    client: clientFor('history', 'history'),
    health: () => healthOf(guards, credentials.isRefused(), addresses.misconfigured()),
    initialize: async (request) => {
      const service = clientFor('initialize', 'checkout');
      const result = await initialize(service, dialect, rule, request).catch(notSent);
      if (saysSomethingOfTheKey(result)) credentials.note(isRefusalOfTheKey(result));
      addresses.note(request.reference, result);
      return result;
    },
    verify: async (reference, expectedCurrency, urgency, deadline = deadlineOf(urgency)) => {
      const guarded = clientFor('verify', urgency);
      try {
        const answer = await verify(guarded, dialect, reference, expectedCurrency, deadline);
        credentials.note(false);
        return answer;
      } catch (error) {
        if (error instanceof GatewayKeyRefused) credentials.note(true);
        throw error;
      }
    },
    close: () => {
      budget.close();
      return client.close();
    },
  };
}

function healthOf(
  { breaker, pauses }: Guards,
  isKeyRefused: boolean,
  misconfigured: string | null,
): ServiceHealth {
  return {
    isKeyRefused,
    misconfigured,
    failingForMs: breaker.blockedMs(),
    pausedForMs: {
      initialize: pauses.remainingMs('initialize'),
      verify: pauses.remainingMs('verify'),
      history: pauses.remainingMs('history'),
    },
  };
}

function saysSomethingOfTheKey({ outcome }: InitializeResult): boolean {
  return outcome === 'opened' || outcome === 'refused';
}

function isRefusalOfTheKey(result: InitializeResult): boolean {
  return result.outcome === 'refused' && result.reason === KEY_REFUSED;
}

/** Remembers why the last checkout address was refused, if the operator can mend that. */
function createAddressWatch(onTrouble: (trouble: GatewayTrouble) => void, logger: Logger) {
  let misconfigured: string | null = null;
  return {
    misconfigured: () => misconfigured,
    note: (reference: Reference, result: InitializeResult): void => {
      if (result.outcome === 'opened') {
        misconfigured = null;
        onTrouble({ event: 'checkout-address-refused', over: true });
      }
      if (result.outcome !== 'ambiguous' || result.misconfigured === undefined) return;
      const reason = result.misconfigured;
      // The operator is told once; of every refused checkout there is a line in the log.
      if (misconfigured !== null) logger.error({ reference, reason }, 'checkout address refused');
      onTrouble({ event: 'checkout-address-refused', reference, reason });
      misconfigured = reason;
    },
  };
}

function deadlineOf(urgency: Urgency): VerifyDeadline {
  return urgency === 'person-waits' ? INTERACTIVE_DEADLINE : BACKGROUND_DEADLINE;
}

function notSent(error: unknown): InitializeResult {
  if (!(error instanceof GatewayNotAsked)) throw error;
  return { outcome: 'not-sent', reason: error.reason, retryAfterSec: error.retryAfterSec };
}
