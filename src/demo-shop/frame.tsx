import type { ComponentChildren, VNode } from 'preact';
import type { Mode } from '../platform/mode.ts';
import { Page } from '../platform/html.tsx';
import { versioned } from './assets.ts';
import { currencyNames, LANGUAGES, useReader, type Language } from './language.tsx';
import type { Problem, ProblemWording } from '../platform/problem.ts';
import type { Words } from './words/en.ts';
import type { Identity, ShopText } from '../identity.ts';

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

type ProblemPageProps = { problem: Problem; branding: Branding };

/** What went wrong, for a shopper: a form that was rejected, an address that does not exist. */
export function ProblemPage({ problem, branding }: ProblemPageProps): VNode {
  const { language, words } = useReader();
  const { title, lines } = wordingOf(problem, words, language);
  return (
    <Frame title={title} branding={branding}>
      <div class="intro">
        <h1>{title}</h1>
        {lines.map((line) => (
          <p class="lead" key={line}>
            {line}
          </p>
        ))}
        {branding.homeUrl !== null && (
          <p>
            <a href={branding.homeUrl}>{words.back}</a>
          </p>
        )}
      </div>
    </Frame>
  );
}

function wordingOf({ type, options }: Problem, words: Words, language: Language): ProblemWording {
  const { problems, faults, shop } = words;
  const { about, errors = [] } = options;
  const [title = '', line = ''] = new Map(Object.entries(problems)).get(type) ?? problems.other;
  if (type === 'invalid-input') {
    // What no field of ours can send is for programmers.
    const known = errors.flatMap(
      ({ path }) => new Map(Object.entries(faults)).get(path.split('.')[0] ?? '') ?? [],
    );
    return { title, lines: [...new Set(known), line] };
  }
  if (type === 'currency-stopped' && about !== undefined)
    return { title, lines: [shop.stopped(currencyNames(about, language)), line] };
  return { title, lines: about === undefined ? [line] : [about, line] };
}

/** While `src/custom/identity.ts` does not say who the shop is. */
const DEMO_IDENTITY: Identity = { name: 'Three Markets', helpEmail: 'help@three-markets.example' };

/** The frame of every page that a shopper sees. */
export type Branding = Pick<Identity, 'name' | 'helpEmail' | 'ribbon' | 'footer' | 'afterPaying'> & {
  /** Null: the address of the shop is unknown, so there is no link to it. */
  homeUrl: string | null;
  /** Whether the pages say that this is a demo, which they do only where it is one. */
  isDemo: boolean;
  /** The address of a picture in place of the name; null: none. */
  logo: string | null;
  /** A style sheet that is loaded after ours; null: the look of the demo shop. */
  stylesheet: string | null;
};

/** Where the shop's own pictures and style sheet are served. */
const OWN_ASSETS = '/shop/own/';

/**
 * @param identity how the shop describes itself; null: it does not
 * @param hasShopPage whether the demo shop's page is served, so that the other pages may link to it
 */
export function brandingOf(identity: Identity | null, hasShopPage: boolean): Branding {
  const { homeUrl, logo, stylesheet, ...shown } = identity ?? DEMO_IDENTITY;
  return {
    ...shown,
    homeUrl: homeUrl ?? (hasShopPage ? '/shop' : null),
    isDemo: identity === null && hasShopPage,
    logo: logo === undefined ? null : OWN_ASSETS + logo,
    stylesheet: stylesheet === undefined ? null : OWN_ASSETS + stylesheet,
  };
}

/** A text of the shop in the language of a page. @returns null when there is none */
export function shopText(text: ShopText | undefined, language: string): string | null {
  if (typeof text !== 'object') return text ?? null;
  return text[language] ?? text.en ?? null;
}
