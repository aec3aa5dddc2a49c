import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen } from '../../src/platform/http-server.ts';
import type { Json } from '../../src/gateway/dialect/json-pointer.ts';
import { readJson } from '../../src/gateway/dialect/json-pointer.ts';

/** A webhook as it came. */
export type Hook = {
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
  /** Undefined: not JSON. */
  json: Json;
};

export type Listener = { port: number; hooks: readonly Hook[]; close(): Promise<void> };

const MAX_BYTES = 128 * 1024;

/** Takes whatever is posted to it and keeps it. @throws {UserFacingError} where it cannot listen */
export async function startListener(host: string, port: number): Promise<Listener> {
  const hooks: Hook[] = [];
  const server = await listen(
    (req, res) => {
      void take(req, res, hooks);
    },
    host,
    port,
  );
  return { port: server.port, hooks, close: () => server.close(0) };
}

async function take(req: IncomingMessage, res: ServerResponse, hooks: Hook[]): Promise<void> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of req as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes <= MAX_BYTES) chunks.push(chunk);
    }
  } catch {
    return; // whoever sent it has gone
  }
  const body = Buffer.concat(chunks);
  if (req.method === 'POST') hooks.push({ headers: req.headers, body, json: jsonOf(body) });
  res.writeHead(req.method === 'POST' ? 200 : 404).end();
}

/** Undefined: not JSON. */
export function jsonOf(body: Buffer): Json {
  try {
    return readJson(body);
  } catch {
    return undefined;
  }
}
