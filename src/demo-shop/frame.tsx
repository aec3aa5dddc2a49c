import type { ComponentChildren, VNode } from 'preact';
import type { Mode } from '../platform/mode.ts';
import { Page } from '../platform/html.tsx';
import { versioned } from './assets.ts';
import { SHOP } from './identity.ts';

export type FrameProps = {
  title: string;
  /** File name of the page's script. */
  script?: string;
  refreshSec?: number;
  /** Undefined where nobody said whether the key is a test key: then the ribbon promises nothing. */
  mode?: Mode | undefined;
  children: ComponentChildren;
};

/** What every page of the demo shop has around it. */
export function Frame({ title, script, refreshSec, mode, children }: FrameProps): VNode {
  return (
    <Page
      title={`${title} · ${SHOP.name}`}
      stylesheet={versioned('/shop/assets/shop.css')}
      {...(script !== undefined && { script: versioned(`/shop/assets/${script}`) })}
      {...(refreshSec !== undefined && { refreshSec })}
    >
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="masthead">
        <p class="wordmark">
          <a href="/shop">{SHOP.name}</a>
        </p>
        <p class="ribbon">
          <strong>Demo shop</strong> · <a href="/shop#demo">{moneyMoved(mode)}</a>
        </p>
      </header>
      <main id="content">{children}</main>
      <footer class="colophon">
        <p>{SHOP.name} sells nothing: it shows how a shop uses a hosted checkout.</p>
      </footer>
    </Page>
  );
}

/** A live key behind the demo shop takes real money, and then no page may say otherwise. */
function moneyMoved(mode: Mode | undefined): string {
  switch (mode) {
    case 'test':
      return 'no real money';
    case 'live':
      return 'live key: payments take real money';
    case undefined:
      return 'no real money with a test key';
  }
}
