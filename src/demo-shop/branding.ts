import type { Identity, ShopText } from '../identity.ts';

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
