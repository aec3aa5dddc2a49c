import type { Identity } from '../extensions.ts';

/** Who the shop is while `src/custom/identity.ts` does not say it. */
const DEMO_IDENTITY: Identity = { name: 'Three Markets', helpEmail: 'help@three-markets.example' };

/** What every page that a shopper sees has around it. */
export type Branding = Pick<Identity, 'name' | 'helpEmail' | 'ribbon' | 'footer'> & {
  /** Null: the shop has no page that we know of, so nothing leads there. */
  homeUrl: string | null;
  /** Whether the pages say that this is a demo: only where it is one. */
  isDemo: boolean;
  /** Loaded after ours; null: the demo shop's look. */
  stylesheet: string | null;
};

/** Where the shop's own pictures and style sheet are served. */
export const OWN_ASSETS = '/shop/own/';

/**
 * @param identity what the shop says of itself; null: nothing
 * @param hasShopPage whether the demo shop's page is served, so that the other pages may lead there
 */
export function brandingOf(identity: Identity | null, hasShopPage: boolean): Branding {
  const { homeUrl, stylesheet, ...words } = identity ?? DEMO_IDENTITY;
  return {
    ...words,
    homeUrl: homeUrl ?? (hasShopPage ? '/shop' : null),
    isDemo: identity === null && hasShopPage,
    stylesheet: stylesheet === undefined ? null : OWN_ASSETS + stylesheet,
  };
}
