import { Counter, Histogram, Registry, Gauge } from 'prom-client';
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

type Help = readonly [help: string, ...labels: string[]];

// Every gauge by name: its help text, and its labels beside the mode.
const GAUGES = {
  integrator_orders_last_hour: ['Orders placed within the last hour', 'currency'],
  integrator_confirmed_last_hour: ['Orders confirmed within the last hour', 'currency'],
  integrator_went_back_today_minor_units: [
    'Of paid orders since midnight UTC: refunds written down, and reversals that none explains',
    'currency',
    'by',
  ],
  integrator_last_confirmed_age_seconds: ['Since an order was confirmed'],
  integrator_open_payments: ['Payments that wait for money (20,000 are counted)', 'currency'],
  integrator_unanswered_hint_age_seconds: [
    'Since the oldest webhook that no answer of the service has followed; 0: none',
  ],
  integrator_due_rows: ['Due rows that no worker holds (10,000 are counted)', 'queue'],
  integrator_due_lag_seconds: ['How late the first due row is', 'queue'],
  integrator_webhook_silence_seconds: ['Since the last webhook; absent when none has come'],
  integrator_orders_paid_in_silence: ['Orders confirmed since the last webhook (100 are counted)'],
  integrator_undelivered_releases: [
    'Releases that their receiver does not have: waiting, dead, withheld',
    'delivery',
  ],
  integrator_undelivered_release_age_seconds: [
    'Since the oldest that waits or is dead was released',
    'delivery',
  ],
  integrator_dead_releases: ['Releases that were given up after three days: npm run releases -- redeliver'],
  integrator_open_findings: ['Open findings', 'class'],
  integrator_open_suspense: ['Open items in suspense', 'class', 'currency'],
  integrator_open_suspense_minor_units: ['The money in them', 'class', 'currency'],
  integrator_open_suspense_age_seconds: ['Since the oldest open item in suspense; 0: none'],
  integrator_stopped_currencies: ['1 while new checkouts of the currency are stopped', 'currency'],
  integrator_checkouts_stopped: ['1 while all new checkouts are stopped by hand'],
  integrator_last_reconciliation_age_seconds: ['Since a reconciliation ended; absent when none has'],
  integrator_last_reconciliation_verdict: ['1 for the verdict of the last reconciliation', 'verdict'],
  integrator_journal_contradictions: [
    'Rows that the last integrity check found changed by other means: npm run explain -- --all',
  ],
  integrator_last_integrity_check_age_seconds: [
    'Since all orders were last checked; absent when they never were',
  ],
  integrator_worker_missing: ['1 while this server runs with WORKER=off and no worker says that it lives'],
  integrator_worker_heartbeat_age_seconds: [
    'Since a worker last said that it lives; absent when none ever did',
  ],
  integrator_standby_behind_seconds: [
    'How far the standby of DATABASE_READ_URL is behind; +Inf: it cannot be read',
  ],
  integrator_gateway_key_refused: ['1 while the payment service refuses the secret key'],
  integrator_service_failing: ['1 while this process does not ask the service because it fails'],
  integrator_service_paused_seconds: [
    'For how long the service asked this process to leave it alone',
    'call',
  ],
} satisfies Record<string, Help>;

type GaugeName = keyof typeof GAUGES;
export type SetGauge = (name: GaugeName, value: number, labels?: Record<string, string>) => void;

/**
 * Gauges that are cleared and set for every scrape: a class without findings must
 * not keep its last value.
 */
export function createGauges(registry: Registry): { clear(): void; set: SetGauge } {
  const gauges = Object.entries(GAUGES as Record<string, Help>).map(([name, [help, ...labelNames]]) => {
    return [name, new Gauge({ name, help, labelNames, registers: [registry] })] as const;
  });
  const byName = new Map(gauges);
  return {
    clear: () => {
      for (const gauge of byName.values()) {
        gauge.reset();
        // A gauge without labels is reset to 0, which would report an unknown value as 0.
        gauge.remove({});
      }
    },
    set: (name, value, labels = {}) => {
      byName.get(name)?.set(labels, value);
    },
  };
}
