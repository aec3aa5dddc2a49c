import { isIPv4, isIPv6 } from 'node:net';

const GROUPS = 8;
const GROUPS_OF_ONE_CLIENT = 4;
/** As some proxies write them: `[2001:db8::1]:443` and `203.0.113.9:443`. */
const WITH_PORT = /^(?:\[(.*)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/;

/**
 * The client that a limit counts: an IPv4 address, or the /64 network of an IPv6 one, because a client
 * with one address of such a network has all of them (RFC 6177). An IPv4 address in IPv6 notation counts
 * as the IPv4 one. All texts that are no address count as one client.
 */
export function clientNetwork(address: string | undefined): string {
  const text = (address ?? '').toLowerCase();
  const [, bracketed, dotted] = WITH_PORT.exec(text) ?? [];
  const [plain = ''] = (bracketed ?? dotted ?? text).split('%');
  const mapped = plain.replace(/^(?:0*:)*ffff:(?=\d+\.)/, '');
  if (isIPv4(mapped)) return mapped;
  if (!isIPv6(plain)) return '';
  const [start = [], end] = plain.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  // The groups that "::" replaces; without it there are none.
  const zeros = end === undefined ? 0 : GROUPS - start.length - end.length;
  const groups = start.concat(Array.from({ length: zeros }, () => '0')).concat(end ?? []);
  const network = groups.slice(0, GROUPS_OF_ONE_CLIENT).map((group) => parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
