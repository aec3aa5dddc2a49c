import type { Mode } from './evidence.ts';
import { isPublicAddress } from '../platform/addresses.ts';
import { isIP } from 'node:net';

const MAX_LENGTH = 2_048;
/** The host names of this machine. */
export const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Returns the normalized URL if a shopper may be sent there, otherwise the reason for the operator.
 * Express' redirect passes `javascript:` and `//host` through unchanged, so the check is made here.
 * It requires https, an allowed host, no user name, and no address in a private network. A port
 * other than the default must be named in the list of hosts.
 * @param hosts if it is empty, test mode allows any public https host and this machine
 */
export function checkCheckoutUrl(
  text: string,
  mode: Mode,
  hosts: readonly string[],
): { url: string } | { fault: string } {
  if (text.length > MAX_LENGTH || /[\s\\]/.test(text) || !URL.canParse(text)) return { fault: 'is not a web address' };
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return { fault: 'contains a user name' };
  const isHere = LOOPBACK.has(url.hostname);
  if (mode === 'test' && isHere && /^https?:$/.test(url.protocol) && (hosts.length === 0 || isListed(url, hosts)))
    return { url: url.href };
  if (url.protocol !== 'https:') return { fault: 'is not https' };
  const bare = url.hostname.replace(/^\[|\]$/g, '');
  if (isHere || (isIP(bare) !== 0 && !isPublicAddress(bare))) return { fault: 'leads to a private network' };
  if (hosts.length === 0 ? mode === 'live' : !isListed(url, hosts))
    return { fault: `has the host ${url.host.slice(0, 253)}, which is not in CHECKOUT_HOSTS` };
  if (url.port !== '' && !hosts.includes(url.host)) return { fault: 'has a port that is not in CHECKOUT_HOSTS' };
  return { url: url.href };
}

function isListed(url: URL, hosts: readonly string[]): boolean {
  return hosts.includes(url.hostname) || hosts.includes(url.host);
}
