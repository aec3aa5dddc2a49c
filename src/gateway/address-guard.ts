import { BlockList, type LookupFunction } from 'node:net';

/**
 * Addresses that no public host name leads to: this machine, private networks, link-local ones (the metadata service
 * of a cloud among them), shared, multicast and unassigned ones.
 */
const INNER_NETWORKS: readonly [string, number, 'ipv4' | 'ipv6'][] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  ['::', 127, 'ipv6'],
  ['64:ff9b:1::', 48, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
];

const inner = new BlockList();
for (const [network, prefix, family] of INNER_NETWORKS) inner.addSubnet(network, prefix, family);

/** Whether an IP address is reached without leaving our own networks. An IPv4 address written as IPv6 counts as itself. */
export function isInnerAddress(address: string): boolean {
  return inner.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
}

/**
 * A name lookup that refuses inner addresses: whoever bends the service's name to one of our own machines would be
 * handed the live key. One such address among good ones is refused, too.
 */
export function publicAddressesOnly(lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, address, family) => {
      const addresses = typeof address === 'string' ? [address] : address.map((one) => one.address);
      if (error === null && addresses.some(isInnerAddress)) {
        callback(new Error(`${hostname} leads to an address of a private network`), '');
        return;
      }
      callback(error, address, family);
    });
  };
}
