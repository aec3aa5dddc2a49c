/**
 * A process: the service's history from a formula. It holds one chunk of an answer and nothing else, so that what is
 * measured beside it is ours. `list` answers with all records at once, `page` with pages of at most `limit` records,
 * `newest` with the newest first, each so many milliseconds before the one above it, between `from` and `to`.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createWriter, RECORD } from '../../test/support/formula.ts';

const [shape = 'list', ...numbers] = process.argv.slice(2);
const [count = 0, newestMs = 0, stepMs = 0] = numbers.map(Number);
const RECORDS_PER_CHUNK = 400;
const timeOf = (n: number): number => newestMs - (count - n) * stepMs;
const write = createWriter(RECORD, shape === 'newest' ? timeOf : undefined);

const server = createServer((req, res) => {
  const { pathname, searchParams } = new URL(req.url ?? '/', 'http://x');
  if (!pathname.endsWith('/history')) {
    res.writeHead(404, { 'content-type': 'application/json' }).end('{"status":false,"data":{}}');
    return;
  }
  res.writeHead(200, { 'content-type': 'application/json' });
  const [number, limit] = [
    Number(searchParams.get('page') ?? '1'),
    Number(searchParams.get('limit') ?? '20'),
  ];
  if (shape === 'list') void send(res, 1, count, ']}');
  else if (shape === 'page') page(res, number, limit);
  else newest(res, number, limit, [searchParams.get('from'), searchParams.get('to')]);
});

function page(res: ServerResponse, number: number, limit: number): void {
  const from = (number - 1) * limit + 1;
  const to = Math.min(from + limit - 1, count);
  void send(res, from, to, `],"meta":{"total":${count},"hasNextPage":${to < count}}}`);
}

function newest(
  res: ServerResponse,
  number: number,
  limit: number,
  [from, to]: [string | null, string | null],
): void {
  const last = Math.min(to === null ? count : Math.floor(numberAt(to)), count);
  const first = Math.max(from === null ? 1 : Math.ceil(numberAt(from)), 1);
  const begin = last - (number - 1) * limit;
  const end = Math.max(begin - limit + 1, first);
  const rows = begin < end ? Buffer.alloc(0) : write(begin, end).subarray(0, -1);
  const total = Math.max(last - first + 1, 0);
  res.end(
    `{"status":true,"data":[${rows.toString()}],"meta":{"total":${total},"hasNextPage":${end > first}}}`,
  );
}

/** The number of the transaction of a time, between two of them a fraction. */
function numberAt(time: string): number {
  return count - (newestMs - Date.parse(time)) / stepMs;
}

async function send(res: ServerResponse, from: number, to: number, tail: string): Promise<void> {
  res.write('{"status":true,"data":[');
  for (let n = from; n <= to && !res.destroyed; n += RECORDS_PER_CHUNK) {
    const last = Math.min(n + RECORDS_PER_CHUNK - 1, to);
    const records = write(n, last);
    // The last record has no comma behind it.
    if (!res.write(last === to ? records.subarray(0, -1) : records)) await whenWritable(res);
  }
  res.end(tail);
}

function whenWritable(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const goOn = (): void => {
      res.off('drain', goOn).off('close', goOn);
      resolve();
    };
    res.once('drain', goOn).once('close', goOn);
  });
}

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
