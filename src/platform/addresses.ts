import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

/**
 * Whether an address belongs to the public internet. An IPv4 address inside IPv6, translated or
 * mapped, is treated as IPv4.
 */
export function isPublicAddress(address: string): boolean {
  return isIP(address) !== 0 && ipaddr.process(address).range() === 'unicast';
}

/**
 * Whether a CIDR range includes public addresses. In a private range, both the first and the last
 * address are private.
 */
export function isPublicRange(cidr: string): boolean {
  const family = cidr.includes(':') ? ipaddr.IPv6 : ipaddr.IPv4;
  const ends = [family.networkAddressFromCIDR(cidr), family.broadcastAddressFromCIDR(cidr)];
  return ends.some((end) => isPublicAddress(end.toString()));
}

/** Some proxies add a port: `[2001:db8::1]:443` and `203.0.113.9:443`. */
const WITH_PORT = /^(?:\[(.*)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/;

/**
 * The client that a limit counts: an IPv4 address, or the /64 network of an IPv6 address, because a
 * client that has one address of such a network has all of them (RFC 6177). An IPv4 address in IPv6
 * notation counts as the IPv4 address. All texts that are not addresses count as one client.
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
 * The site that contains a network of {@link networkOf}. Internet providers assign a customer a /48
 * of IPv6, which is 65,536 networks (RFC 6177), so a limit per network would not limit that
 * customer. Null if the network is not IPv6.
 */
export function siteOf(network: string): string | null {
  if (!network.endsWith('/64')) return null;
  const address = network.slice(0, -'/64'.length);
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/48`).toString()}/48`;
}
