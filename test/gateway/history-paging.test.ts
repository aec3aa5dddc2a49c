import { afterEach, beforeEach, describe, expect, test as testOfBoth } from '@jest/globals';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseDialect } from '../../src/gateway/dialect/dialect.ts';
import { GatewayKeyRefused, GatewayUnavailable } from '../../src/gateway/errors.ts';
import {
  readHistory,
  type HistoryCheckpoint,
  type HistoryEnd,
  type HistoryRow,
} from '../../src/gateway/history/history.ts';
import { SecretKey } from '../../src/gateway/secret-key.ts';
import { createClient, type Client } from '../../src/gateway/http/client.ts';
import { someOf } from '../support/extent.ts';
import { testOfFew as test } from '../support/test-of-all.ts';

type Answer = (query: URLSearchParams, res: ServerResponse, call: number) => void;

let server: Server;
let client: Client;
let calls: string[];
let answer: Answer;
beforeEach(async () => {
  calls = [];
  server = createServer((req, res) => {
    const { search, searchParams } = new URL(req.url ?? '/', 'http://x');
    calls.push(search);
    answer(searchParams, res, calls.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client = createClient(url, new SecretKey('sk_test_x'), 2);
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await client.close();
});

const row = (reference: string | number): string =>
  `{"reference":${JSON.stringify(String(reference))},"status":"SUCCESS","amount":25.00,"currency":"NGN"}`;
const rows = (from: number, to: number): string[] =>
  Array.from({ length: Math.max(to - from, 0) }, (_, at) => row(from + at));
const sendText = (res: ServerResponse, text: string, status = 200): void => {
  res.writeHead(status, { 'content-type': 'application/json' }).end(text);
};

async function read(
  dialect: object = {},
): Promise<{ rows: HistoryRow[]; references: number; end: HistoryEnd | null; pages: number }> {
  const found: HistoryRow[] = [];
  let last: HistoryEnd | null = null;
  let count = 0;
  for await (const batch of readHistory(client, parseDialect(JSON.stringify(dialect)).dialect)) {
    found.push(...batch.rows);
    last = batch.end;
    count = batch.pages;
  }
  return {
    rows: found,
    references: new Set(found.map(({ reference }) => reference)).size,
    end: last,
    pages: count,
  };
}

const WHOLE = { complete: true };
const paging = (settings: object): object => ({ history: { paging: settings } });

describe('without a word about paging, the list is walked until it adds nothing new', () => {
  const total = 230;
  const pageOf = (query: URLSearchParams, size: number): string[] => {
    const from = (Number(query.get('page')) - 1) * size;
    return rows(from, Math.min(from + size, total));
  };

  const services: [string, Answer, number][] = [
    [
      'pages with hasNextPage beside the rows',
      (query, res) => {
        sendText(
          res,
          `{"data":{"data":[${pageOf(query, 100).join(',')}],"hasNextPage":${query.get('page') !== '3'}}}`,
        );
      },
      3,
    ],
    [
      'pages with a page count written as text',
      (query, res) => {
        sendText(res, `{"data":[${pageOf(query, 100).join(',')}],"meta":{"pageCount":"3"}}`);
      },
      3,
    ],
    [
      'pages with a total',
      (query, res) => {
        sendText(res, `{"data":[${pageOf(query, 100).join(',')}],"pagination":{"total":230}}`);
      },
      3,
    ],
    [
      'bare pages, empty behind the end',
      (query, res) => {
        sendText(res, `[${pageOf(query, 100).join(',')}]`);
      },
      4,
    ],
    [
      'a limit that is silently clamped',
      (query, res) => {
        sendText(res, `[${pageOf(query, 50).join(',')}]`);
      },
      6,
    ],
    [
      'the last page again behind the end',
      (query, res) => {
        query.set('page', String(Math.min(Number(query.get('page')), 3)));
        sendText(res, `[${pageOf(query, 100).join(',')}]`);
      },
      4,
    ],
    [
      'the first page again behind the end',
      (query, res) => {
        if (Number(query.get('page')) > 3) query.set('page', '1');
        sendText(res, `[${pageOf(query, 100).join(',')}]`);
      },
      4,
    ],
    [
      'one list, whatever is asked',
      (_query, res) => {
        sendText(res, `[${rows(0, total).join(',')}]`);
      },
      2,
    ],
    [
      'cursors',
      (query, res) => {
        const from = Number(query.get('cursor') ?? '0');
        sendText(
          res,
          `{"data":[${rows(from, Math.min(from + 100, total)).join(',')}],"meta":{"next":${from + 100 < total ? `"${from + 100}"` : 'null'}}}`,
        );
      },
      3,
    ],
    [
      'links',
      (query, res) => {
        const from = Number(query.get('after') ?? '0');
        sendText(
          res,
          `{"data":[${rows(from, Math.min(from + 100, total)).join(',')}],"links":{"next":${from + 100 < total ? `"https://other.example/v1/transactions/history?after=${from + 100}"` : 'null'}}}`,
        );
      },
      3,
    ],
    [
      'links in a header',
      (query, res) => {
        const from = Number(query.get('after') ?? '0');
        const links = ['</style.css>; rel=preload', '</v1/transactions/history>; rel="first"'];
        const next = `<https://other.example/v1/transactions/history?after=${from + 100}>; title="a"; rel="next"`;
        res.setHeader('link', [...links, ...(from + 100 < total ? [next] : [])].join(', '));
        sendText(res, `[${rows(from, Math.min(from + 100, total)).join(',')}]`);
      },
      3,
    ],
    [
      'an empty page in the middle',
      (query, res) => {
        const page = Number(query.get('page'));
        if (page === 2) sendText(res, '{"data":[],"hasNextPage":true}');
        else
          sendText(
            res,
            `{"data":[${page === 1 ? rows(0, 100).join(',') : rows(100, total).join(',')}],"hasNextPage":${page === 1}}`,
          );
      },
      3,
    ],
    [
      'newest first, and a new one arrives after page 1',
      (query, res, call) => {
        const all = [...(call > 1 ? [row('new')] : []), ...rows(0, total)];
        const from = (Number(query.get('page')) - 1) * 100;
        sendText(res, `[${all.slice(from, from + 100).join(',')}]`);
      },
      4,
    ],
  ];

  test.each(services)('%s', async (_name, service, pages) => {
    answer = service;
    const found = await read();
    expect(found).toMatchObject({ references: total, end: WHOLE, pages });
  });
});

describe('a list that may have been cut is never called whole', () => {
  const cut: [string, Answer, object?][] = [
    [
      'more is promised for ever',
      (_query, res) => {
        sendText(res, `{"data":[${rows(0, 7).join(',')}],"hasNextPage":true}`);
      },
    ],
    [
      'pages are empty for ever',
      (query, res) => {
        sendText(res, `{"data":[${query.get('page') === '1' ? row(1) : ''}],"hasNextPage":true}`);
      },
    ],
    [
      'it counts more than it gives',
      (query, res) => {
        sendText(res, `{"data":[${query.get('page') === '1' ? row(1) : ''}],"total":5,"hasNextPage":false}`);
      },
    ],
    [
      'the total shrinks',
      (query, res) => {
        const page = Number(query.get('page'));
        sendText(res, `{"data":[${rows(page * 100, page * 100 + 100).join(',')}],"total":${500 - page}}`);
      },
    ],
    [
      'the total counts the page',
      (query, res) => {
        const page = Number(query.get('page'));
        const shown = rows((page - 1) * 100, Math.min(page * 100, 230));
        sendText(res, `{"data":[${shown.join(',')}],"total":${shown.length}}`);
      },
    ],
    [
      'a page is a failure inside HTTP 200',
      (query, res) => {
        sendText(
          res,
          query.get('page') === '1'
            ? `{"status":true,"data":[${rows(0, 100).join(',')}]}`
            : '{"status":false,"message":"try again later","data":[]}',
        );
      },
    ],
    [
      'a cursor leads in a circle',
      (_query, res, call) => {
        sendText(res, `{"data":[${row(call)}],"meta":{"next":"${call % 3}"}}`);
      },
    ],
    [
      'a link leads elsewhere',
      (_query, res) => {
        sendText(res, `{"data":[${row(1)}],"links":{"next":"/v1/transactions/initialize"}}`);
      },
    ],
    [
      'the limit is refused',
      (_query, res) => {
        sendText(res, '{}', 400);
      },
    ],
    [
      'a list that is not paged says that there is more',
      (_query, res) => {
        sendText(res, `{"data":[${row(1)}],"hasNextPage":true}`);
      },
      paging({ style: 'none' }),
    ],
    [
      'it is HTML',
      (_query, res) => {
        sendText(res, '<html>');
      },
    ],
  ];

  test.each(cut)('%s', async (_name, service, dialect = {}) => {
    answer = service;
    const { end } = await read(dialect).catch((error: unknown) => {
      expect(error).toBeInstanceOf(GatewayUnavailable);
      return { end: { complete: false } };
    });
    expect(end).toMatchObject({ complete: false });
    expect(calls.length).toBeLessThan(15);
  });
});

test.each([7, 20, 100])(
  'G14: a list of %d rows for every page is whole, and its end is assumed',
  async (count) => {
    answer = (_query, res) => {
      sendText(res, `[${rows(0, count).join(',')}]`);
    };
    expect((await read()).end).toEqual({ complete: true, isAssumed: true });
    answer = (_query, res) => {
      sendText(res, `{"data":[${rows(0, count).join(',')}],"hasMore":false}`);
    };
    expect((await read()).end).toEqual({ complete: true });
  },
);

test('a service that ignores the page is noticed although new money heads each answer', async () => {
  answer = (_query, res, call) => {
    if (call > 20) sendText(res, '{}', 500);
    else sendText(res, `[${[...rows(100, 100 + call).reverse(), ...rows(0, 40)].join(',')}]`);
  };
  expect(await read()).toMatchObject({ pages: 2, end: { complete: true, isAssumed: true } });
});

test('pages that begin with refunds of one amount of one payment are all read', async () => {
  const refund = (id: string): string =>
    `{"id":"${id}","reference":"r","status":"REVERSED","amount":5,"currency":"NGN"}`;
  answer = (query, res) => {
    const page = Number(query.get('page'));
    sendText(res, `[${page > 2 ? '' : [refund(`r-${page}`), ...rows(page * 40, page * 40 + 40)].join(',')}]`);
  };
  expect(await read()).toMatchObject({ pages: 3, references: 81, end: { complete: true } });
});

describe('a total that stands in a header', () => {
  const withTotal =
    (name: string, total: number, size = 50): Answer =>
    (query, res) => {
      const from = (Number(query.get('page')) - 1) * size;
      res.setHeader(name, String(total));
      sendText(res, `[${rows(from, Math.min(from + size, 230)).join(',')}]`);
    };

  test('says where the list ends: nothing is asked behind it', async () => {
    answer = withTotal('X-Total-Count', 230);
    expect(await read()).toMatchObject({ references: 230, end: WHOLE, pages: 5 });
  });

  test('says that the list was cut: what lies behind the cap is not called absent', async () => {
    answer = (_query, res) => {
      res.setHeader('x-total-count', '230');
      sendText(res, `[${rows(0, 73).join(',')}]`);
    };
    for (const style of ['none', 'auto'])
      expect((await read(paging({ style }))).end).toEqual({
        complete: false,
        reason: 'the history promises 230 records and gave 73: check history.paging in the dialect',
      });
    expect((await read(paging({ style: 'none', totalHeader: null }))).end).toEqual(WHOLE);
  });

  test('is read from the header that the dialect names', async () => {
    answer = withTotal('Pagination-Rows', 230);
    expect(await read(paging({ totalHeader: 'Pagination-Rows' }))).toMatchObject({ end: WHOLE, pages: 5 });
    expect(await read()).toMatchObject({ end: WHOLE, pages: 6 });
  });

  test('gives way to one in the body, and what is no number says nothing', async () => {
    answer = (query, res) => {
      const from = (Number(query.get('page')) - 1) * 50;
      res.setHeader('x-total-count', '50');
      sendText(res, `{"data":[${rows(from, Math.min(from + 50, 230)).join(',')}],"total":230}`);
    };
    expect(await read()).toMatchObject({ references: 230, end: WHOLE, pages: 5 });
    answer = (query, res) => {
      const from = (Number(query.get('page')) - 1) * 50;
      res.setHeader('x-total-count', 'many');
      sendText(res, `[${rows(from, Math.min(from + 50, 230)).join(',')}]`);
    };
    expect(await read()).toMatchObject({ references: 230, end: WHOLE, pages: 6 });
  });
});

describe('a style that the dialect names', () => {
  test('offset: counts the records received', async () => {
    answer = (query, res) => {
      const from = Number(query.get('skip'));
      sendText(res, `[${rows(from, Math.min(from + 30, 70)).join(',')}]`);
    };
    expect(await read(paging({ style: 'offset', pageParam: 'skip', sizeParam: 'take' }))).toMatchObject({
      references: 70,
      end: WHOLE,
    });
    expect(calls).toEqual([
      '?take=100&skip=0',
      '?take=100&skip=30',
      '?take=100&skip=60',
      '?take=100&skip=70',
    ]);
  });

  test('none: one call, and what is in it is all', async () => {
    answer = (_query, res) => {
      sendText(res, `{"data":[${rows(0, 100).join(',')}]}`);
    };
    expect(await read(paging({ style: 'none' }))).toMatchObject({ references: 100, end: WHOLE });
    expect(calls).toEqual(['']);
  });

  test('a window is asked for where the service takes one, a day wider than ours', async () => {
    answer = (_query, res) => {
      sendText(res, '[]');
    };
    const dialect = parseDialect(
      JSON.stringify(paging({ style: 'none', sinceParam: 'from', untilParam: 'to' })),
    ).dialect;
    const window = { since: new Date('2026-02-02'), until: new Date('2026-02-03') };
    let last: HistoryEnd | null = null;
    for await (const { end } of readHistory(client, dialect, window)) last = end;
    expect(last).toEqual(WHOLE);
    expect(calls).toEqual(['?from=2026-02-01T00%3A00%3A00.000Z&to=2026-02-04T00%3A00%3A00.000Z']);
  });
});

describe('errors', () => {
  test('a refused key is said to be that', async () => {
    answer = (_query, res) => {
      sendText(res, '{}', 401);
    };
    await expect(read()).rejects.toThrow(GatewayKeyRefused);
  });

  testOfBoth.each(someOf([429, 500, 503], 1))('HTTP %i: ask again later', async (status) => {
    answer = (_query, res) => {
      sendText(res, '{}', status);
    };
    await expect(read()).rejects.toThrow(GatewayUnavailable);
  });

  test.each([401, 500, 404])(
    'HTTP %i with a body that goes on and on is not read to its end',
    async (status) => {
      answer = (_query, res) => {
        res.writeHead(status);
        const more = (): void => {
          if (!res.destroyed) res.write('x'.repeat(100_000), more);
        };
        more();
      };
      await read().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 100));
    },
  );

  test('a connection that breaks in the middle has handed over what came before', async () => {
    answer = (_query, res) => {
      res.writeHead(200, { 'content-length': 1_000_000 }).write(`[${rows(0, 50).join(',')},`);
      setTimeout(() => res.destroy(), 50);
    };
    const found: HistoryRow[] = [];
    const reading = (async () => {
      for await (const batch of readHistory(client, parseDialect('{}').dialect)) found.push(...batch.rows);
    })();
    await expect(reading).rejects.toThrow(GatewayUnavailable);
    // Three tries, each of which got as far.
    expect(found.length).toBe(150);
  });

  test('who stops listening frees the connection', async () => {
    answer = (_query, res) => {
      res.write('[');
      const more = (): void => {
        if (!res.destroyed) res.write(`${rows(0, 2_000).join(',')},`, more);
      };
      more();
    };
    const closed = new Promise<void>((resolve) => {
      server.on('connection', (socket) => {
        socket.on('close', () => {
          resolve();
        });
      });
    });
    for await (const batch of readHistory(client, parseDialect('{}').dialect))
      if (batch.rows.length > 0) break;
    await closed;
  });
});

describe('a record becomes a row', () => {
  const one = async (text: string, dialect: object = {}): Promise<HistoryRow | undefined> => {
    answer = (_query, res) => {
      sendText(res, `[${text}]`);
    };
    return (await read({ ...dialect, ...paging({ style: 'none' }) })).rows[0];
  };

  test('with digits beyond a float, in id, reference and amount', async () => {
    expect(
      await one(
        '{"id":90071992547409931234,"reference":123456789012345678901234,"status":"paid","amount":90071992547409.93,"currency":"ngn"}',
      ),
    ).toMatchObject({
      serviceId: '90071992547409931234',
      reference: '123456789012345678901234',
      amount: 9_007_199_254_740_993n,
      currency: 'NGN',
      status: 'paid',
    });
  });

  test.each([
    ['no object', '[]'],
    ['not JSON', '{"reference":"r","status":"paid",}'],
    ['the same key twice', '{"reference":"r","status":"paid","amount":1,"amount":2,"currency":"NGN"}'],
    ['no reference', '{"status":"paid","amount":1,"currency":"NGN"}'],
    ['no status', '{"reference":"r","amount":1,"currency":"NGN"}'],
    ['paid without an amount', '{"reference":"r","status":"paid","currency":"NGN"}'],
    ['paid without a currency', '{"reference":"r","status":"paid","amount":1}'],
    [
      'paid more than a bigint',
      '{"reference":"r","status":"paid","amount":999999999999999.9999,"currency":"CLF"}',
    ],
    ['finer than its currency', '{"reference":"r","status":"paid","amount":0.005,"currency":"NGN"}'],
    [
      'nested beyond the stack',
      `{"reference":"r","status":"paid","x":${'['.repeat(40_000)}${']'.repeat(40_000)}}`,
    ],
  ])('that is unreadable when it is %s', async (_name, text) => {
    expect(await one(text)).toMatchObject({ status: 'unreadable' });
  });

  test('whose absent money is assumed only where the dialect says so', async () => {
    const text = '{"reference":"r","status":"paid"}';
    expect(await one(text, { verify: { amountMayBeAbsent: true, currencyMayBeAbsent: true } })).toMatchObject(
      { status: 'paid', amount: null, isMoneyAssumed: true },
    );
    expect(await one(text, { verify: { amountMayBeAbsent: true } })).toMatchObject({ status: 'unreadable' });
  });

  test('whose texts a database can hold, and which stay different', async () => {
    const long = 'x'.repeat(5_000);
    const a = await one(`{"reference":"${long}a\\u0000","status":"failed"}`);
    const b = await one(`{"reference":"${long}b\\u0000","status":"failed"}`);
    expect(a?.reference?.length).toBeLessThan(200);
    expect(a?.reference).not.toContain('\u0000');
    expect(a?.reference).not.toBe(b?.reference);
  });
});

describe('a page that does not come', () => {
  const pages = (query: URLSearchParams, res: ServerResponse): void => {
    const page = Number(query.get('page'));
    sendText(res, `{"data":[${rows((page - 1) * 100, page * 100).join(',')}],"hasNextPage":${page < 4}}`);
  };

  const statuses = someOf([500, 503, 429], 1);
  testOfBoth.each(statuses)('with HTTP %i is asked for again, and its rows come once', async (status) => {
    answer = (query, res, call) => {
      if (call === 2 || call === 3) sendText(res, '{}', status);
      else pages(query, res);
    };
    const found = await read();
    expect(found).toMatchObject({ references: 400, end: WHOLE, pages: 4 });
    expect(found.rows).toHaveLength(400);
    expect(calls.filter((call) => call.includes('page=2'))).toHaveLength(3);
  });

  test('is not asked for before its Retry-After, nor waited for beyond a minute', async () => {
    const times: number[] = [];
    answer = (query, res, call) => {
      times.push(performance.now());
      if (call === 2) res.writeHead(429, { 'retry-after': '2' }).end();
      else if (call === 4) res.writeHead(429, { 'retry-after': '3600' }).end();
      else pages(query, res);
    };
    await expect(read()).rejects.toThrow(GatewayUnavailable);
    // No upper bound: the machine may be busy. Sooner is forbidden.
    expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual(1_990);
    expect(calls).toHaveLength(4);
  });

  test('and breaks off is read again from its first row: what came before is said to come once more', async () => {
    let kept: HistoryRow[] = [];
    let ofWholePages = 0;
    answer = (query, res, call) => {
      if (call !== 3) {
        pages(query, res);
        return;
      }
      res.writeHead(200, { 'content-length': 1_000_000 }).write(`{"data":[${rows(200, 250).join(',')},`);
      setTimeout(() => res.destroy(), 50);
    };
    for await (const batch of readHistory(client, parseDialect('{}').dialect)) {
      if (batch.isPageAgain === true) kept = kept.slice(0, ofWholePages);
      kept.push(...batch.rows);
      if (batch.checkpoint !== null) ofWholePages = kept.length;
    }
    expect(kept.map(({ reference }) => reference)).toEqual(
      Array.from({ length: 400 }, (_, at) => String(at)),
    );
  });

  test('a refused key half-way ends the reading at once', async () => {
    answer = (query, res, call) => {
      if (call === 3) sendText(res, '{}', 401);
      else pages(query, res);
    };
    await expect(read()).rejects.toThrow(GatewayKeyRefused);
    expect(calls).toHaveLength(3);
  });
});

describe('a reading goes on from a checkpoint', () => {
  const styles: [string, object, Answer][] = [
    [
      'page',
      { style: 'page' },
      (query, res) => {
        const page = Number(query.get('page'));
        sendText(res, `[${rows((page - 1) * 50, Math.min(page * 50, 230)).join(',')}]`);
      },
    ],
    [
      'page, the last one again behind the end',
      { style: 'page' },
      (query, res) => {
        const page = Math.min(Number(query.get('page')), 5);
        sendText(res, `[${rows((page - 1) * 50, Math.min(page * 50, 230)).join(',')}]`);
      },
    ],
    [
      'page, and behind the end the list from its beginning',
      { style: 'page' },
      (query, res) => {
        const page = (Number(query.get('page')) - 1) % 5;
        sendText(res, `[${rows(page * 50, Math.min(page * 50 + 50, 230)).join(',')}]`);
      },
    ],
    [
      'offset',
      { style: 'offset', pageParam: 'skip' },
      (query, res) => {
        const from = Number(query.get('skip'));
        sendText(res, `[${rows(from, Math.min(from + 50, 230)).join(',')}]`);
      },
    ],
    [
      'cursor',
      { style: 'cursor' },
      (query, res) => {
        const to = Number(query.get('cursor') ?? '0') + 50;
        sendText(
          res,
          `{"data":[${rows(to - 50, Math.min(to, 230)).join(',')}],"meta":{"next":${to < 230 ? `"${to}"` : 'null'}}}`,
        );
      },
    ],
    [
      'a total that shrinks',
      {},
      (query, res) => {
        const page = Number(query.get('page'));
        sendText(res, `{"data":[${rows((page - 1) * 50, page * 50).join(',')}],"total":${230 - page}}`);
      },
    ],
  ];

  test.each(styles)('wherever it stopped: %s', async (_name, style, service) => {
    answer = service;
    const { dialect } = parseDialect(JSON.stringify(paging(style)));
    const whole = await read(paging(style));
    const marks: string[] = [];
    for await (const { checkpoint } of readHistory(client, dialect))
      if (checkpoint !== null) marks.push(JSON.stringify(checkpoint));
    expect(marks.length).toBe(whole.pages);
    for (const mark of marks) {
      const from = JSON.parse(mark) as HistoryCheckpoint;
      const found: (string | null)[] = whole.rows.slice(0, from.received).map(({ reference }) => reference);
      let [end, pages]: [HistoryEnd | null, number] = [null, 0];
      for await (const batch of readHistory(client, dialect, { from })) {
        found.push(...batch.rows.map(({ reference }) => reference));
        ({ end, pages } = batch);
      }
      expect({ found, end, pages }).toEqual({
        found: whole.rows.map(({ reference }) => reference),
        end: whole.end,
        pages: whole.pages,
      });
    }
  });

  test('B8: nothing of what a record says stands in it, plain or encoded', async () => {
    const person = '"customer":{"email":"ada@example.com"}';
    answer = (query, res) => {
      const page = Number(query.get('page'));
      const texts = rows((page - 1) * 50, page * 50).map((row) => row.replace('{', `{${person},`));
      sendText(res, page <= 3 ? `[${texts.join(',')}]` : '[]');
    };
    const { dialect } = parseDialect(JSON.stringify(paging({ style: 'page' })));
    const texts: string[] = [];
    for await (const { checkpoint } of readHistory(client, dialect)) {
      // Whatever is written in base64 is read again.
      const decode = (_key: string, value: unknown): unknown =>
        typeof value === 'string' ? `${value} ${Buffer.from(value, 'base64').toString('latin1')}` : value;
      if (checkpoint !== null) texts.push(JSON.stringify(checkpoint, decode));
    }
    expect(texts).toHaveLength(4);
    expect(texts.join()).not.toMatch(/ada@example|customer|email/);
  });
});
