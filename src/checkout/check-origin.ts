import type { RequestHandler } from 'express';
import { Problem } from '../platform/problem.ts';

/**
 * Refuses what a browser sends from a site that is neither ours nor a storefront on the list: a stranger's page must not
 * make its visitors start checkouts. CORS does not prevent that, a plain form needs no permission. Whoever sends no word
 * of it (servers, old browsers) is let in: there is no cookie at this door that a stranger could borrow.
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
 * The browser's own word counts before the origin: no page can forge it, a server may be reached under several names,
 * and our pages send "null" for an origin in plain forms, as their referrer policy asks for. "none" is a person's doing.
 */
function isOurs(origin: string | undefined, site: string | undefined): boolean {
  if (site !== undefined) return site === 'same-origin' || (site === 'none' && origin === undefined);
  return origin === undefined;
}
