import { invalidField } from '../platform/problem.ts';

/** A landing page that a checkout names must be one of the configured ones: else a stranger could choose it. */
export function listedLanding(given: string | undefined, landings: readonly URL[]): string | undefined {
  if (given === undefined) return undefined;
  const found = landings.find(({ href }) => URL.canParse(given) && href === new URL(given).href);
  if (found === undefined) throw invalidField('returnUrl', 'must be one of the addresses in STOREFRONT_RETURN_URL');
  return found.href;
}
