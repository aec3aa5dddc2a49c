import type { Mode } from './evidence.ts';
import { isPublicAddress } from '../platform/addresses.ts';
import { isIP } from 'node:net';

const MAX_LENGTH = 2_048;
/** This machine. */
export const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * The address, normalised, if a shopper may be sent there; else why not, for the operator. The
 * framework's redirect passes `javascript:` and `//host` through unchanged, so the check is made
 * here: https, an allowed host, no user name, no address inside a network, and no port but the
 * default one unless the list of hosts names it.
 * @param hosts empty: in test mode any public https host, and this machine
 */
export function checkCheckoutUrl(
  text: string,
  mode: Mode,
  hosts: readonly string[],
): { url: string } | { fault: string } {
  if (text.length > MAX_LENGTH || /[\s\\]/.test(text) || !URL.canParse(text)) return { fault: 'is no web address' };
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return { fault: 'has a user name in it' };
  const isHere = LOOPBACK.has(url.hostname);
  if (mode === 'test' && isHere && /^https?:$/.test(url.protocol) && (hosts.length === 0 || isListed(url, hosts)))
    return { url: url.href };
  if (url.protocol !== 'https:') return { fault: 'is not https' };
  const bare = url.hostname.replace(/^\[|\]$/g, '');
  if (isHere || (isIP(bare) !== 0 && !isPublicAddress(bare))) return { fault: 'leads into a private network' };
  if (hosts.length === 0 ? mode === 'live' : !isListed(url, hosts))
    return { fault: `has the host ${url.host.slice(0, 253)}, which is not in CHECKOUT_HOSTS` };
  if (url.port !== '' && !hosts.includes(url.host)) return { fault: 'has a port that CHECKOUT_HOSTS does not name' };
  return { url: url.href };
}

function isListed(url: URL, hosts: readonly string[]): boolean {
  return hosts.includes(url.hostname) || hosts.includes(url.host);
}
