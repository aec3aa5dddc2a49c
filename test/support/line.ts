import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { systemClock, type Clock } from '../../src/platform/clock.ts';
import { createCallBook, type Call as BookedCall, type Endpoint } from '../../local/sandbox/calls.ts';

/**
 * The line between the program and the sandbox. Whatever a test wants befalls the calls on it, while the
 * truth stays in the sandbox's ledger. It answers `/sandbox/...` itself: the ledger is the sandbox's, the
 * calls are those that really came over the line, so that the invariants can be checked from here.
 */
export type Line = {
  url: string;
  /** The sandbox at the other end, and its time: the call book keeps the same. */
  leadTo(sandboxUrl: string, time: Clock): void;
  /**
   * What befalls calls from now on: one fault befalls every call, a list one call each and none after them.
   * @param reference only calls about this one
   */
  disturb(endpoint: Endpoint, faults: Fault | readonly Fault[], reference?: string): void;
  /** From now on calls pass. */
  clear(): void;
  /** How often calls about this reference came over the line. */
  callsAbout(reference: string): { initialize: number; verify: number };
  /** Nobody listens any more; connections that were there are gone. */
  leave(): Promise<void>;
  /** Listens again where it did before. */
  comeBack(): Promise<void>;
  close(): Promise<void>;
};

/** Does with one call what it likes; what it does not answer stays unanswered. */
export type Fault = (call: Call) => void | Promise<void>;

export type Answer = { status: number; headers: Record<string, string | string[]>; body: string | Buffer };

export type Call = {
  endpoint: Endpoint;
  reference: string | null;
  /** Has the sandbox carry the call out. What it answers goes nowhere by itself. */
  pass(): Promise<Answer>;
  answer(answer: Partial<Answer>): void;
  /** The bare connection, for what no HTTP server would send. */
  socket: Socket;
  /** Whether the connection has carried a call before. */
  isReused: boolean;
};

/** A call that befalls nothing. */
export const honestly: Fault = async (call) => {
  call.answer(await call.pass());
};

type Plan = { endpoint: Endpoint; reference: string | undefined; next: () => Fault | undefined };

export async function startLine(): Promise<Line> {
  const clock = { ...systemClock };
  const book = createCallBook(clock);
  const carried = new WeakSet<Socket>();
  let plans: Plan[] = [];
  let sandboxUrl = '';

  async function take(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await bodyOf(req);
    const path = req.url ?? '';
    if (path === '/sandbox/calls') {
      res.setHeader('content-type', 'application/json').end(JSON.stringify(book.report()));
      return;
    }
    if (!path.startsWith('/v1/')) {
      send(res, await passOn(req, body));
      return;
    }
    const call = callOf(req, res, body);
    const plan = plans.find(
      ({ endpoint, reference }) =>
        endpoint === call.endpoint && (reference === undefined || reference === call.reference),
    );
    await (plan?.next() ?? honestly)(call);
  }

  function callOf(req: IncomingMessage, res: ServerResponse, body: Buffer): Call {
    const named = nameOf(req.url ?? '', body);
    const booked: BookedCall = book.begin(named.endpoint, named.reference);
    booked.mode = String(req.headers['x-api-key']).startsWith('sk_live_') ? 'live' : 'test';
    const isReused = carried.has(req.socket);
    carried.add(req.socket);
    return {
      ...named,
      isReused,
      socket: req.socket,
      pass: () => passOn(req, body),
      answer: ({ status = 200, headers = {}, body: text = '' }) => {
        book.end(booked, status);
        send(res, { status, headers: { 'content-type': 'application/json', ...headers }, body: text });
      },
    };
  }

  async function passOn(req: IncomingMessage, body: Buffer): Promise<Answer> {
    const names = ['content-type', 'x-api-key', 'accept'];
    const headers = Object.fromEntries(names.map((name) => [name, String(req.headers[name] ?? '')]));
    const answer = await fetch(`${sandboxUrl}${req.url ?? ''}`, {
      method: req.method ?? 'GET',
      headers,
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    });
    const type = answer.headers.get('content-type') ?? '';
    return { status: answer.status, headers: { 'content-type': type }, body: await answer.text() };
  }

  const server = createServer((req, res) => {
    // A connection that was cut has nobody to be told.
    take(req, res).catch(() => req.socket.destroy());
  });
  server.on('connection', (socket: Socket) => socket.on('error', () => undefined));
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  const leave = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    leadTo: (url, time) => {
      sandboxUrl = url;
      Object.assign(clock, time);
    },
    disturb: (endpoint, faults, reference) => {
      const left = typeof faults === 'function' ? null : [...faults];
      const next = (): Fault | undefined => (left === null ? (faults as Fault) : left.shift());
      plans = [{ endpoint, reference, next }, ...plans];
    },
    clear: () => (plans = []),
    callsAbout: (reference) => book.report(reference).references[reference] ?? { initialize: 0, verify: 0 },
    leave,
    comeBack: () => listen(port),
    close: async () => {
      if (server.listening) await leave();
    },
  };
}

async function bodyOf(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function nameOf(path: string, body: Buffer): Pick<Call, 'endpoint' | 'reference'> {
  const verified = /\/verify\/([^/?]+)/.exec(path)?.[1];
  if (verified !== undefined) return { endpoint: 'verify', reference: verified };
  if (!path.includes('/initialize')) return { endpoint: 'history', reference: null };
  return {
    endpoint: 'initialize',
    reference: (JSON.parse(body.toString()) as { reference: string }).reference,
  };
}

function send(res: ServerResponse, { status, headers, body }: Answer): void {
  res.writeHead(status, headers).end(body);
}
