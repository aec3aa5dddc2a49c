import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { parseDialect } from '../../../src/gateway/dialect/dialect.ts';
import { SecretKey } from '../../../src/gateway/secret-key.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { Secret } from '../../../src/platform/secret.ts';
import type { Finding } from '../../../tools/probe/finding.ts';
import { startListener } from '../../../tools/probe/listener.ts';
import { probe, type Probed } from '../../../tools/probe/probe.ts';
import { reportOf } from '../../../tools/probe/report.ts';
import { IS_WHOLE } from '../../support/extent.ts';

/*
 * Services as no profile of the sandbox is: they list the oldest first and hold our payments on a later page. They
 * share no code with the sandbox, because what it has been written against proves little.
 */

type Payment = {
  id: string;
  ref: string;
  amount: number;
  currency: string;
  at: number;
  isPaid: boolean;
  isOld?: true;
};
type Reply = { body: unknown; status?: number; headers?: Record<string, string> };
type Service = {
  old: number;
  record(payment: Payment): object;
  opened(url: string): object;
  /** Around verify's record. */
  found(record: object): object;
  list(all: readonly Payment[], query: URLSearchParams): Reply;
  hook(payment: Payment): { body: string; headers: Record<string, string> };
};

const DAY_MS = 24 * 60 * 60 * 1_000;
const dayOf = (text: string): number => (/^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : NaN);
const SECRET = 'a secret of webhooks';
const mac = (text: string, encoding: 'hex' | 'base64' | 'base64url'): string =>
  createHmac('sha256', SECRET).update(text).digest(encoding);
const now = (): string => String(Math.floor(Date.now() / 1_000));
const fee = ({ amount, isPaid }: Payment): number => (isPaid ? Number((amount / 50).toFixed(2)) : 0);

/** Named days without a time of day; pages of twenty at most; a total of pages; a fee that is taken off. */
const numbered: Service = {
  old: 45,
  record: (one) => ({
    ...{ id: one.id, reference: one.ref, status: one.isPaid ? 'SUCCESS' : 'PENDING', amount: one.amount },
    ...{ currency: one.currency, fee: fee(one), net: Number((one.amount - fee(one)).toFixed(2)) },
    createdAt: new Date(one.at).toISOString(),
  }),
  opened: (url) => ({ status: true, data: url }),
  found: (data) => ({ status: true, data }),
  list: (old, query) => {
    const [from = NaN, to = NaN] = ['created_from', 'created_to'].map((name) => dayOf(query.get(name) ?? ''));
    if (!(to - from <= 29 * DAY_MS))
      return { status: 400, body: { message: 'created_from and created_to: dates, at most 30 days' } };
    const all = old.filter(({ at }) => at >= from && at < to + DAY_MS);
    const size = Math.min(Number(query.get('limit') ?? '20'), 20);
    const page = Number(query.get('page') ?? '1');
    const meta = { page, limit: size, pageCount: Math.ceil(all.length / size) };
    return {
      body: { status: true, data: all.slice((page - 1) * size, page * size).map(numbered.record), meta },
    };
  },
  hook: (one) => {
    const body = JSON.stringify({ event: 'paid', data: numbered.record(one) });
    const time = now();
    return {
      body,
      headers: { 'x-hook-time': time, 'x-hook-signature': `v1=${mac(`${time}.${body}`, 'base64')}` },
    };
  },
};

/** A cursor under a name of its own, sizes above 50 refused, records one level deeper in the list than verify's. */
const cursored: Service = {
  old: 60,
  record: (one) => ({
    ...{ merchant_ref: one.ref, state: one.isPaid ? 'captured' : 'new', created: Math.floor(one.at / 1_000) },
    money: { value: one.amount.toFixed(2), currency: one.currency },
  }),
  opened: (url) => ({ result: { checkout: { url } } }),
  found: (result) => ({ result }),
  list: (all, query) => {
    const size = Number(query.get('max_results') ?? '25');
    if (size > 50) return { status: 400, body: { message: 'max_results: at most 50' } };
    const from = Number(query.get('page_token') ?? '0');
    const items = all.slice(from, from + size).map((one) => ({ uid: one.id, payment: cursored.record(one) }));
    return { body: { items, next_page_token: from + size < all.length ? String(from + size) : null } };
  },
  hook: (one) => {
    const body = JSON.stringify(cursored.record(one));
    const time = new Date().toISOString();
    return { body, headers: { 'x-sent-at': time, 'x-digest': `sig=${mac(`${time}:${body}`, 'base64url')}` } };
  },
};

