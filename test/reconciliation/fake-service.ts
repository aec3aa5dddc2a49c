import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A transaction as the service shows it; `amount` is the text of a JSON value. */
export type FakeTransaction = {
  reference: string;
  status?: string;
  amount?: string;
  currency?: string;
  id?: string;
};

export type FakeService = {
  url: URL;
  /** What history lists. Texts are put in as they are. */
  history: (FakeTransaction | string)[];
  /** What verify answers where that differs from history; null: not found. */
  verify: Map<string, FakeTransaction | string | null>;
  /** Waited for before verify is answered. */
  onVerify: ((reference: string) => Promise<unknown>) | null;
  /** Answers history instead of the usual pages. */
  answerHistory: ((query: URLSearchParams, res: ServerResponse, rows: string[]) => void) | null;
  /** Paths asked for, in order. */
  calls: string[];
  close(): Promise<void>;
};

/** A stand-in for the service that says what a test wants it to say, pages as the sandbox does, and believes nothing. */
export async function startFakeService(): Promise<FakeService> {
  const service: Omit<FakeService, 'url' | 'close'> = {
    history: [],
    verify: new Map(),
    onVerify: null,
    answerHistory: null,
    calls: [],
  };
  const server = createServer((req, res) => {
    answer(service, req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(service, {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  });
}

export function textOf(row: FakeTransaction | string): string {
  if (typeof row === 'string') return row;
  const { reference, status = 'SUCCESS', amount = '25.00', currency = 'NGN', id } = row;
  const idPart = id === undefined ? '' : `"id":${JSON.stringify(id)},`;
  return `{${idPart}"reference":${JSON.stringify(reference)},"status":${JSON.stringify(status)},"amount":${amount},"currency":${JSON.stringify(currency)}}`;
}

export function send(res: ServerResponse, text: string, status = 200): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(text);
}

/** The sandbox's page of `rows`: 100 at most, counted. */
export function sendPage(query: URLSearchParams, res: ServerResponse, rows: readonly string[]): void {
  const page = Number(query.get('page') ?? '1');
  const limit = Math.min(Number(query.get('limit') ?? '20'), 100);
  const pageCount = Math.ceil(rows.length / limit);
  const part = rows.slice((page - 1) * limit, page * limit).join(',');
  send(
    res,
    `{"status":true,"data":{"data":[${part}],"page":${page},"total":${rows.length},"pageCount":${pageCount},"hasNextPage":${page < pageCount}}}`,
  );
}

function answer(
  service: Omit<FakeService, 'url' | 'close'>,
  req: IncomingMessage,
  res: ServerResponse,
): void {
  const { pathname, searchParams, search } = new URL(req.url ?? '/', 'http://x');
  service.calls.push(pathname.replace('/v1/transactions/', '') + search);
  if (pathname.endsWith('/history')) {
    const rows = service.history.map(textOf);
    (service.answerHistory ?? sendPage)(searchParams, res, rows);
    return;
  }
  const reference = pathname.split('/').at(-1) ?? '';
  const listed = service.history.find((row) => typeof row !== 'string' && row.reference === reference);
  const record = service.verify.has(reference) ? service.verify.get(reference) : listed;
  const waited = service.onVerify?.(reference) ?? Promise.resolve();
  void waited.then(() => {
    answerVerify(record, res);
  });
}

function answerVerify(record: FakeTransaction | string | null | undefined, res: ServerResponse): void {
  if (record === undefined || record === null) send(res, '{"status":false,"data":{}}', 404);
  else send(res, `{"status":true,"data":${textOf(record)}}`);
}
