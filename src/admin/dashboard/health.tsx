import type { VNode } from 'preact';
import type { ServiceHealth } from '../../gateway/gateway.ts';
import type { WorkerState } from '../../platform/heartbeat.sql.ts';
import {
  isWebhookSilenceSuspicious,
  type LastRun,
  type WebhookSilence,
} from '../../reporting/shop-state.sql.ts';
import { span } from '../layout/parts.tsx';

export type Health = {
  run: LastRun | null;
  service: ServiceHealth;
  silence: WebhookSilence;
  worker: WorkerState;
  /** The last check of all journals. */
  integrity: { agoSec: number; orders: bigint; contradictions: bigint } | null;
};

/** What is broken and must be repaired, one sentence each. */
export function Alarms({ run, service, silence, worker, integrity }: Health): VNode | null {
  const { isKeyRefused, misconfigured, failingForMs } = service;
  const { paidMeanwhile } = silence;
  const alarms = [
    worker.isMissing && (
      <>
        No worker is running, and this server leaves the scheduled checks to one (<code>WORKER=off</code>):
        payments are not checked and orders not delivered. Type: <code>npm run worker</code>
      </>
    ),
    isKeyRefused && 'The payment service refuses the secret key: check GATEWAY_SECRET_KEY.',
    misconfigured !== null && `No checkout was opened: ${misconfigured}.`,
    failingForMs > 0 &&
      `The payment service is failing, and is asked again in ${Math.ceil(failingForMs / 1_000)} s.`,
    run?.verdict === 'incomplete' && (
      <>
        The last check against the service, {span(run.agoSec)} ago, could not be completed.{' '}
        <a href={`/admin/runs/${run.id}`}>Why</a>
      </>
    ),
    isWebhookSilenceSuspicious(silence) && (
      <>
        {paidMeanwhile >= 100 ? '100 or more' : paidMeanwhile} orders were paid and no{' '}
        <a href="/admin/webhooks">webhook</a> came: is our address registered at the service?
      </>
    ),
    integrity !== null && integrity.contradictions > 0n && (
      <>
        {integrity.contradictions.toLocaleString('en')} rows were changed by other means than this program:{' '}
        <code>npm run explain -- --all</code>
      </>
    ),
  ].filter((alarm) => alarm !== false);
  if (alarms.length === 0) return null;
  return (
    <section aria-label="Alarms" class="stopped">
      {alarms.map((alarm, at) => (
        <p key={at}>{alarm}</p>
      ))}
    </section>
  );
}

/** One quiet line: when which part was last seen well. */
export function HealthLine({ run, service, silence, worker, integrity }: Health): VNode {
  const { isKeyRefused, misconfigured, failingForMs, pausedForMs } = service;
  const isWell = !isKeyRefused && misconfigured === null && failingForMs === 0;
  return (
    <p class="none health">
      {run === null ? (
        <span>
          Not yet checked against the service: <code>npm run reconcile</code>
        </span>
      ) : (
        <span>
          Checked against the service <a href={`/admin/runs/${run.id}`}>{span(run.agoSec)} ago</a>
          {run.verdict === 'agreed' && (run.isPart ? ': all agrees in its window' : ': all agrees')}
          {run.verdict === 'findings' && ': not agreed'}
        </span>
      )}
      <span>{isWell ? 'service answers' : 'service does not answer well'}</span>
      {Object.entries(pausedForMs)
        .filter(([, ms]) => ms > 0)
        .map(([endpoint, ms]) => (
          <span key={endpoint}>
            service asked for a pause of {endpoint}, {span(ms / 1_000)} more
          </span>
        ))}
      <span>
        {silence.silentSec === null ? 'no webhook yet' : `last webhook ${span(silence.silentSec)} ago`}
      </span>
      {worker.last !== null && <span>worker seen {span(worker.last.sec)} ago</span>}
      {integrity !== null && (
        <span>
          records of {integrity.orders.toLocaleString('en')} orders checked {span(integrity.agoSec)} ago
        </span>
      )}
    </p>
  );
}
