import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

/**
 * Whether an address is one of the public internet. IPv4 inside IPv6, translated or not, is judged
 * as IPv4.
 */
export function isPublicAddress(address: string): boolean {
  return isIP(address) !== 0 && ipaddr.process(address).range() === 'unicast';
}

/**
 * Whether a CIDR range includes public addresses: private ranges have private addresses at both
 * ends.
 */
export function isPublicRange(cidr: string): boolean {
  const family = cidr.includes(':') ? ipaddr.IPv6 : ipaddr.IPv4;
  const ends = [family.networkAddressFromCIDR(cidr), family.broadcastAddressFromCIDR(cidr)];
  return ends.some((end) => isPublicAddress(end.toString()));
}

/** As some proxies write them: `[2001:db8::1]:443` and `203.0.113.9:443`. */
const WITH_PORT = /^(?:\[(.*)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/;

/**
 * The client that a limit counts: an IPv4 address, or the /64 network of an IPv6 one, because a
 * client with one address of such a network has all of them (RFC 6177). An IPv4 address in IPv6
 * notation counts as the IPv4 one. All texts that are no address count as one client.
 */
export function networkOf(ip: string | undefined): string {
  const [, bracketed, dotted] = WITH_PORT.exec(ip ?? '') ?? [];
  const [address = ''] = (bracketed ?? dotted ?? ip ?? '').split('%');
  if (isIP(address) === 0) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`).toString()}/64`;
}

/**
 * The site that a network of {@link networkOf} belongs to. Providers give one customer a /48 of
 * IPv6, which is 65,536 networks (RFC 6177), so a limit for each network alone would not limit that
 * customer. Null: the network is not IPv6.
 */
export function siteOf(network: string): string | null {
  if (!network.endsWith('/64')) return null;
  const address = network.slice(0, -'/64'.length);
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/48`).toString()}/48`;
}
