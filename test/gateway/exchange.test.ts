import { expect, test } from '@jest/globals';
import { createClient, type Client, type ClientAnswer } from '../../src/gateway/http/client.ts';
import { SecretKey } from '../../src/gateway/secret-key.ts';
import { answerText, startWireService } from '../support/wire.ts';

const ask = (client: Client, totalMs: number): Promise<ClientAnswer> =>
  client.call({ method: 'GET', path: '/', headersMs: 60_000, totalMs, maxBytes: 1_024 });

test('a call whose time was up while it waited for a connection is not sent any more', async () => {
  let answerFirst: () => void = () => undefined;
  const service = await startWireService({
    whole: (socket, count) => {
      const answer = (): void => {
        socket.write(answerText('{}', ['content-length: 2']));
      };
      if (count === 1) answerFirst = answer;
      else answer();
    },
  });
  const client = createClient(service.url, new SecretKey('sk_test_x'), 1);
  const first = ask(client, 60_000);
  while (service.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await expect(ask(client, 50)).rejects.toMatchObject({
    message: 'no answer from the service: TimeoutError',
    sent: true,
  });
  answerFirst();
  expect((await first).status).toBe(200);
  // On the one connection: what had waited before it would have gone out before it.
  expect((await ask(client, 60_000)).status).toBe(200);
  expect(service.requests).toHaveLength(2);
  await client.close();
  await service.close();
});

test('interim answers are passed over', async () => {
  const service = await startWireService({
    whole: (socket) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n');
      socket.write(answerText('{"data":1}', ['content-length: 10']));
    },
  });
  const client = createClient(service.url, new SecretKey('sk_test_x'), 1);
  const { status, headers, body } = await ask(client, 60_000);
  expect([status, headers.link, body.toString()]).toEqual([200, undefined, '{"data":1}']);
  await client.close();
  await service.close();
});
