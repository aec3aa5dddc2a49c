import type { VNode } from 'preact';
import type { ServiceHealth } from '../../gateway/gateway.ts';
import type { WorkerState } from '../../platform/heartbeat.sql.ts';
import {
  isWebhookSilenceSuspicious,
  type LastRun,
  type WebhookSilence,
} from '../../reporting/shop-state.sql.ts';
import { span, Field, Moment } from '../layout/parts.tsx';
import { EVERY_CURRENCY, type CheckoutStop } from '../../payments/checkout-stops.sql.ts';
import { Amount } from '../../platform/html.tsx';
import { Action } from '../layout/frame.tsx';
import type { Visitor } from '../login/guard.ts';

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

type Props = { stops: readonly CheckoutStop[]; visitor: Visitor };

/** The currencies that are stopped, and why; with a form that allows it again. */
export function CheckoutStops({ stops, visitor }: Props): VNode {
  return (
    <>
      {stops.map((stop) => {
        const { currency, stoppedAt, reason } = stop;
        const isAll = currency === EVERY_CURRENCY;
        return (
          <section key={currency + (reason ?? '')} class="stopped" aria-label="Stopped">
            <p class="headline">
              No new checkout begins in {isAll ? 'any currency' : currency} since <Moment at={stoppedAt} />.
              Open payments go on.
            </p>
            <Reason stop={stop} />
            {visitor.may('checkouts') && (
              <details>
                <summary>{isAll ? 'Allow payments again…' : `Allow ${currency} again…`}</summary>
                <Action
                  visitor={visitor}
                  address="/admin/checkouts"
                  about={currency}
                  id={`resume-${isAll ? 'all' : currency}`}
                  operation={reason === null ? 'release' : 'resume'}
                  button="Allow it from now on"
                />
              </details>
            )}
          </section>
        );
      })}
    </>
  );
}

function Reason({ stop }: { stop: CheckoutStop }): VNode {
  if (stop.reason !== null)
    return (
      <p>
        {stop.stoppedBy} stopped it: “{stop.reason}”.
      </p>
    );
  const { currency, reference, asked, came } = stop;
  return (
    <p>
      {came === null ? (
        'A payment came in another unit. '
      ) : (
        <>
          A payment of <Amount amount={asked} currency={currency} /> came in as{' '}
          <Amount amount={came} currency={currency} />, {timesItsPrice(asked, came)}.{' '}
        </>
      )}
      Probably a setting (unit of amounts): call your developer before you touch money.{' '}
      <a href={`/admin/cases?${new URLSearchParams({ q: reference }).toString()}`}>Look at it</a>
    </p>
  );
}

/** A unit error is a power of ten. */
function timesItsPrice(asked: bigint, came: bigint): string {
  return came >= asked ? `${came / asked} times its price` : `1/${asked / (came || 1n)} of its price`;
}

/** Stops new checkouts; shown to those who may. */
export function StopForm({ visitor }: Pick<Props, 'visitor'>): VNode | null {
  if (!visitor.may('checkouts')) return null;
  return (
    <details>
      <summary>Stop new checkouts…</summary>
      <p class="none">
        Payments that have begun go on. Shoppers read that they should come back later, and keep their
        baskets.
      </p>
      <Action visitor={visitor} address="/admin/checkouts" id="stop" operation="stop" button="Stop">
        <Field
          id="stop-id"
          label="Currency, such as NGN (* for all)"
          name="id"
          required
          pattern="[A-Za-z]{3}|\*"
          autocomplete="off"
        />
      </Action>
    </details>
  );
}
