import type { StoppedCurrency } from '../../payments/currency-stops.sql.ts';
import type { VNode } from 'preact';
import type { ServiceHealth } from '../../gateway/gateway.ts';
import { AdminPage, type Frame } from '../layout/frame.tsx';
import { Moment, span, Status, words } from '../layout/parts.tsx';
import { VERDICTS } from '../runs/run-pages.tsx';
import { Card } from './card.tsx';
import { Stops, StopForm } from './stops.tsx';
import { Journals, NoWorker, type LastCheck } from './upkeep.tsx';
import { MoneyTable, type MoneyLine } from './money-table.tsx';
import { isWebhookSilenceSuspicious } from '../../reporting/webhook-silence.ts';
import type { LastRun, OpenWork, Undelivered, WebhookSilence } from '../../reporting/shop-state.sql.ts';

export type Today = {
  frame: Frame;
  money: readonly MoneyLine[];
  isOpenCut: boolean;
  findings: readonly Pick<OpenWork, 'class' | 'age' | 'count'>[];
  suspense: readonly OpenWork[];
  run: LastRun | null;
  silence: WebhookSilence;
  undelivered: readonly Undelivered[];
  stops: readonly StoppedCurrency[];
  health: ServiceHealth;
  isWorkerMissing: boolean;
  integrity: LastCheck | null;
};

/** Today at a glance: does the money agree, and what must an operator do? */
export function TodayPage(today: Today): VNode {
  return (
    <AdminPage frame={today.frame} title="Today" here="/admin">
      <Stops stops={today.stops} visitor={today.frame.visitor} />
      {today.isWorkerMissing && <NoWorker />}
      <Verdict run={today.run} />
      <section aria-labelledby="money">
        <h2 id="money">Money</h2>
        <MoneyTable lines={today.money} isOpenCut={today.isOpenCut} />
      </section>
      <div class="cards">
        <Findings findings={today.findings} />
        <Suspense suspense={today.suspense} />
        <Releases undelivered={today.undelivered} />
        <Service health={today.health} />
        <Silence silence={today.silence} />
        <Journals integrity={today.integrity} />
        <StopForm visitor={today.frame.visitor} />
      </div>
    </AdminPage>
  );
}

function Verdict({ run }: { run: LastRun | null }): VNode {
  return (
    <section aria-labelledby="verdict">
      <h2 id="verdict">Last reconciliation</h2>
      {run === null ? (
        <p class="headline">
          There was none yet. Type: <code>npm run reconcile</code>
        </p>
      ) : (
        <p class="headline">
          <Status word={run.verdict} /> {VERDICTS[run.verdict]}{' '}
          <span class="none">
            <a href={`/admin/runs/${run.id}`}>{span(run.agoSec)} ago</a>
          </span>
        </p>
      )}
    </section>
  );
}

function Findings({ findings }: Pick<Today, 'findings'>): VNode {
  return (
    <Card id="findings" title="Open findings" href="/admin/findings" isRaised={findings.length > 0}>
      {findings.length === 0 && <p class="none">none</p>}
      <dl class="counts">
        {findings.map(({ class: name, age, count }) => (
          <div key={name + age}>
            <dt>
              <a href={`/admin/findings?${new URLSearchParams({ class: name, age }).toString()}`}>
                {words(name)}
              </a>{' '}
              {age}
            </dt>
            <dd>{count.toLocaleString('en')}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

function Suspense({ suspense }: Pick<Today, 'suspense'>): VNode {
  return (
    <Card id="suspense" title="Items in suspense" href="/admin/suspense" isRaised={suspense.length > 0}>
      {suspense.length === 0 && <p class="none">none</p>}
      <dl class="counts">
        {suspense.map(({ class: name, age, currency, count }) => (
          <div key={`${name}${age}${currency}`}>
            <dt>
              <a href={`/admin/suspense?${new URLSearchParams({ class: name, age }).toString()}`}>
                {words(name)}
              </a>{' '}
              {currency} {age}
            </dt>
            <dd>{count.toLocaleString('en')}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

function Releases({ undelivered }: Pick<Today, 'undelivered'>): VNode {
  const isDead = undelivered.some(({ delivery }) => delivery === 'dead');
  return (
    <Card id="releases" title="Releases not delivered" href="/admin/releases" isRaised={isDead}>
      {undelivered.length === 0 && <p class="none">none</p>}
      <dl class="counts">
        {undelivered.map(({ delivery, count, oldestSec }) => (
          <div key={delivery}>
            <dt>{delivery === 'dead' ? 'given up, redeliver by hand' : 'waiting'}</dt>
            <dd>
              {count.toLocaleString('en')} <span class="none">oldest {span(oldestSec)}</span>
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

function Service({ health }: Pick<Today, 'health'>): VNode {
  const { isKeyRefused, misconfigured, failingForMs, pausedForMs } = health;
  const paused = Object.entries(pausedForMs).filter(([, ms]) => ms > 0);
  const isWell = !isKeyRefused && misconfigured === null && failingForMs === 0;
  return (
    <Card id="service" title="Payment service" isRaised={!isWell}>
      {isKeyRefused && <p class="alarm">It refuses the secret key: check GATEWAY_SECRET_KEY.</p>}
      {misconfigured !== null && <p class="alarm">No checkout was opened: {misconfigured}.</p>}
      {failingForMs > 0 && (
        <p class="alarm">It is failing, and is asked again in {Math.ceil(failingForMs / 1_000)} s.</p>
      )}
      {paused.map(([endpoint, ms]) => (
        <p key={endpoint}>
          It asked for a pause of {endpoint}: {span(ms / 1_000)} more.
        </p>
      ))}
      {isWell && paused.length === 0 && <p class="agreed">Answers, as far as this process has seen.</p>}
    </Card>
  );
}

function Silence({ silence }: Pick<Today, 'silence'>): VNode {
  const { lastAt, silentSec, paidMeanwhile } = silence;
  return (
    <Card id="silence" title="Webhooks" href="/admin/webhooks" isRaised={isWebhookSilenceSuspicious(silence)}>
      {lastAt === null || silentSec === null ? (
        <p class="none">None has come yet.</p>
      ) : (
        <p>
          The last one came {span(silentSec)} ago, at <Moment at={lastAt} />.
        </p>
      )}
      {isWebhookSilenceSuspicious(silence) && (
        <p class="alarm">
          {paidMeanwhile >= 100 ? '100 or more' : paidMeanwhile} orders were paid meanwhile without one: is
          the address registered at the service?
        </p>
      )}
    </Card>
  );
}