/** A bare list of ten, links in a header, and a signature in a list with semicolons. */
const linked: Service = {
  old: 24,
  record: (one) => ({
    ...{ id: one.id, reference: one.ref, status: one.isPaid ? 'paid' : 'open', amount: one.amount },
    ...{ currency: one.currency, created_at: new Date(one.at).toISOString() },
  }),
  opened: (url) => ({ url }),
  found: (record) => record,
  list: (all, query) => {
    const page = Number(query.get('p') ?? '1');
    const next = `</v1/transactions/history?p=${page + 1}>; rel="next"`;
    const headers = { link: page * 10 < all.length ? next : '</v1/transactions/history>; rel="first"' };
    return { body: all.slice((page - 1) * 10, page * 10).map(linked.record), headers };
  },
  hook: (one) => {
    const body = JSON.stringify({ reference: one.ref });
    const time = now();
    return { body, headers: { 'the-signature': `ts=${time};h1=${mac(`${time}:${body}`, 'hex')}` } };
  },
};

/**
 * The newest first, from a copy that is late: the three new ones come while the probe tries what turns the
 * pages.
 */
function lateService(): Service {
  let calls = 0;
  return {
    ...numbered,
    old: 25,
    list: (all, query) => {
      calls += 1;
      const shown = all.slice(0, 25 + (calls < 12 ? 0 : calls < 14 ? 1 : 3)).reverse();
      const size = Number(query.get('pageSize') ?? '10');
      const page = Number(query.get('pageNumber') ?? '0');
      return {
        body: { status: true, data: shown.slice(page * size, (page + 1) * size).map(numbered.record) },
      };
    },
  };
}

test('a list that grows while it is looked at is looked at again, until it stood still with all payments', async () => {
  const result = await probed(lateService());
  const paging = {
    pageParam: 'pageNumber',
    firstPage: 0,
    sizeParam: 'pageSize',
    newestFirstBy: '/createdAt',
  };
  expect(JSON.parse(result.draft ?? '{}')).toMatchObject({ history: { paging } });
  expect(seenOf(result, 'our payments in the history')).toEqual([
    'noted',
    '3 records on one page that were read, the newest first',
  ]);
  expect(seenOf(result, 'read back by history')).toEqual(READ);
});

type Settings = { maxCalls?: number; lagMs?: number; payments?: number; given?: object };

