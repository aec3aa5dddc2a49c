import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Receiver = {
  url: string;
  /** Resolves when the release of that payment arrives. Call it before that can happen. */
  heardOf(reference: string): Promise<void>;
  stop(): Promise<void>;
};

/** The shop's own system, to which the integrator sends its releases. It acknowledges each at once. */
export async function startReceiver(): Promise<Receiver> {
  const waiting = new Map<string, () => void>();
  const server = createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (part: string) => (body += part));
    req.on('end', () => {
      const { data } = JSON.parse(body) as { data: { reference: string } };
      waiting.get(data.reference)?.();
      waiting.delete(data.reference);
      res.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    heardOf: (reference) => new Promise((resolve) => waiting.set(reference, resolve)),
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}
