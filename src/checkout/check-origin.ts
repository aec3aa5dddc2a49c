import type { RequestHandler } from 'express';
import { Problem } from '../platform/problem.ts';

/**
 * Refuses what a browser sends from a site that is neither ours nor a storefront on the list: a
 * stranger's page must not make its visitors start checkouts. CORS does not prevent that, because a
 * plain form needs no permission. Requests without Origin and Sec-Fetch-Site (servers, old browsers) are
 * allowed: there is no cookie on this route that another site could borrow.
 * @param ownOrigin as browsers reach us, from configuration
 * @throws {Problem} 403
 */
export function refuseForeignOrigins(
  ownOrigin: () => string,
  storefronts: readonly string[],
): RequestHandler {
  return (req, _res, next) => {
    const [origin, site] = [req.get('origin'), req.get('sec-fetch-site')];
    const isListed = origin !== undefined && (origin === ownOrigin() || storefronts.includes(origin));
    if (!isListed && !isOurs(origin, site)) throw new Problem('foreign-origin', { detail: HOW_TO_ALLOW });
    next();
  };
}

const HOW_TO_ALLOW =
  'Checkouts start from our own pages, or from a storefront that STOREFRONT_ORIGINS lists.';

/**
 * Sec-Fetch-Site counts before Origin: no page can forge it, a server may be reached under several
 * names, and a page with a stricter referrer policy than ours sends the origin "null" in plain forms. The
 * site is "none" when a person opened the address.
 */
function isOurs(origin: string | undefined, site: string | undefined): boolean {
  if (site !== undefined) return site === 'same-origin' || (site === 'none' && origin === undefined);
  return origin === undefined;
}
