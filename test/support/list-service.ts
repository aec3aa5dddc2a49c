import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Rows of the history, newest first, or their number and a function that makes each row when its
 * page is asked for.
 */
export type Rows = readonly unknown[] | { count: number; row(index: number): unknown };

/** A page in the service's format. `next`: the whole URL of the next page; null: no next page. */
export type PageStyle = (rows: readonly unknown[], at: { page: number; next: string | null }) => unknown;

/**
 * A fault of the history. It applies to one page once, or to everything until `faults` is emptied.
 */
export type ListFault =
  /** The connection breaks in the middle; HTTP 500; half of the JSON, as if it were complete. */
  | { kind: 'broken' | 'status' | 'torn'; page: number }
  | { kind: 'slow'; page: number; ms: number }
  /** Every page is the first page, and has a next page. */
  | { kind: 'loop' }
  /** The history has only this many of the newest rows. */
  | { kind: 'cut'; rows: number };

export type ListService = {
  url: string;
  /** May be replaced at any time. */
  rows: Rows;
  /** Pending faults. A fault that applies once is removed when it applies. */
  faults: ListFault[];
  /** Numbers of the requested pages, and verified references, in the order of the calls. */
  calls: { pages: number[]; verified: string[] };
  close(): void;
};

type Options = {
  rows: Rows;
  /** Rows of every page, whatever `limit` asks for. Default: `limit`. */
  pageSize?: number;
  /** Default: the format that the default adapter reads. */
  style?: PageStyle;
  /**
   * The record of a reference; undefined: 404. Default: the first row of the reference, where rows
   * are an array.
   */
  verify?: ReadonlyMap<string, unknown> | ((reference: string) => unknown);
  port?: number;
};

const DEFAULT_STYLE: PageStyle = (data, { page, next }) => ({
  status: true,
  message: 'found',
  data: { data, page, hasNextPage: next !== null },
});

/**
 * A service whose history and verify answer from values of a test. `from` and `to` filter by
 * `createdAt`.
 */
export async function startListService(options: Options): Promise<ListService> {
  const named = (reference: string) => (row: unknown) =>
    (row as { reference?: unknown } | null)?.reference === reference;
  const inRows = (reference: string) => ('row' in service.rows ? undefined : service.rows.find(named(reference)));
  const { pageSize, style = DEFAULT_STYLE, verify = inRows, port = 0 } = options;
  const server = createServer((req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? '', service.url);
    if (pathname === '/v1/transactions/history') void sendPage(res, searchParams);
    else sendRecord(res, decodeURIComponent(pathname.replace('/v1/transactions/verify/', '')));
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');

  const sendPage = async (res: ServerResponse, query: URLSearchParams): Promise<void> => {
    const page = Number(query.get('page') ?? 1);
    service.calls.pages.push(page);
    const fault = take(service.faults, page);
    const size = pageSize ?? Number(query.get('limit') ?? 100);
    const { count, row } = windowOf(service.rows, query);
    const end = fault?.kind === 'cut' ? Math.min(fault.rows, count) : count;
    const first = fault?.kind === 'loop' ? 0 : (page - 1) * size;
    const rows = Array.from({ length: Math.max(0, Math.min(size, end - first)) }, (_, index) => row(first + index));
    query.set('page', String(page + 1));
    const link = `${service.url}/v1/transactions/history?${query.toString()}`;
    const next = fault?.kind === 'loop' || first + size < end ? link : null;
    if (fault?.kind === 'slow') await sleep(fault.ms);
    if (fault?.kind === 'status') send(res, 500, { status: false, message: 'out of order' });
    else send(res, 200, style(rows, { page, next }), fault);
  };
  const sendRecord = (res: ServerResponse, reference: string): void => {
    service.calls.verified.push(reference);
    const record = typeof verify === 'function' ? verify(reference) : verify.get(reference);
    const isThere = record !== undefined;
    send(res, isThere ? 200 : 404, { status: isThere, message: isThere ? 'found' : 'not found', data: record });
  };
  const service: ListService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    rows: options.rows,
    faults: [],
    calls: { pages: [], verified: [] },
    close: () => {
      server.close().closeAllConnections();
    },
  };
  return service;
}

/** The oldest fault that applies to a page. */
function take(faults: ListFault[], page: number): ListFault | undefined {
  const index = faults.findIndex((fault) => !('page' in fault) || fault.page === page);
  const fault = faults[index];
  if (fault !== undefined && 'page' in fault) faults.splice(index, 1);
  return fault;
}

/**
 * The rows created within `from` and `to`. Rows are newest first, so a binary search finds both
 * bounds.
 */
function windowOf(rows: Rows, query: URLSearchParams): { count: number; row(index: number): unknown } {
  const all = 'row' in rows ? rows : { count: rows.length, row: (index: number) => rows[index] };
  const countWhile = (holds: (ms: number) => boolean): number => {
    let [low, high] = [0, all.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (holds(Date.parse((all.row(middle) as { createdAt: string }).createdAt))) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const [from, to] = [query.get('from'), query.get('to')];
  const start = to === null ? 0 : countWhile((ms) => ms > Date.parse(to));
  const end = from === null ? all.count : countWhile((ms) => ms >= Date.parse(from));
  return { count: Math.max(0, end - start), row: (index) => all.row(start + index) };
}

function send(res: ServerResponse, status: number, body: unknown, fault?: ListFault): void {
  const text = JSON.stringify(body);
  const half = text.slice(0, text.length / 2);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  if (fault?.kind === 'torn') res.writeHead(status, { 'content-type': 'application/json' }).end(half);
  else if (fault?.kind === 'broken') res.writeHead(status, headers).write(half, () => res.socket?.destroy());
  else res.writeHead(status, headers).end(text);
}
