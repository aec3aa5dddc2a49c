import type { Mode } from '../platform/mode.ts';
import { isLoopback } from '../platform/config-fields.ts';

/** Where a shopper may be sent. With no `hosts`: in test mode any https host, and http on loopback. */
export type CheckoutUrlRule = { mode: Mode; hosts: readonly string[] };

const MAX_LENGTH = 2_048;

/**
 * The address, normalised, if a shopper may be sent there; else null. The framework's redirect passes
 * `javascript:` and `//host` through unchanged, so the check is made here: https, an allowed host, no
 * user name, and no port but the default one, unless the list of hosts names it.
 */
export function acceptCheckoutUrl(text: string, { mode, hosts }: CheckoutUrlRule): string | null {
  if (text.length > MAX_LENGTH || /[\s\\]/.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return null;
  const onThisMachine = mode === 'test' && isLoopback(url) && /^https?:$/.test(url.protocol);
  const listed =
    hosts.length === 0 ? mode === 'test' : hosts.includes(url.hostname) || hosts.includes(url.host);
  const isPublic = url.protocol === 'https:' && (url.port === '' || hosts.includes(url.host));
  return listed && (isPublic || onThisMachine) ? url.href : null;
}

const MAX_HOST = 253;

/**
 * Tells the operator that {@link acceptCheckoutUrl} refuses an address because its host is not listed;
 * null: the host is not the reason. A host is no secret, and `URL` has made it printable.
 */
export function unlistedHostIn(text: string, { mode, hosts }: CheckoutUrlRule): string | null {
  const hostname = URL.canParse(text) ? new URL(text).hostname.slice(0, MAX_HOST) : '';
  if (hostname === '' || (hosts.length === 0 ? mode === 'test' : hosts.includes(hostname))) return null;
  return `the service's checkout address has the host ${hostname}, which is not in CHECKOUT_HOSTS`;
}