/** The service, and a probe of it by a person who pays. */
async function probed(
  service: Service,
  { maxCalls = 200, lagMs = 60_000, payments = 3, given = {} }: Settings = {},
): Promise<Probed> {
  const listener = await startListener('127.0.0.1', 0);
  const all: Payment[] = Array.from({ length: service.old }, (_none, at) => ({
    ...{
      id: `t${at}`,
      ref: `OLD${String(at).padStart(21, '0')}`,
      amount: 10 + at,
      currency: 'NGN',
      isPaid: at % 2 === 0,
    },
    at: Date.now() - (service.old - at) * 8 * 60 * 60 * 1_000,
  }));
  const answer = (
    path: string,
    query: URLSearchParams,
    headers: IncomingHttpHeaders,
    text: string,
  ): Reply => {
    if (!JSON.stringify(headers).includes('sk_test_unlike')) return { status: 401, body: { message: 'no' } };
    if (path === '/v1/transactions/history') return service.list(all, query);
    const asked = all.find(({ ref }) => path.endsWith(`/${ref}`));
    if (asked !== undefined) return { body: service.found(service.record(asked)) };
    if (text === '') return { status: 404, body: { message: 'unknown' } };
    const { reference, amount, localCurrency } = JSON.parse(text) as Record<string, string>;
    if (all.some(({ ref }) => ref === reference)) return { status: 409, body: { message: 'again' } };
    const [ref = '', currency = ''] = [reference, localCurrency];
    all.push({
      id: `t${all.length}`,
      ref,
      amount: Number(amount),
      currency,
      at: Date.now() + all.length,
      isPaid: false,
    });
    return { body: service.opened(`${origin}/pay/${ref}`) };
  };
  const server = createServer((req, res) => {
    let text = '';
    req.on('data', (part: Buffer) => (text += part.toString()));
    req.on('end', () => {
      const { pathname, searchParams } = new URL(req.url ?? '/', origin);
      const { status = 200, body, headers } = answer(pathname, searchParams, req.headers, text);
      res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    return await probe({
      ...{
        url: new URL(origin),
        key: new SecretKey('sk_test_unlike'),
        secrets: [new Secret(SECRET)],
        listener,
      },
      ...{
        dialect: parseDialect(JSON.stringify(given)).dialect,
        given: { ...given },
        email: 'probe@example.com',
        clock: systemClock,
      },
      ...{ money: { amount: 10_137n, currency: 'NGN' }, origin: 'http://localhost:3000', maxCalls, payments },
      ...{ waitMs: 120_000, hookMs: 60_000, lagMs, pauseMs: 0 },
      person: {
        sees: () => undefined,
        tells: () => Promise.resolve(null),
        pays: async ({ address }) => {
          const paid = all.find(({ ref }) => address?.endsWith(ref));
          if (paid === undefined) return false;
          paid.isPaid = true;
          const { body, headers } = service.hook(paid);
          await fetch(`http://127.0.0.1:${listener.port}`, { method: 'POST', body, headers });
          return true;
        },
      },
    });
  } finally {
    server.close();
    await listener.close();
  }
}

const seenOf = ({ findings }: Probed, about: string): unknown => {
  const found = findings.find((one) => one.about === about);
  return found && [found.verdict, found.seen];
};
const READ = ['agrees', '3 of 3 payments are read, the paid one with its amount'];

const SERVICES: [string, Service, object][] = [
  [
    'pages named days by number',
    numbered,
    {
      history: {
        fee: ['/fee'],
        paging: {
          ...{ sinceParam: 'created_from', untilParam: 'created_to' },
          ...{ windowDays: 30, windowFormat: 'date' },
        },
      },
      webhook: {
        signature: {
          ...{ header: 'x-hook-signature', prefix: 'v1=', algorithm: 'sha256', encoding: 'base64' },
          ...{ timestampHeader: 'x-hook-time', signs: 'timestamp.body' },
        },
      },
    },
  ],
  [
    'pages by a cursor',
    cursored,
    {
      history: {
        records: ['/items'],
        ...{ reference: ['/payment/merchant_ref'], status: ['/payment/state'] },
        ...{ amount: ['/payment/money/value'], currency: ['/payment/money/currency'] },
        paging: {
          ...{
            cursorParam: 'page_token',
            nextCursor: ['/next_page_token'],
            sizeParam: 'max_results',
            size: 50,
          },
        },
      },
      webhook: {
        signature: { prefix: 'sig=', encoding: 'base64url', separator: ':', timestampHeader: 'x-sent-at' },
      },
    },
  ],
  [
    'pages by links in a header',
    linked,
    {
      webhook: {
        signature: { list: { timestamp: 'ts', signature: 'h1' }, signs: 'timestamp.body', separator: ':' },
      },
    },
  ],
];

test.concurrent.each(SERVICES)(
  'a history that lists the oldest first and %s: the probe finds its payments on a later page and reads them back',
  async (_name, service, written) => {
    const result = await probed(service);
    expect(JSON.parse(result.draft ?? '{}')).toMatchObject(written);
    expect(seenOf(result, 'our payments in the history')).toEqual([
      'noted',
      expect.stringMatching(/^3 records on [2-9] pages that were read, the oldest first$/),
    ]);
    expect(seenOf(result, 'history.reachesBackDays')).toEqual([
      'agrees',
      expect.stringMatching(/^at least \d+ days/),
    ]);
    expect(seenOf(result, 'history.lagSec')).toEqual([
      'agrees',
      expect.stringMatching(/^listed as verify says/),
    ]);
    expect([seenOf(result, 'read back by verify'), seenOf(result, 'read back by history')]).toEqual([
      READ,
      READ,
    ]);
    const wide = reportOf(result, null)
      .split('\n')
      .filter((line) => line.length > 80);
    expect(wide).toEqual([]);
  },
  120_000,
);

/** The service, and how often its history was asked. */
function counted(service: Service): { service: Service; calls(): number } {
  let calls = 0;
  const list: Service['list'] = (all, query) => {
    calls += 1;
    return service.list(all, query);
  };
  return { service: { ...service, list }, calls: () => calls };
}

const changesOf = ({ findings }: Probed): string[] =>
  findings
    .filter(({ about, change }) => change !== undefined && about.startsWith('history'))
    .map(({ about, change }) => `${about} ${JSON.stringify(change)}`);

test.concurrent.each(IS_WHOLE ? [0, 1, 2, 3, 5, 8, 13, 21, 30, 34, 55] : [4])(
  'with %d calls for the history it makes no more, and claims nothing that it does not claim with enough of them',
  async (maxCalls) => {
    const isReadWrongly = ({ about, verdict }: Finding): boolean =>
      about.startsWith('read back') && verdict === 'differs';
    const probeIt = async (service: Service): Promise<void> => {
      const { service: asked, calls } = counted(service);
      const [all, few] = await Promise.all([
        probed(service, { lagMs: 0 }),
        probed(asked, { maxCalls, lagMs: 0 }),
      ]);
      expect(calls()).toBeLessThanOrEqual(maxCalls);
      // A call that was cut off on a busy machine was made and did not come.
      const said = few.findings.find(({ about }) => about === 'calls for the history')?.seen ?? '';
      expect(said).toContain(`of at most ${maxCalls}`);
      expect(Number.parseInt(said)).toBeGreaterThanOrEqual(calls());
      expect(Number.parseInt(said)).toBeLessThanOrEqual(maxCalls);
      expect(changesOf(few).filter((change) => !changesOf(all).includes(change))).toEqual([]);
      expect(few.findings.filter(isReadWrongly)).toEqual([]);
    };
    await Promise.all([numbered, cursored, linked].map(probeIt));
  },
  120_000,
);

/** Pages of twenty under a name of its own, the oldest first, and nothing that makes them smaller. */
const foreign: Service = {
  ...numbered,
  old: 0,
  list: (all, query) => {
    const page = Number(query.get('folio') ?? '1');
    return { body: { status: true, data: all.slice((page - 1) * 20, page * 20).map(numbered.record) } };
  },
};

test.concurrent(
  'three records under names that it does not know: it says that they may be all, and what to do',
  async () => {
    const result = await probed(foreign);
    expect(seenOf(result, 'history.paging.style')).toEqual([
      'cannot tell',
      expect.stringContaining('3 records came at once, and no name that we know makes them fewer'),
    ]);
    expect(result.needs.find(({ key }) => key === 'history.paging.style')?.question).toContain(
      '--payments 120',
    );
  },
  120_000,
);

test.concurrent(
  'more payments than a page holds show that the list has pages; their name in the dialect turns them',
  async () => {
    const cut = await probed(foreign, { payments: 25, lagMs: 0 });
    expect(seenOf(cut, 'history.paging.style')).toEqual([
      'cannot tell',
      expect.stringContaining('20 of our 25 payments are listed'),
    ]);
    expect(cut.needs.map(({ key }) => key)).not.toContain('history.paging.style');
    const given = { history: { paging: { pageParam: 'folio' } } };
    const read = await probed(foreign, { payments: 25, lagMs: 0, given });
    expect(seenOf(read, 'history.paging.pageParam')).toEqual(['agrees', '"folio"']);
    expect(seenOf(read, 'read back by history')).toEqual([
      'agrees',
      '25 of 25 payments are read, the paid one with its amount',
    ]);
  },
  120_000,
);

test.concurrent(
  'a list of three records with nothing that makes it smaller: an empty page behind it shows what turns it',
  async () => {
    const given = { history: { paging: { pageParam: 'folio' } } };
    const result = await probed(foreign, { given });
    expect(seenOf(result, 'history.paging.style')).toEqual(['agrees', '"page"']);
    expect(seenOf(result, 'history.paging.firstPage')).toEqual(['agrees', '1']);
  },
  120_000,
);

test('a signature that no scheme fits is asked about, and the scheme in force stays', async () => {
  const hook: Service['hook'] = (one) => {
    const body = JSON.stringify({ reference: one.ref });
    return { body, headers: { 'x-signature': createHmac('sha256', 'another').update(body).digest('hex') } };
  };
  const { findings, needs } = await probed({ ...numbered, old: 0, hook });
  expect(findings.find(({ about }) => about === 'webhook.signature')).not.toHaveProperty('change');
  expect(needs.map(({ key }) => key)).toContain('webhook.signature');
}, 120_000);
