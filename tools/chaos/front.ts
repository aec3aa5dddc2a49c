import {
  createServer,
  request,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { recordExchanges, type Exchange } from '../../test/support/traffic/exchanges.ts';

/** What stands before the nodes, as a load balancer does, and writes down every exchange. */
export type Front = { url: string; exchanges: Exchange[]; close(): Promise<void> };

/** A node that says nothing for longer is given up, as load balancers do. */
const PATIENCE_MS = 20_000;

/** Sends requests to the nodes in turn. One that does not listen is passed over: nothing was sent to it. */
export async function startFront(ports: readonly number[]): Promise<Front> {
  let turn = 0;
  const balance = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const body = await buffer(req);
    turn += 1;
    const order = ports.map((_port, at) => ports[(at + turn) % ports.length] ?? 0);
    for (const port of order) {
      const answer = await send(port, req, body).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return null;
        throw error;
      });
      if (answer === null) continue;
      const content = await buffer(answer);
      for (const [name, value] of Object.entries(answer.headers))
        if (value !== undefined) res.setHeader(name, value);
      res.writeHead(answer.statusCode ?? 502).end(content);
      return;
    }
    throw new Error('no node listens');
  };
  const { handler, exchanges } = recordExchanges(((req, res) => {
    balance(req, res).catch(() => req.socket.destroy());
  }) satisfies RequestListener);
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(port: number, req: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { ...req.headers, 'content-length': String(body.length) };
    delete headers['transfer-encoding'];
    const path = req.url ?? '/';
    const onward = request(
      { host: '127.0.0.1', port, path, method: req.method, headers, agent: false },
      resolve,
    );
    onward.once('error', reject);
    onward.setTimeout(PATIENCE_MS, () => onward.destroy(new Error('the node says nothing')));
    onward.end(body);
  });
}
