import { afterEach, describe, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createGateway, type Gateway } from '../../src/gateway/gateway.ts';
import { SecretKey } from '../../src/gateway/secret-key.ts';
import { createLogger } from '../../src/platform/logger.ts';
import type { VerifyDeadline } from '../../src/gateway/verify.ts';
import { defaultDialect } from '../support/dialect.ts';
import { asReference } from '../support/ids.ts';
import { answerText, startWireService, type WireBehaviour, type WireService } from '../support/wire.ts';

let service: WireService;
let gateway: Gateway;
afterEach(async () => {
  await service.close();
  await gateway.close();
});

async function start(behaviour: WireBehaviour): Promise<void> {
  service = await startWireService(behaviour);
  gateway = gatewayTo(service.url);
}
const gatewayTo = (url: URL): Gateway =>
  createGateway({
    url,
    key: new SecretKey('sk_test_c4n4ry'),
    dialect: defaultDialect,
    checkoutHosts: [],
    concurrency: 4,
    logger: createLogger('silent'),
  });
const initialize = async (): Promise<string> => {
  const { outcome } = await gateway.initialize({
    email: 'ada@example.com',
    money: { amount: 2_500n, currency: 'NGN' },
    reference: asReference('R'.repeat(24)),
    redirectUrl: 'http://localhost:3000/checkout/return/R',
  });
  return outcome;
};
const verify = (deadline?: VerifyDeadline): Promise<string> =>
  gateway.verify(asReference('R'.repeat(24)), 'NGN', 'background', deadline).then(
    ({ kind }) => kind,
    (error: unknown) => (error as Error).name,
  );

const OPENED = '{"data":"https://pay.example.com/c/1"}';
const lengthOf = (body: string): string => `content-length: ${Buffer.byteLength(body)}`;
const reset = (socket: Socket): void => {
  socket.resetAndDestroy();
};

test('the stand-in speaks HTTP well enough to open a checkout', async () => {
  await start({ whole: (socket) => socket.write(answerText(OPENED, [lengthOf(OPENED)])) });
  expect(await initialize()).toBe('opened');
  expect(service.requests).toHaveLength(1);
});

