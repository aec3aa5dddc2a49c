import type { ComponentChildren, VNode } from 'preact';
import type { Mode } from '../platform/mode.ts';
import { Page } from '../platform/html.tsx';
import { versioned } from './assets.ts';
import type { Branding } from './branding.ts';

export type FrameProps = {
  title: string;
  branding: Branding;
  /** File name of the page's script. */
  script?: string;
  refreshSec?: number;
  /** Undefined where it is not known whether the key is a test key: then the ribbon promises nothing. */
  mode?: Mode | undefined;
  children: ComponentChildren;
};

/** The frame of every page that a shopper sees. */
export function Frame({ title, branding, script, refreshSec, mode, children }: FrameProps): VNode {
  const { name, homeUrl, isDemo, ribbon, stylesheet } = branding;
  const footer = isDemo
    ? `${name} sells nothing: it shows how a shop uses a hosted checkout.`
    : branding.footer;
  return (
    <Page
      title={`${title} · ${name}`}
      stylesheet={versioned('/shop/assets/shop.css')}
      {...(stylesheet !== null && { ownStylesheet: stylesheet })}
      {...(script !== undefined && { script: versioned(`/shop/assets/${script}`) })}
      {...(refreshSec !== undefined && { refreshSec })}
    >
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="masthead">
        <p class="wordmark">{homeUrl === null ? name : <a href={homeUrl}>{name}</a>}</p>
        {isDemo ? (
          <p class="ribbon">
            <strong>Demo shop</strong> · <a href="/shop#demo">{moneyMoved(mode)}</a>
          </p>
        ) : (
          ribbon !== undefined && <p class="ribbon">{ribbon}</p>
        )}
      </header>
      <main id="content">{children}</main>
      {footer !== undefined && (
        <footer class="colophon">
          <p>{footer}</p>
        </footer>
      )}
    </Page>
  );
}

/** With a live key the demo shop takes real money, and then no page may say otherwise. */
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
