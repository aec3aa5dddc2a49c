import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A received message: `id` is its header `webhook-id`, `body` its bytes as text. */
export type Received = {
  id: string;
  type: string;
  data: Record<string, unknown>;
  headers: IncomingHttpHeaders;
  body: string;
};

type Answer = number | null | Promise<number | null>;
export type Receiver = {
  url: string;
  /** The variables that send messages to this receiver. */
  env: { FULFILMENT_URL: string; FULFILMENT_SECRET: string };
  /** All received messages, refused and repeated ones included, oldest first. */
  messages: Received[];
  /**
   * Sets the answer from now on: a status, a function that returns a status for each message, or
   * null to break the connection.
   */
  answer(how: number | ((message: Received) => Answer)): void;
  close(): Promise<void>;
};

/** The shop's own system: a real server that records each message and answers 204. */
export async function startReceiver(): Promise<Receiver> {
  const messages: Received[] = [];
  let answer: (message: Received) => Answer = () => 204;
  const server = createServer((req, res) => {
    void text(req).then(async (body) => {
      const { type, data } = JSON.parse(body) as Pick<Received, 'type' | 'data'>;
      const message = { id: String(req.headers['webhook-id']), type, data, headers: req.headers, body };
      messages.push(message);
      const status = await answer(message);
      if (status === null) req.socket.destroy();
      else res.writeHead(status).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const secret = `whsec_${Buffer.from('a secret of 32 bytes for a test.').toString('base64')}`;
  return {
    url,
    env: { FULFILMENT_URL: url, FULFILMENT_SECRET: secret },
    messages,
    answer: (how) => {
      answer = typeof how === 'number' ? () => how : how;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