describe('bytes that are no answer: initialize is in doubt, verify is asked again later, and nothing is sent twice', () => {
  test.each<[string, string]>([
    ['two lengths', answerText(OPENED, [lengthOf(OPENED), 'content-length: 5'])],
    ['a length and chunks', answerText(OPENED, [lengthOf(OPENED), 'transfer-encoding: chunked'])],
    ['lines that end in LF alone', answerText(OPENED, [lengthOf(OPENED)]).replaceAll('\r\n', '\n')],
    ['garbage', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['a chunk that breaks off', answerText('ff\r\n{"data":', ['transfer-encoding: chunked'])],
    ['a chunk without a size', answerText(`zz\r\n${OPENED}\r\n0\r\n\r\n`, ['transfer-encoding: chunked'])],
    ['a body shorter than announced', answerText(OPENED, ['content-length: 500'])],
    ['a header without end', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(40_000)}`],
    ['many headers', `HTTP/1.1 200 OK\r\n${'x-more: and more\r\n'.repeat(3_000)}`],
    ['an interim answer and no other', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['a change of protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
  ])('%s', async (_name, bytes) => {
    await start({ whole: (socket) => socket.end(bytes) });
    expect(await initialize()).toBe('ambiguous');
    expect(service.requests).toHaveLength(1);
    expect(await verify()).toBe('GatewayUnavailable');
    expect(service.requests).toHaveLength(2);
  });
});

describe('connections that break', () => {
  test('refused: nothing was sent', async () => {
    await start({});
    await service.close();
    expect(await initialize()).toBe('not-sent');
    expect(await verify()).toBe('GatewayUnavailable');
  });

  test('reset before the request: nothing arrived, and if that is certain it is said', async () => {
    await start({ connected: reset });
    expect(['not-sent', 'ambiguous']).toContain(await initialize());
    expect(service.requests).toHaveLength(0);
  });

  // The stand-in has accepted: what of the request is in its buffers, nobody on our side can know.
  test.each<[string, WireBehaviour, number]>([
    ['reset within the request', { begun: reset }, 1],
    ['reset behind the request', { whole: reset }, 1],
    ['closed behind the request', { whole: (socket) => socket.end() }, 1],
    [
      'closed within the headers of the answer',
      { whole: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-ty') },
      1,
    ],
    [
      'closed within the body of the answer',
      { whole: (socket) => socket.end(answerText('{"data":"https://pay', [lengthOf(OPENED)])) },
      1,
    ],
    [
      'reset within the body of the answer',
      {
        whole: (socket) => {
          socket.write(answerText('{"data":"https://pay', [lengthOf(OPENED)]));
          setTimeout(() => {
            reset(socket);
          }, 30);
        },
      },
      1,
    ],
  ])('%s: in doubt, and sent once', async (_name, behaviour, atMost) => {
    await start(behaviour);
    expect(await initialize()).toBe('ambiguous');
    expect(service.sockets.length).toBe(1);
    expect(service.requests.length).toBeLessThanOrEqual(atMost);
  });

  test('half open: the other side is gone and says nothing, until the deadline', async () => {
    await start({ connected: (socket) => socket.pause() });
    expect(await verify({ headersMs: 100, totalMs: 200 })).toBe('GatewayUnavailable');
    expect(service.sockets.length).toBe(1);
  });

  test.each<[string, (socket: Socket) => void]>([
    ['reset', reset],
    ['closed', (socket) => socket.end()],
  ])(
    'a kept connection that is %s when the next request comes: in doubt, and not repeated',
    async (_name, end) => {
      await start({
        whole: (socket, count) => {
          if (count === 1) socket.write(answerText('{}', [lengthOf('{}')], '404 Not Found'));
          else end(socket);
        },
      });
      expect(await verify()).toBe('not-found');
      // The connection is free again only after its answer has been handed over.
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(await initialize()).toBe('ambiguous');
      expect(service.requests.map((text) => text.split(' ')[0])).toEqual(['GET', 'POST']);
      expect(service.sockets.length).toBe(1);
    },
  );
});

describe('an answer that takes its time is cut at the deadline', () => {
  const drip = (bytes: string, everyMs: number) => (socket: Socket) => {
    let at = 0;
    const timer = setInterval(() => socket.write(bytes[at++ % bytes.length] ?? ''), everyMs);
    socket.on('close', () => {
      clearInterval(timer);
    });
  };
  test.each<[string, WireBehaviour]>([
    ['no headers at all', {}],
    ['headers that drip', { whole: drip('HTTP/1.1 200 OK\r\nx-slow: sssssssssssssssssssssss', 20) }],
    [
      'headers that never end',
      {
        whole: (socket) => {
          socket.write('HTTP/1.1 200 OK\r\n');
          drip('x: y\r\n', 5)(socket);
        },
      },
    ],
    [
      'a body that drips',
      {
        whole: (socket) => {
          socket.write(answerText('', ['content-length: 60000']));
          drip(' ', 20)(socket);
        },
      },
    ],
  ])('%s', async (_name, behaviour) => {
    await start(behaviour);
    expect(await verify({ headersMs: 200, totalMs: 400 })).toBe('GatewayUnavailable');
    expect(service.requests).toHaveLength(1);
    // Whatever still comes, comes to nobody.
    await new Promise<void>((resolve) => {
      if (service.sockets[0]?.destroyed === true) resolve();
      else
        service.sockets[0]?.on('close', () => {
          resolve();
        });
    });
  });
});

describe('an answer that is too much', () => {
  const GIB = 1024 ** 3;
  /** Writes as fast as it is read. @returns how many bytes went out */
  function pour(head: string, chunk: Buffer): { behaviour: WireBehaviour; sent: () => number } {
    let sent = 0;
    const whole = (socket: Socket): void => {
      socket.write(head);
      const more = (): void => {
        while (!socket.destroyed && sent < GIB) {
          sent += chunk.length;
          if (!socket.write(chunk)) return void socket.once('drain', more);
        }
      };
      more();
    };
    return { behaviour: { whole }, sent: () => sent };
  }
  const block = Buffer.alloc(65_536, ' ');
  const chunked = Buffer.concat([Buffer.from('10000\r\n'), block, Buffer.from('\r\n')]);

  test.each<[string, string, Buffer]>([
    ['a gibibyte', answerText('', [`content-length: ${GIB}`]), block],
    ['chunks without end', answerText('', ['transfer-encoding: chunked']), chunked],
    [
      'compressed although nobody asked',
      answerText('', ['content-encoding: gzip', `content-length: ${GIB}`]),
      block,
    ],
    [
      'compressed under another name',
      answerText('', ['content-encoding: br, identity', `content-length: ${GIB}`]),
      block,
    ],
  ])('%s: the connection is closed after the first of it', async (_name, head, chunk) => {
    const { behaviour, sent } = pour(head, chunk);
    await start(behaviour);
    expect(await initialize()).toBe('ambiguous');
    expect(await verify()).toBe('GatewayUnavailable');
    expect(service.requests).toHaveLength(2);
    // What we took, and what fits into the buffers of two sockets.
    expect(sent()).toBeLessThan(64 * 1024 ** 2);
  });
});

describe('redirects', () => {
  let elsewhere: Server;
  let visits: number;
  afterEach(() => {
    elsewhere.close();
  });

  const targets = [
    'another host',
    'itself',
    'http://169.254.169.254/latest/meta-data/',
    '//127.0.0.1:1/',
    'http://127.0.0.1:1/',
  ];
  test.each(
    targets.flatMap((target) => [301, 302, 303, 307, 308].map((status) => [target, status] as const)),
  )('to %s with %i: not followed, so the key stays here', async (target, status) => {
    visits = 0;
    elsewhere = createServer((_req, res) => {
      visits += 1;
      res.end(OPENED);
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const there = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
    await start({
      whole: (socket) => {
        const location = target === 'another host' ? there : target === 'itself' ? '/' : target;
        socket.write(answerText(OPENED, [lengthOf(OPENED), `location: ${location}`], `${status} Moved`));
      },
    });
    expect(await initialize()).toBe('ambiguous');
    expect(await verify()).toBe('unreadable');
    expect(service.requests).toHaveLength(2);
    expect(visits).toBe(0);
  });
});
