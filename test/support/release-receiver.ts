import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Delivery } from './invariants.ts';

export type ReleaseReceiver = {
  /** Variables that send releases here. */
  env: { FULFILMENT_URL: string; FULFILMENT_SECRET: string };
  /** Everything that came, repetitions included. */
  deliveries: Delivery[];
  /** Other events than paid orders, repetitions included; none is failed. */
  events: { orderId: string; id: string; body: string }[];
  close(): Promise<void>;
};

/**
 * The shop's own system: takes releases by HTTP and writes down each delivery. Every seventh one it takes and
 * fails.
 */
export async function startReleaseReceiver(): Promise<ReleaseReceiver> {
  const deliveries: Delivery[] = [];
  const events: ReleaseReceiver['events'] = [];
  const server = createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (text: string) => (body += text));
    req.on('end', () => {
      const { type, data } = JSON.parse(body) as { type: string; data: { orderId: string } };
      const [id, { orderId }] = [String(req.headers['webhook-id']), data];
      if (type !== 'order.paid') {
        events.push({ orderId, id, body });
        res.writeHead(204).end();
        return;
      }
      deliveries.push({ orderId, releaseId: id });
      res.writeHead(deliveries.length % 7 === 0 ? 500 : 204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const secret = Buffer.from('a secret of thirty-two bytes!!!!').toString('base64');
  return {
    env: { FULFILMENT_URL: `http://127.0.0.1:${port}/`, FULFILMENT_SECRET: `whsec_${secret}` },
    deliveries,
    events,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
