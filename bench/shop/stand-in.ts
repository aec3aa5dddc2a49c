/**
 * A process: the service as both contestants call it. Two milliseconds for each answer unless told otherwise,
 * every transaction is open until its shopper pays, exactly what was asked for. It does as little as
 * possible, so that it is not what is measured.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

let latencyMs = 2;
const VERIFY = '/v1/transactions/verify/';
/** The record of each reference, as text around its status. */
const records = new Map<string, [string, string]>();
const paid = new Set<string>();
let verifications = 0;

function initialize(body: string): string {
  const { reference, amount, localCurrency } = JSON.parse(body) as Record<string, string>;
  records.set(String(reference), [
    `{"id":"${reference}","reference":"${reference}","status":"`,
    `","amount":${amount},"currency":"${localCurrency}"}`,
  ]);
  return `{"status":true,"message":"ok","data":"http://127.0.0.1/pay/${reference}"}`;
}

function verify(reference: string): string {
  verifications += 1;
  const record = records.get(reference)?.join(paid.has(reference) ? 'SUCCESS' : 'PENDING');
  return `{"status":true,"message":"ok","data":${record ?? 'null'}}`;
}

function answer(req: IncomingMessage, res: ServerResponse, body: string): void {
  const url = req.url ?? '';
  const send = (text: string): void => {
    res.writeHead(200, { 'content-type': 'application/json' }).end(text);
  };
  if (!url.startsWith('/v1/')) {
    send(control(url, body));
    return;
  }
  const text = url.startsWith(VERIFY) ? verify(url.slice(VERIFY.length)) : initialize(body);
  setTimeout(send, latencyMs, text);
}

/** What is not the service's: shoppers pay, it becomes slow, and the bench asks how often it was asked. */
function control(url: string, body: string): string {
  if (url === '/verifications') return `{"count":${verifications}}`;
  if (url === '/latency') latencyMs = Number(body);
  else for (const reference of JSON.parse(body) as string[]) paid.add(reference);
  return '{}';
}

const server = createServer((req, res) => {
  let body = '';
  req.setEncoding('utf8').on('data', (part: string) => (body += part));
  req.on('end', () => {
    answer(req, res, body);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
