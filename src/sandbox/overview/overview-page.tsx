import type { VNode } from 'preact';

import { Page } from '../../platform/html.tsx';
import { curlLines } from '../curl-lines.ts';
import { SANDBOX_LIVE_KEY, SANDBOX_TEST_KEY } from '../keys.ts';
import { Ribbon } from '../pages/ribbon.tsx';
import { STYLESHEET_PATH } from '../pages/stylesheet.ts';
import { TransactionTable, type Shelf } from './transaction-table.tsx';

export type OverviewProps = {
  baseUrl: string;
  webhookUrl: string | null;
  pendingWebhooks: number;
  shelves: Shelf[];
};

/** What the sandbox is, how to talk to it, and all it knows. */
export function OverviewPage({ baseUrl, webhookUrl, pendingWebhooks, shelves }: OverviewProps): VNode {
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
            <dt>Webhooks to</dt>
            <dd class={webhookUrl === null ? undefined : 'code'}>{webhookUrl ?? 'nobody yet'}</dd>
            <dt>Not yet arrived</dt>
            <dd>{pendingWebhooks}</dd>
          </dl>
        </section>
        {shelves.map((shelf) => (
          <TransactionTable key={shelf.mode} {...shelf} />
        ))}
        <section aria-labelledby="try">
          <h2 id="try">Try it</h2>
          {curlLines(baseUrl, SANDBOX_TEST_KEY).map(({ title, command }) => (
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
