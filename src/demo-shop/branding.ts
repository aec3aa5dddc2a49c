import { DEMO_IDENTITY, type Identity } from '../extensions.ts';

/** The frame of every page that a shopper sees. */
export type Branding = Pick<Identity, 'name' | 'helpEmail' | 'ribbon' | 'footer'> & {
  /** Null: the address of the shop is unknown, so there is no link to it. */
  homeUrl: string | null;
  /** Whether the pages say that this is a demo, which they do only where it is one. */
  isDemo: boolean;
  /** A style sheet that is loaded after ours; null: the look of the demo shop. */
  stylesheet: string | null;
};

/** Where the shop's own pictures and style sheet are served. */
export const OWN_ASSETS = '/shop/own/';

/**
 * @param identity how the shop describes itself; null: it does not
 * @param hasShopPage whether the demo shop's page is served, so that the other pages may link to it
 */
export function brandingOf(identity: Identity | null, hasShopPage: boolean): Branding {
  const { name, helpEmail, ribbon, footer, homeUrl, stylesheet } = identity ?? DEMO_IDENTITY;
  return {
    ...{ name, helpEmail, ...(ribbon !== undefined && { ribbon }), ...(footer !== undefined && { footer }) },
    homeUrl: homeUrl ?? (hasShopPage ? '/shop' : null),
    isDemo: identity === null && hasShopPage,
    stylesheet: stylesheet === undefined ? null : OWN_ASSETS + stylesheet,
  };
}
