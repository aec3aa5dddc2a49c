import { Counter, Histogram, Registry } from 'prom-client';
import { GatewayKeyRefused, GatewayNotAsked, GatewayUnavailable } from '../gateway/errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Clock } from '../platform/clock.ts';
import type { Confirm } from '../payments/confirm.ts';
import type { ReceiveWebhook } from '../webhooks/receive.ts';

/**
 * What only the process itself can count: its calls to the service, and the webhooks
 * that it refused to store.
 */
export type Meters = {
  /** The same gateway with timed calls, including the wait for their turn. */
  observeGateway(gateway: Gateway): Gateway;
  observeWebhooks(receive: ReceiveWebhook): ReceiveWebhook;
  /** The same confirmation; verify answers that contradict a paid order are counted. */
  observeConfirm(confirm: Confirm): Confirm;
  text(): Promise<string>;
};

/** From a quick answer to the deadline of a call that no shopper waits for. */
const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 12];

export function createMeters(clock: Clock): Meters {
  const registry = new Registry();
  const timed = createTimed(
    clock,
    new Histogram({
      name: 'integrator_service_call_seconds',
      help: 'Calls to the payment service by kind and outcome',
      labelNames: ['call', 'outcome'],
      buckets: SECONDS,
      registers: [registry],
    }),
  );
  const webhooks = new Counter({
    name: 'integrator_webhooks_total',
    help: 'Webhooks received by what was done with them: stored, bad-signature, malformed',
    labelNames: ['result'],
    registers: [registry],
  });
  // A rate needs a first sample, so results that have not occurred yet start at 0.
  for (const result of ['stored', 'bad-signature', 'malformed']) webhooks.inc({ result }, 0);

  const contradicting = new Counter({
    name: 'integrator_contradicting_answers_total',
    help: 'Answers of verify about a paid order that are not exactly "paid", by what they say',
    labelNames: ['outcome'],
    registers: [registry],
  });

  return {
    observeGateway: (gateway) => ({
      ...gateway,
      initialize: (request) =>
        timed(
          'initialize',
          () => gateway.initialize(request),
          ({ outcome }) => outcome,
        ),
      verify: (...question) =>
        timed(
          'verify',
          () => gateway.verify(...question),
          ({ kind }) => kind,
        ),
    }),
    observeWebhooks: (receive) => async (request) => {
      const result = await receive(request);
      webhooks.inc({ result: result.outcome });
      return result;
    },
    observeConfirm: (confirm) => async (payment, cause) => {
      const confirmed = await confirm(payment, cause);
      if (confirmed.contradicts) contradicting.inc({ outcome: confirmed.outcome });
      return confirmed;
    },
    text: () => registry.metrics(),
  };
}

type Timed = <T>(call: string, ask: () => Promise<T>, outcomeOf: (answer: T) => string) => Promise<T>;

function createTimed(clock: Clock, calls: Histogram<'call' | 'outcome'>): Timed {
  return async (call, ask, outcomeOf) => {
    const startedMs = clock.elapsedMs();
    const note = (outcome: string): void => {
      calls.observe({ call, outcome }, (clock.elapsedMs() - startedMs) / 1_000);
    };
    try {
      const answer = await ask();
      note(outcomeOf(answer));
      return answer;
    } catch (error) {
      note(failureOf(error));
      throw error;
    }
  };
}

/** Why a call to the service got no answer, in one word. */
export function failureOf(error: unknown): string {
  if (error instanceof GatewayNotAsked) return 'not-asked';
  if (error instanceof GatewayUnavailable) return 'unavailable';
  return error instanceof GatewayKeyRefused ? 'key-refused' : 'error';
}
