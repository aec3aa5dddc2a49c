import type { VNode } from 'preact';

import { Page } from '../../../src/platform/html.tsx';
import { Ribbon } from './ribbon.tsx';
import { STYLESHEET_PATH } from './stylesheet.ts';

export function NotFoundPage(): VNode {
  return (
    <Page title="Not found · Sandbox" stylesheet={STYLESHEET_PATH}>
      <Ribbon />
      <main class="card">
        <h1>Nothing here</h1>
        <p>
          No checkout has this address. The shop makes a new one for each payment; after a reset of the
          sandbox the old ones are gone.
        </p>
        <p>
          <a href="/">All transactions of this sandbox</a>
        </p>
      </main>
    </Page>
  );
}
