import type { VNode } from 'preact';

import { Page } from '../../../src/platform/html.tsx';
import { curlLines } from '../curl-lines.ts';
import { SANDBOX_LIVE_KEY, SANDBOX_TEST_KEY } from '../keys.ts';
import { Ribbon } from '../pages/ribbon.tsx';
import { STYLESHEET_PATH } from '../pages/stylesheet.ts';
import type { SetFault } from '../faults/book.ts';
import type { Mode } from '../keys.ts';
import type { Balance } from '../ledger/balances.ts';
import type { ProfileName } from '../profiles/all.ts';
import type { Profile } from '../profiles/profile.ts';
import { ClockForm } from './clock-form.tsx';
import { GiveBackForm } from './give-back-form.tsx';
import { OpenForm } from './open-form.tsx';
import { Balances, FaultChoice, ProfileChoice } from './steering.tsx';
import { TransactionTable, type Shelf } from './transaction-table.tsx';

export type OverviewProps = {
  baseUrl: string;
  profileName: ProfileName;
  profile: Profile;
  shopUrl: string;
  webhookUrl: string | null;
  webhookSecret: string;
  pendingWebhooks: number;
  faults: readonly SetFault[];
  now: Date;
  aheadMs: number;
  balances: readonly (Balance & { mode: Mode })[];
  shelves: Shelf[];
};

/** What the sandbox is, how to talk to it, and all it knows. */
export function OverviewPage(props: OverviewProps): VNode {
  const { baseUrl, profile, webhookUrl, pendingWebhooks, shelves } = props;
  return (
    <Page title="Payment sandbox" stylesheet={STYLESHEET_PATH}>
      <Ribbon />
      <main class="sheet">
        <h1>Payment sandbox</h1>
        <p class="lead">
          A stand-in for the payment service: the same three calls, hosted checkout pages and signed webhooks,
          with its own ledger. Whatever you pay here, you pay with play money.
        </p>
        <section aria-labelledby="connect">
          <h2 id="connect">Connect</h2>
          <dl class="details">
            <dt>Base address</dt>
            <dd class="code">{baseUrl}</dd>
            <dt>Test key</dt>
            <dd class="code">{SANDBOX_TEST_KEY}</dd>
            <dt>Live key</dt>
            <dd class="code">{SANDBOX_LIVE_KEY}</dd>
            <dt>Webhook secret</dt>
            <dd class="code">{props.webhookSecret}</dd>
            <dt>Webhooks to</dt>
            <dd class={webhookUrl === null ? undefined : 'code'}>{webhookUrl ?? 'not set'}</dd>
            <dt>Not yet arrived</dt>
            <dd>{pendingWebhooks}</dd>
          </dl>
        </section>
        <ProfileChoice name={props.profileName} />
        <FaultChoice faults={props.faults} />
        <ClockForm now={props.now} aheadMs={props.aheadMs} />
        <Balances balances={props.balances} />
        {shelves.map((shelf) => (
          <TransactionTable key={shelf.mode} {...shelf} />
        ))}
        <GiveBackForm paid={shelves.flatMap(({ rows }) => rows.filter(({ state }) => state === 'paid'))} />
        <OpenForm redirectUrl={props.shopUrl} />
        <section aria-labelledby="try">
          <h2 id="try">Try it</h2>
          {curlLines(baseUrl, SANDBOX_TEST_KEY, profile).map(({ title, command }) => (
            <figure key={title}>
              <figcaption>{title}</figcaption>
              <pre>
                <code>{command}</code>
              </pre>
            </figure>
          ))}
        </section>
      </main>
    </Page>
  );
}
