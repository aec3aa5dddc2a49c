import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, RequestListener } from 'node:http';

/**
 * One request that came to us and what it was answered, both whole. Times are on the monotonic scale,
 * milliseconds.
 */
export type Exchange = {
  method: string;
  /** As it came, query included. */
  path: string;
  asked: { headers: IncomingHttpHeaders; body: string };
  startedMs: number;
  /** Null while it is not answered, or for ever when the client left first. */
  endedMs: number | null;
  status: number;
  headers: OutgoingHttpHeaders;
  body: string;
};

/** Wraps a server's handler so that every exchange is written down, in order of arrival. */
export function recordExchanges(handler: RequestListener): {
  handler: RequestListener;
  exchanges: Exchange[];
} {
  const exchanges: Exchange[] = [];
  return {
    exchanges,
    handler: (req, res) => {
      const said: Buffer[] = [];
      const asked = overhear(req);
      const exchange: Exchange = {
        method: req.method ?? '',
        path: req.url ?? '',
        asked: { headers: req.headers, body: '' },
        startedMs: performance.now(),
        endedMs: null,
        status: 0,
        headers: {},
        body: '',
      };
      exchanges.push(exchange);
      const [write, end] = [res.write.bind(res), res.end.bind(res)];
      res.write = ((chunk: unknown, ...rest: []) => {
        keep(said, chunk);
        return write(chunk, ...rest);
      }) as typeof res.write;
      res.end = ((chunk: unknown, ...rest: []) => {
        keep(said, chunk);
        return end(chunk, ...rest);
      }) as typeof res.end;
      res.once('close', () => {
        Object.assign(exchange, { status: res.statusCode, headers: res.getHeaders() });
        exchange.asked.body = Buffer.concat(asked).toString('utf8');
        exchange.body = Buffer.concat(said).toString('utf8');
        if (res.writableFinished) exchange.endedMs = performance.now();
      });
      handler(req, res);
    },
  };
}

/** The body as its reader gets it. A listener of our own would set it flowing before anybody reads. */
function overhear(req: IncomingMessage): Buffer[] {
  const chunks: Buffer[] = [];
  const emit = req.emit.bind(req) as (name: string | symbol, ...values: unknown[]) => boolean;
  req.emit = ((name: string | symbol, ...values: unknown[]) => {
    if (name === 'data') keep(chunks, values[0]);
    return emit(name, ...values);
  }) as typeof req.emit;
  return chunks;
}

function keep(chunks: Buffer[], chunk: unknown): void {
  if (typeof chunk === 'string') chunks.push(Buffer.from(chunk));
  else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
}
