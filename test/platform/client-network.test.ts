import { expect, test } from '@jest/globals';
import { clientNetwork } from '../../src/platform/rate-limits.ts';

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['0:0:0:0:0:ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8:0:7:1:2:3:4', '2001:db8:0:7::/64'],
  ['2001:0DB8:0000:0007::ffff', '2001:db8:0:7::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:0:7::', '2001:db8:0:7::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  // B6: as proxies write them that another machine runs.
  ['203.0.113.9:54321', '203.0.113.9'],
  ['[2001:db8:0:7::1]:443', '2001:db8:0:7::/64'],
  ['[2001:db8:0:7::1]', '2001:db8:0:7::/64'],
  ['unknown', ''],
  ['_hidden', ''],
  ['203.0.113.9:54321:1', ''],
  ['x'.repeat(10_000), ''],
  ['', ''],
  [undefined, ''],
])('a limit counts %s as %s', (address, network) => {
  expect(clientNetwork(address)).toBe(network);
});
