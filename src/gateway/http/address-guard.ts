import { BlockList, isIP, type LookupFunction } from 'node:net';
import { ClientError } from '../errors.ts';

/**
 * Addresses that no public host name leads to: this machine, private networks, link-local addresses (a
 * cloud's metadata service among them), shared, multicast and unassigned ones.
 */
const INNER_IPV4: readonly [network: string, prefix: number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
];

/** The blocks outside of public IPv6 (2000::/3, RFC 4291), and those in it that lead to IPv4 or nowhere. */
const INNER_IPV6: readonly [network: string, prefix: number][] = [
  ['::', 96],
  // IPv4 behind a translator of one's own: stateless (RFC 2765), and NAT64 with a local prefix (RFC 8215).
  ['::ffff:0:0:0', 96],
  ['64:ff9b:1::', 48],
  ['100::', 8],
  ['200::', 7],
  ['400::', 6],
  ['800::', 5],
  ['1000::', 4],
  // Protocol assignments, Teredo among them; 6to4; documentation.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['4000::', 2],
  ['8000::', 1],
];

/** NAT64 (RFC 6052): where only IPv6 is routed, public and inner IPv4 hosts alike have an address in here. */
const NAT64 = '64:ff9b::';

const inner = new BlockList();
for (const [network, prefix] of INNER_IPV6) inner.addSubnet(network, prefix, 'ipv6');
for (const [network, prefix] of INNER_IPV4) {
  inner.addSubnet(network, prefix, 'ipv4');
  inner.addSubnet(`${NAT64}${network}`, 96 + prefix, 'ipv6');
}

/**
 * Whether an IP address is reached without leaving our own networks. An IPv4 address in IPv6 notation
 * counts as the IPv4 one, and text that is no address counts as inner.
 */
export function isInnerAddress(address: string): boolean {
  const [plain = ''] = address.split('%');
  const family = isIP(plain);
  return family === 0 || inner.check(plain, family === 6 ? 'ipv6' : 'ipv4');
}

/**
 * A name lookup that refuses inner addresses: an attacker who redirects the service's name to one of our
 * own machines would receive the live key. One such address among good ones is refused, too.
 */
export function publicAddressesOnly(lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, address, family) => {
      const addresses = typeof address === 'string' ? [address] : address.map((one) => one.address);
      if (error === null && addresses.some(isInnerAddress)) {
        callback(new ClientError(`${hostname} is in a private network, and the key is live`, false), '');
        return;
      }
      callback(error, address, family);
    });
  };
}
