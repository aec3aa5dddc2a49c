import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ServiceAdapter } from '../../src/gateway/adapter.ts';
import { readPages } from '../../src/reconciliation/history.ts';
import { TEST_KEY, WEBHOOK_SECRET } from '../support/shop.ts';

/** `amount` is in the service's own unit. Verify does not know a lost payment. */
export type Payment = Texts & { amount: number; isPaid: boolean; isLost?: true };
type Texts = Record<'id' | 'reference' | 'currency' | 'wayBack', string>;
type Sent = { reference: string; amount: number; localCurrency: string; redirectUrl: string };

/** The format of a service: everything that the reference leaves open. */
export type Style = {
  /** The price of a tote in the service's unit. Default: 8500. */
  tote?: number;
  opened(url: string): unknown;
  /** In verify and in the history. */
  record(payment: Payment): unknown;
  verified?(record: unknown): unknown;
  /** The answer of verify about a reference that was never sent. Default: 404 without a record. */
  unknown?: [status: number, body: unknown];
  /**
   * Index of the first row that a query asks for, with two rows per page. Default: one page has
   * all.
   */
  start?(query: URLSearchParams, rows: unknown[]): number;
  /** @param next index of the next page's first row; null: no next page */
  page(rows: unknown[], next: number | null): unknown;
  /** The body of a webhook. Default: the record. */
  event?(payments: readonly Payment[]): unknown;
  isForm?: true;
  acknowledged?: { status: number; body: unknown };
  /** Headers of a webhook. @param seconds since 1970 */
  sign?(body: string, secret: string, seconds: number): Record<string, string>;
  /** Whether old signatures must be refused. */
  isTimed?: true;
  /** How the service writes a reference in its answers, and in the return URL. */
  echo?(reference: string): string;
};

/** A payment service of one style. It speaks real HTTP, and has only what the program needs. */
export async function startService(style: Style) {
  const payments = new Map<string, Payment>();
  const known = (reference: string): Payment => {
    const payment = payments.get(reference);
    if (payment === undefined) throw new Error(`${reference} was never sent`);
    return payment;
  };

  const answer = ({ url: path = '', headers }: IncomingMessage, body: string): [status: number, body: unknown] => {
    const { pathname, searchParams } = new URL(path, url);
    if (TEST_KEY !== (headers['x-api-key'] ?? headers.authorization?.replace('Bearer ', ''))) return [401, {}];
    if (pathname === '/v1/transactions/initialize') {
      const sent = JSON.parse(body) as Sent & { order?: Sent };
      const { reference, amount, localCurrency: currency, redirectUrl } = sent.order ?? sent;
      const echoed = style.echo?.(reference) ?? reference;
      const wayBack = redirectUrl.replace(reference, echoed);
      const id = `txn_${payments.size + 1}`;
      payments.set(reference, { id, reference: echoed, amount, currency, wayBack, isPaid: false });
      return [200, style.opened(`${url}/pay/${reference}`)];
    }
    const asked = /^\/v1\/transactions\/verify\/(.+)$/.exec(pathname)?.[1];
    if (asked !== undefined) {
      const payment = payments.get(asked);
      if (payment === undefined || payment.isLost) return style.unknown ?? [404, { error: 'unknown' }];
      const record = style.record(payment);
      return [200, style.verified?.(record) ?? record];
    }
    const rows = [...payments.values()].map((payment) => style.record(payment));
    const start = style.start?.(searchParams, rows) ?? 0;
    const end = style.start === undefined ? rows.length : start + 2;
    return [200, style.page(rows.slice(start, end), end < rows.length ? end : null)];
  };

  const server = createServer((req, res) => {
    void text(req).then((body) => {
      const [status, content] = answer(req, body);
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    payment: known,
    payments: () => payments.size,
    /** Sets the answer about a payment from now on. */
    show: (reference: string, said: Partial<Payment>) => payments.set(reference, { ...known(reference), ...said }),
    /** Reports these payments as paid, whether or not it is true. */
    webhook: (references: readonly string[], { secret = WEBHOOK_SECRET, ageSec = 0 } = {}) => {
      const all = references.map((one) => ({ ...known(one), isPaid: true }));
      const event = style.event?.(all) ?? all.map((one) => style.record(one))[0];
      const body = style.isForm ? String(new URLSearchParams(event as Record<string, string>)) : JSON.stringify(event);
      const type = style.isForm ? 'application/x-www-form-urlencoded' : 'application/json';
      const seconds = Math.floor(Date.now() / 1_000) - ageSec;
      return { body, headers: { 'content-type': type, ...style.sign?.(body, secret, seconds) } };
    },
    close: () => server.close(),
  };
}

/** Reads a history as the program does. @returns all rows, and how the reading ended */
export async function readList(
  url: string,
  adapter: ServiceAdapter,
): Promise<{ rows: unknown[]; end: { complete: boolean; reason?: string } }> {
  const headers = adapter.authorize?.(TEST_KEY) ?? { 'x-api-key': TEST_KEY };
  const page = async (path: string) => {
    const answer = await fetch(new URL(path, url), { headers });
    return { status: answer.status, text: '', json: { value: (await answer.json()) as unknown }, retryAfterSec: null };
  };
  const pages = readPages({ page }, adapter.history, {
    path: adapter.history.first({ since: null, until: null }),
    number: 1,
  });
  const rows: unknown[] = [];
  try {
    let step = await pages.next();
    for (; !step.done; step = await pages.next()) rows.push(...step.value.rows);
    return { rows, end: step.value === null ? { complete: true } : { complete: false, reason: step.value } };
  } catch (error) {
    return { rows, end: { complete: false, reason: (error as Error).message } };
  }
}
