import { describe, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { spawn } from 'node:child_process';
import { isInnerAddress } from '../../src/gateway/http/address-guard.ts';
import { ClientError } from '../../src/gateway/errors.ts';
import { createClient, type Client } from '../../src/gateway/http/client.ts';
import { SecretKey } from '../../src/gateway/secret-key.ts';

const LIMITS = { headersMs: 4_000, totalMs: 5_000, maxBytes: 1_024 };

/** The call's failure, or the status that it was answered with. */
async function call(client: Client): Promise<ClientError | number> {
  const result = await client.call({ method: 'POST', path: '/', body: '{}', ...LIMITS }).then(
    ({ status }) => status,
    (error: unknown) => error as ClientError,
  );
  await client.close();
  return result;
}

const failing =
  (code: string): LookupFunction =>
  (_hostname, _options, callback) => {
    callback(Object.assign(new Error(code), { code }), '');
  };

/** A name server that gives these addresses for every name. */
const answering =
  (...addresses: string[]): LookupFunction =>
  (_hostname, { all }, callback) => {
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    if (all === true) callback(null, found);
    else callback(null, found[0]?.address ?? '', found[0]?.family);
  };

test.each(['ENOTFOUND', 'EAI_AGAIN', 'ESERVFAIL', 'ETIMEOUT'])(
  'a name that is not found (%s): nothing was sent',
  async (code) => {
    const url = new URL('http://pay.example.com');
    expect(await call(createClient(url, new SecretKey('sk_test_x'), 1, failing(code)))).toMatchObject({
      sent: false,
    });
  },
);

test('a host that does not take the connection: given up in time, and nothing was sent', async () => {
  // A listener that accepts nobody, and whose queue is full.
  const holder = spawn('python3', [
    '-c',
    `import socket, time
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(0)
held = [socket.socket() for _ in range(4)]
for one in held:
    one.setblocking(False)
    one.connect_ex(s.getsockname())
print(s.getsockname()[1], flush=True)
time.sleep(60)`,
  ]);
  const port = await new Promise<string>((resolve) =>
    holder.stdout.once('data', (text: Buffer) => {
      resolve(text.toString().trim());
    }),
  );
  const result = await call(createClient(new URL(`http://127.0.0.1:${port}`), new SecretKey('sk_test_x'), 1));
  holder.kill();
  expect(result).toMatchObject({ sent: false, cause: { code: 'UND_ERR_CONNECT_TIMEOUT' } });
});

describe('a public name that leads to a private network', () => {
  /** A service on this machine that counts who connects. */
  async function withService(act: (port: number) => Promise<void>): Promise<number> {
    let connections = 0;
    const server = createServer((_req, res) => res.end('{}'));
    server.on('connection', () => (connections += 1));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await act((server.address() as AddressInfo).port);
    await new Promise((resolve) => server.close(resolve));
    return connections;
  }
  const to = (port: number, key: string, lookup: LookupFunction, host = 'pay.example.com') =>
    call(createClient(new URL(`http://${host}:${port}`), new SecretKey(key), 1, lookup));

  test.each([
    ['this machine', ['127.0.0.1']],
    ['this machine, among others', ['203.0.113.7', '127.0.0.1']],
    ['this machine, as IPv6 writes it', ['::ffff:127.0.0.1']],
  ])('is refused with a live key: %s', async (_name, addresses) => {
    const connections = await withService(async (port) => {
      expect(await to(port, 'sk_live_x', answering(...addresses))).toMatchObject({
        sent: false,
        message: 'pay.example.com is in a private network, and the key is live',
      });
    });
    expect(connections).toBe(0);
  });
  test('is followed with a test key, and so is the name of this machine', async () => {
    const connections = await withService(async (port) => {
      expect(await to(port, 'sk_test_x', answering('127.0.0.1'))).toBe(200);
      expect(await to(port, 'sk_live_x', answering('127.0.0.1'), 'localhost')).toBe(200);
    });
    expect(connections).toBe(2);
  });

  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.1.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:10.0.0.1',
    'fc00::1',
    'fd12::1',
    'fe80::1',
    'ff02::1',
  ])('%s is inner', (address) => {
    expect(isInnerAddress(address)).toBe(true);
  });
  test.each([
    [
      'NAT64',
      [
        '64:ff9b::127.0.0.1',
        '64:ff9b::7f00:1',
        '64:ff9b::a9fe:a9fe',
        '64:ff9b::10.1.2.3',
        '64:ff9b::c0a8:101',
        '64:ff9b::',
      ],
    ],
    ['NAT64 with a prefix of one’s own', ['64:ff9b:1::1', '64:ff9b:1:ffff::808:808']],
    ['6to4', ['2002:7f00:1::', '2002:a00:1::1', '2002:c0a8:101::1', '2002:808:808::1']],
    ['6to4 by its relay', ['192.88.99.1']],
    ['Teredo', ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2']],
    [
      'IPv4 in other writings',
      [
        '::127.0.0.1',
        '::a00:1',
        '::ffff:7f00:1',
        '::ffff:0:127.0.0.1',
        '0:0:0:0:0:ffff:a00:1',
        '::FFFF:C0A8:0101',
      ],
    ],
    [
      'shared, for benchmarks, for protocols',
      ['100.127.255.255', '198.18.0.1', '198.19.255.255', '192.0.0.8', '2001:2::1'],
    ],
    [
      'not public by their block',
      ['100::1', '400::1', '4000::1', '5f00::1', 'fec0::1', 'fe80::1%eth0', 'e000::1'],
    ],
    ['documentation', ['2001:db8::1', '3fff::1']],
    ['no address', ['', 'localhost', '10.0.0.1:80', '127.1']],
  ])('B8: %s is inner', (_name, addresses) => {
    expect(addresses.filter((address) => !isInnerAddress(address))).toEqual([]);
  });
  test.each([
    '64:ff9b::1.1.1.1',
    '64:ff9b::808:808',
    '64:ff9b::192.89.0.1',
    '2001:4860:4860::8888',
    '2a00:1450::1',
    '2003::1',
    '198.17.255.255',
    '198.20.0.1',
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.1',
    '172.15.0.1',
    '172.32.0.1',
    '192.167.1.1',
    '203.0.113.7',
    '2606:4700::1',
    '::ffff:1.1.1.1',
  ])('%s is not', (address) => {
    expect(isInnerAddress(address)).toBe(false);
  });
});
