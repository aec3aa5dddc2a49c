import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readSpans, type CollectedSpan } from './otlp.ts';

export type Collector = {
  url: string;
  spans: CollectedSpan[];
  /** Each delivery as it came. */
  requests: { path: string; headers: Record<string, unknown>; body: Buffer }[];
  /** Those of one name. */
  named(name: string): CollectedSpan[];
  close(): Promise<void>;
};

/**
 * Stands in for an OpenTelemetry collector: takes OTLP over HTTP and reads the protobuf. `status`: what it
 * answers.
 */
export async function startCollector(status = 200): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const requests: Collector['requests'] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks);
      requests.push({ path: req.url ?? '', headers: req.headers, body });
      if (status === 200) spans.push(...readSpans(body));
      res.writeHead(status, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    named: (name) => spans.filter((span) => span.name === name),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
