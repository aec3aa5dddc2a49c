import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { createStops, type Held, type Point, type Stops } from './stops.ts';

export type ServiceProxy = {
  /** Its origin, without a slash at the end. */
  url: string;
  /** Requests so far, oldest first, those included that never went on. */
  requests: ProxiedRequest[];
  /** What befalls the next such request; `what` is its method and path, as in `POST /checkout`. */
  once: Stops['once'];
  close(): Promise<void>;
};

export type ProxiedRequest = {
  /** Method and path. */
  what: string;
  body: string;
  /** The status that its sender got to see; null while, or because, none reached it. */
  status: number | null;
};

/**
 * Stands between an HTTP client and the server at `target`, which need not be there yet: a request that
 * cannot be handed on is hung up on. Bodies are held whole, so it is not for streams without an end.
 */
export async function startServiceProxy(target: string): Promise<ServiceProxy> {
  const stops = createStops();
  const requests: ProxiedRequest[] = [];
  const proxy = createServer((req, res) => {
    pass(target, req, res, stops, requests).catch(() => req.socket.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    requests,
    once: stops.once,
    close: async () => {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

async function pass(
  target: string,
  req: IncomingMessage,
  res: ServerResponse,
  stops: Stops,
  requests: ProxiedRequest[],
): Promise<void> {
  const what = `${req.method ?? ''} ${req.url ?? ''}`;
  const body = await buffer(req);
  const asked = Buffer.concat([Buffer.from(what), body]);
  const entry: ProxiedRequest = { what, body: body.toString(), status: null };
  requests.push(entry);
  const line = { isOver: false };
  const held: Held = {
    cut: () => {
      line.isOver = true;
      req.socket.resetAndDestroy();
    },
    silence: () => {
      line.isOver = true;
    },
  };
  const isOverAfter = async (point: Point, bytes: Buffer): Promise<boolean> => {
    await stops.hold(point, what, bytes, held);
    return line.isOver;
  };
  if (await isOverAfter('asked', asked)) return;
  const answer = await send(target, req, body);
  const content = await buffer(answer);
  const bytes = Buffer.concat([asked, content]);
  if (await isOverAfter('answered', bytes)) return;
  res.writeHead(answer.statusCode ?? 502, answer.headers);
  await new Promise<void>((resolve) => {
    res.once('close', resolve);
    res.end(content, resolve);
  });
  // Its bytes are in the system's hands. If the client is gone they are in nobody's.
  if (!res.writableFinished) return;
  entry.status = res.statusCode;
  await stops.hold('heard', what, bytes, held);
}

function send(target: string, req: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { ...req.headers, 'content-length': String(body.length) };
    delete headers['transfer-encoding'];
    const onward = request(
      new URL(req.url ?? '/', target),
      { method: req.method, headers, agent: false },
      resolve,
    );
    onward.once('error', reject);
    onward.end(body);
  });
}
