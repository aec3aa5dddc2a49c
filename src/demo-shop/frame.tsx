import type { ComponentChildren, VNode } from 'preact';
import type { Mode } from '../platform/mode.ts';
import { Page } from '../platform/html.tsx';
import { versioned } from './assets.ts';
import { shopText, type Branding } from './branding.ts';
import { LANGUAGES, useReader } from './language.tsx';

type FrameProps = {
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
  const { language, words } = useReader();
  const { name, stylesheet, isDemo } = branding;
  const footer = isDemo ? words.demo.footer(name) : shopText(branding.footer, language);
  return (
    <Page
      title={`${title} · ${name}`}
      lang={language}
      stylesheet={versioned('/shop/assets/shop.css')}
      {...(stylesheet !== null && { ownStylesheet: stylesheet })}
      {...(script !== undefined && { script: versioned(`/shop/assets/${script}`) })}
      {...(refreshSec !== undefined && { refreshSec })}
    >
      <a class="skip" href="#content">
        {words.skip}
      </a>
      <Masthead branding={branding} mode={mode} hasLanguages={script !== undefined} />
      <main id="content" data-words={script && JSON.stringify(words.script)}>
        {children}
      </main>
      {footer !== null && (
        <footer class="colophon">
          <p>{footer}</p>
        </footer>
      )}
    </Page>
  );
}

// What a form was answered with cannot be asked for again.
type MastheadProps = { branding: Branding; mode: Mode | undefined; hasLanguages: boolean };

function Masthead({ branding, mode, hasLanguages }: MastheadProps): VNode {
  const { language, words } = useReader();
  const { name, homeUrl, logo, isDemo, ribbon } = branding;
  const own = shopText(ribbon, language);
  const sign = logo === null ? name : <img src={logo} alt={name} />;
  return (
    <header class="masthead">
      <p class="wordmark">{homeUrl === null ? sign : <a href={homeUrl}>{sign}</a>}</p>
      {isDemo ? (
        <p class="ribbon">
          <strong>{words.demo.ribbon}</strong> ·{' '}
          {/* With a live key the demo shop takes real money, and then no page may say otherwise. */}
          <a href="/shop#demo">{words.demo.money[mode ?? 'unknown']}</a>
        </p>
      ) : (
        own !== null && <p class="ribbon">{own}</p>
      )}
      {hasLanguages && <Languages />}
    </header>
  );
}

/** The same page in the other languages. */
function Languages(): VNode {
  const { language } = useReader();
  const others = Object.entries(LANGUAGES).filter(([code]) => code !== language);
  return (
    <p class="languages">
      {others.map(([code, { name }]) => (
        <a key={code} href={`?lang=${code}`} lang={code} hreflang={code}>
          {name}
        </a>
      ))}
    </p>
  );
}
