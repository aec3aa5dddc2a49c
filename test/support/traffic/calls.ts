import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** A call to the service, from the moment its headers went out. Times as in an exchange. */
export type ServiceCall = {
  method: string;
  path: string;
  startedMs: number;
  /** Null while it is in flight. */
  endedMs: number | null;
  status: number | null;
  /** The raw `Retry-After` of its answer. */
  retryAfter: string | null;
};

type Request = { origin: string | URL; path: string; method: string };

/** Writes down all calls that HTTP clients of this process make to paths under `/v1/` of `service`. */
export function recordCalls(service: URL): { calls: ServiceCall[]; stop(): void } {
  const calls: ServiceCall[] = [];
  const open = new Map<Request, ServiceCall>();
  const listeners: Record<string, (message: unknown) => void> = {
    'undici:client:sendHeaders': (message) => {
      const { request } = message as { request: Request };
      const { path, method } = request;
      if (new URL(request.origin).origin !== service.origin || !path.startsWith('/v1/')) return;
      const call = {
        method,
        path,
        startedMs: performance.now(),
        endedMs: null,
        status: null,
        retryAfter: null,
      };
      open.set(request, call);
      calls.push(call);
    },
    'undici:request:headers': (message) => {
      const { request, response } = message as {
        request: Request;
        response: { statusCode: number; headers: readonly Uint8Array[] };
      };
      const call = open.get(request);
      if (call === undefined) return;
      call.status = response.statusCode;
      const texts = response.headers.map((part) => Buffer.from(part).toString('latin1'));
      const at = texts.findIndex(
        (text, position) => position % 2 === 0 && text.toLowerCase() === 'retry-after',
      );
      call.retryAfter = at === -1 ? null : (texts[at + 1] ?? null);
    },
    'undici:request:trailers': end,
    'undici:request:error': end,
  };
  function end(message: unknown): void {
    const { request } = message as { request: Request };
    const call = open.get(request);
    if (call !== undefined) call.endedMs = performance.now();
    open.delete(request);
  }
  for (const [name, listener] of Object.entries(listeners)) subscribe(name, listener);
  return {
    calls,
    stop: () => {
      for (const [name, listener] of Object.entries(listeners)) unsubscribe(name, listener);
    },
  };
}
