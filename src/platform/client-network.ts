import { isIPv4, isIPv6 } from 'node:net';

const GROUPS = 8;
const GROUPS_OF_ONE_CLIENT = 4;

/**
 * Whom a limit counts: an IPv4 address, or the /64 network of an IPv6 one, because whoever has one address of such a
 * network has all of them (RFC 6177). An IPv4 address written as IPv6 is the IPv4 one.
 */
export function clientNetwork(address: string | undefined): string {
  const [plain = ''] = (address ?? '').toLowerCase().split('%');
  const mapped = plain.replace(/^(?:0*:)*ffff:(?=\d+\.)/, '');
  if (isIPv4(mapped) || !isIPv6(plain)) return mapped;
  const [start = [], end] = plain.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  // What "::" stands for; without one nothing is left out.
  const zeros = end === undefined ? 0 : GROUPS - start.length - end.length;
  const groups = start.concat(Array.from({ length: zeros }, () => '0')).concat(end ?? []);
  const network = groups.slice(0, GROUPS_OF_ONE_CLIENT).map((group) => parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
