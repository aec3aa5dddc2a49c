/**
 * A process: the service's history from a formula. It holds one chunk of an answer and nothing else, so that what is
 * measured beside it is ours. `list` answers with all records at once, `page` with pages of at most `limit` records.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createWriter, RECORD } from './formula.ts';

const [shape = 'list', countText = '0'] = process.argv.slice(2);
const count = Number(countText);
const RECORDS_PER_CHUNK = 400;
const write = createWriter(RECORD);

const server = createServer((req, res) => {
  const { pathname, searchParams } = new URL(req.url ?? '/', 'http://x');
  if (!pathname.endsWith('/history')) {
    res.writeHead(404, { 'content-type': 'application/json' }).end('{"status":false,"data":{}}');
    return;
  }
  res.writeHead(200, { 'content-type': 'application/json' });
  if (shape === 'list') void send(res, 1, count, ']}');
  else page(res, Number(searchParams.get('page') ?? '1'), Number(searchParams.get('limit') ?? '20'));
});

function page(res: ServerResponse, number: number, limit: number): void {
  const from = (number - 1) * limit + 1;
  const to = Math.min(from + limit - 1, count);
  void send(res, from, to, `],"meta":{"total":${count},"hasNextPage":${to < count}}}`);
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
