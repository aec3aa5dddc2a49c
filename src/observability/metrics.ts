import type { RequestHandler } from 'express';
import { Registry, collectDefaultMetrics } from 'prom-client';
import type { Gateway } from '../gateway/gateway.ts';
import type { Queryable } from '../platform/database/database.ts';
import type { Reads } from '../platform/database/reads.ts';
import {
  dueRows,
  lastRun,
  openFindingCounts,
  openMoney,
  openSuspenseSums,
  undeliveredCounts,
  webhookSilence,
} from '../reporting/shop-state.sql.ts';
import { wentBackDays } from '../reporting/money-by-day.sql.ts';
import { EVERY_CURRENCY, readCheckoutStops } from '../payments/checkout-stops.sql.ts';
import { createGauges, type SetGauge, type Meters } from './meters.ts';
import { lastIntegrityCheck } from '../reporting/integrity.sql.ts';
import { lastHeartbeat, type WorkerWatch } from '../platform/heartbeat.sql.ts';
import { lastHour, oldestSuspense, oldestUnansweredHint, sinceConfirmed } from './metrics.sql.ts';

export type MetricsParts = {
  reads: Reads;
  gateway: Gateway;
  meters: Meters;
  workerWatch: WorkerWatch;
};

/**
 * Answers Prometheus. The state of the shop is read from the database at each scrape, so that every node
 * reports the same and a restart loses nothing. The state of this process is counted in memory.
 */
export function createMetrics({ reads, gateway, meters, workerWatch }: MetricsParts): RequestHandler {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const { clear, set } = createGauges(registry);
  return async (_req, res) => {
    const { database } = await reads.pick();
    const seen = await look(database, gateway);
    const standby = await reads.look?.();
    clear();
    tellMoney(seen, set);
    tellWork(seen, set);
    tellUpkeep(seen, set);
    tellService(gateway, set);
    if (standby !== undefined) set('integrator_standby_behind_seconds', standby.behindSec);
    set('integrator_worker_missing', (await workerWatch.state()).isMissing ? 1 : 0);
    res.type(registry.contentType).send(`${await registry.metrics()}\n${await meters.text()}`);
  };
}

async function look(db: Queryable, { mode }: Gateway) {
  const [hour, wentBack, confirmedSec, open, hintSec, due, silence] = await Promise.all([
    lastHour(db, mode),
    wentBackDays(db, mode, 1),
    sinceConfirmed(db, mode),
    openMoney(db, mode),
    oldestUnansweredHint(db, mode),
    dueRows(db, mode),
    webhookSilence(db, mode),
  ]);
  const [integrity, heartbeat] = await Promise.all([lastIntegrityCheck(db), lastHeartbeat(db, mode)]);
  const [undelivered, findings, suspense, suspenseSec, run, stopped] = await Promise.all([
    undeliveredCounts(db, mode),
    openFindingCounts(db, mode),
    openSuspenseSums(db, mode),
    oldestSuspense(db, mode),
    lastRun(db, mode),
    readCheckoutStops(db, mode),
  ]);
  const work = { undelivered, findings, suspense, suspenseSec, run, stopped, integrity, heartbeat };
  return { hour, wentBack, confirmedSec, open, hintSec, due, silence, ...work };
}

type Seen = Awaited<ReturnType<typeof look>>;

function tellMoney({ hour, wentBack, confirmedSec, open, hintSec, due, silence }: Seen, set: SetGauge): void {
  for (const { currency, placed, confirmed } of hour) {
    set('integrator_orders_last_hour', placed, { currency });
    set('integrator_confirmed_last_hour', confirmed, { currency });
  }
  for (const { currency, by, amount } of wentBack)
    set('integrator_went_back_today_minor_units', Number(amount), { currency, by });
  if (confirmedSec !== null) set('integrator_last_confirmed_age_seconds', confirmedSec);
  for (const { currency, payments } of open) set('integrator_open_payments', payments, { currency });
  set('integrator_unanswered_hint_age_seconds', hintSec);
  for (const { queue, rows, lagSec } of due) {
    set('integrator_due_rows', rows, { queue });
    set('integrator_due_lag_seconds', lagSec, { queue });
  }
  if (silence.silentSec !== null) set('integrator_webhook_silence_seconds', silence.silentSec);
  set('integrator_orders_paid_in_silence', silence.paidMeanwhile);
}

function tellWork({ undelivered, findings, suspense, suspenseSec, run, stopped }: Seen, set: SetGauge): void {
  set('integrator_checkouts_stopped', stopped.some(({ currency }) => currency === EVERY_CURRENCY) ? 1 : 0);
  for (const { currency } of stopped)
    if (currency !== EVERY_CURRENCY) set('integrator_stopped_currencies', 1, { currency });
  for (const delivery of ['waiting', 'dead', 'withheld'] as const) {
    const seen = undelivered.find((row) => row.delivery === delivery);
    set('integrator_undelivered_releases', seen?.count ?? 0, { delivery });
    // What is withheld has ended: its age says nothing.
    if (delivery === 'withheld') continue;
    set('integrator_undelivered_release_age_seconds', seen?.oldestSec ?? 0, { delivery });
    if (delivery === 'dead') set('integrator_dead_releases', seen?.count ?? 0);
  }
  for (const [name, rows] of groups(findings, (row) => row.class))
    set(
      'integrator_open_findings',
      sum(rows, ({ count }) => count),
      { class: name },
    );
  for (const rows of groups(suspense, (row) => `${row.class} ${row.currency ?? ''}`).values()) {
    const labels = { class: rows[0]?.class ?? '', currency: rows[0]?.currency ?? '' };
    set(
      'integrator_open_suspense',
      sum(rows, ({ count }) => count),
      labels,
    );
    // An approximate amount for alarms; the exact sum is in the list.
    set(
      'integrator_open_suspense_minor_units',
      sum(rows, ({ amount }) => Number(amount)),
      labels,
    );
  }
  set('integrator_open_suspense_age_seconds', suspenseSec);
  if (run !== null) set('integrator_last_reconciliation_age_seconds', run.agoSec);
  for (const verdict of ['agreed', 'findings', 'incomplete'])
    set('integrator_last_reconciliation_verdict', run?.verdict === verdict ? 1 : 0, { verdict });
}

function tellUpkeep({ integrity, heartbeat }: Seen, set: SetGauge): void {
  if (integrity !== null) {
    set('integrator_journal_contradictions', Number(integrity.contradictions));
    set('integrator_last_integrity_check_age_seconds', integrity.agoSec);
  }
  if (heartbeat !== null) set('integrator_worker_heartbeat_age_seconds', heartbeat.sec);
}

function tellService(gateway: Gateway, set: SetGauge): void {
  const { isKeyRefused, failingForMs, pausedForMs } = gateway.health();
  set('integrator_gateway_key_refused', isKeyRefused ? 1 : 0);
  set('integrator_service_failing', failingForMs > 0 ? 1 : 0);
  for (const [call, ms] of Object.entries(pausedForMs))
    set('integrator_service_paused_seconds', ms / 1_000, { call });
}

function groups<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row[]> {
  const all = new Map<string, Row[]>();
  for (const row of rows) all.set(keyOf(row), [...(all.get(keyOf(row)) ?? []), row]);
  return all;
}

function sum<Row>(rows: readonly Row[], valueOf: (row: Row) => number): number {
  return rows.reduce((total, row) => total + valueOf(row), 0);
}
