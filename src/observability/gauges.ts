import { Gauge, type Registry } from 'prom-client';

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
