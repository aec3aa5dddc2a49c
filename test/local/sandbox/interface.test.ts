import { afterEach, describe, expect, test } from '@jest/globals';

import { ask, cleanUp, control, initialize, openCheckout, orderText, start, verified } from './support.ts';

afterEach(cleanUp);

describe('keys and modes', () => {
  test.each([
    ['no key', {}],
    ['an empty key', { 'x-api-key': '' }],
    ['an unknown key', { 'x-api-key': 'sk_test_somebody_else' }],
    ['the key in another header', { authorization: 'Bearer sk_test_sandbox_no_real_money' }],
  ])('%s is answered 401 by every call and changes nothing', async (_, headers: Record<string, string>) => {
    const sandbox = await start();
    const calls = [
      fetch(`${sandbox.url}/v1/transactions/initialize`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: orderText(),
      }),
      fetch(`${sandbox.url}/v1/transactions/verify/order-1`, { headers }),
      fetch(`${sandbox.url}/v1/transactions/history`, { headers }),
    ];
    for (const response of await Promise.all(calls)) {
      expect(response.status).toBe(401);
      expect(await response.json()).toEqual({
        status: false,
        message: expect.any(String),
        code: 401,
        data: {},
      });
    }
    expect((await control(sandbox, 'transactions')).text).toBe('{"transactions":[]}');
  });

  test('nothing of one mode can be seen with the key of the other', async () => {
    const sandbox = await start();
    await initialize(sandbox, {}, sandbox.liveKey);
    expect((await ask(sandbox, 'verify/order-1')).status).toBe(404);
    expect((await ask(sandbox, 'verify/order-1', sandbox.liveKey)).status).toBe(200);
    expect((await ask(sandbox, 'history')).json().data).toMatchObject({ total: 0, data: [] });
    expect((await ask(sandbox, 'history', sandbox.liveKey)).json().data).toMatchObject({ total: 1 });
  });

  test('both modes may use the same reference, each for a payment of its own', async () => {
    const sandbox = await start();
    await initialize(sandbox, { amount: '10' });
    expect((await initialize(sandbox, { amount: '20' }, sandbox.liveKey)).status).toBe(200);
    await control(sandbox, 'transactions/order-1/pay', { mode: 'live' });
    expect(await verified(sandbox, 'order-1')).toEqual({ status: 'PENDING', amount: '10.00' });
  });

  test('an extra key is valid in the mode of its prefix', async () => {
    const sandbox = await start({ extraKeys: ['sk_live_of_a_shop'] });
    await initialize(sandbox, {}, 'sk_live_of_a_shop');
    expect((await ask(sandbox, 'verify/order-1', sandbox.liveKey)).status).toBe(200);
  });

  test('an extra key without a known prefix is refused at the start', async () => {
    await expect(start({ extraKeys: ['pk_public'] })).rejects.toThrow('neither');
  });
});

describe('initialize', () => {
  test('answers with the checkout address as a string in data, inside the envelope', async () => {
    const sandbox = await start();
    const opened = await initialize(sandbox);
    expect(opened.status).toBe(200);
    expect(opened.json()).toEqual({
      status: true,
      message: expect.any(String),
      code: 200,
      data: expect.stringMatching(new RegExp(`^${sandbox.url}/checkout/[A-Za-z0-9]{24}$`)),
    });
  });

  test('gives checkout pages the public address when there is one', async () => {
    const sandbox = await start({ publicUrl: 'https://pay.example' });
    expect(await openCheckout(sandbox, 'a')).toMatch(/^https:\/\/pay\.example\/checkout\//);
  });

  test('refuses a reference that was used, even for the very same order, and keeps the first', async () => {
    const sandbox = await start();
    await initialize(sandbox);
    expect(await initialize(sandbox)).toMatchObject({ status: 409 });
    expect((await initialize(sandbox, { amount: '1' })).json()).toMatchObject({
      status: false,
      code: 409,
      data: {},
    });
    expect(await verified(sandbox, 'order-1')).toEqual({ status: 'PENDING', amount: '25.00' });
  });

  test('of a hundred calls with one reference at once exactly one opens a checkout', async () => {
    const sandbox = await start();
    const opened = await Promise.all(Array.from({ length: 100 }, () => initialize(sandbox)));
    expect(opened.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(opened.filter(({ status }) => status === 409)).toHaveLength(99);
  });

  test.each(['email', 'amount', 'localCurrency', 'amountCurrency', 'reference', 'redirectUrl'])(
    'refuses an order without %s and names the field',
    async (field) => {
      const sandbox = await start();
      const refusal = await initialize(sandbox, { [field]: 'null' });
      expect(refusal.status).toBe(400);
      expect(refusal.json().message).toContain(field);
    },
  );

  test.each([
    ['an e-mail that is none', { email: '"ada"' }, 400],
    ['markup as e-mail', { email: JSON.stringify('<script>alert(1)</script>@example.com') }, 400],
    ['an amount in quotes', { amount: '"25.00"' }, 400],
    ['an amount with an exponent', { amount: '2.5e1' }, 422],
    ['a negative amount', { amount: '-25' }, 422],
    ['an amount of nothing', { amount: '0' }, 422],
    ['an amount below one unit', { amount: '0.99' }, 422],
    ['more decimals than the naira has', { amount: '25.001' }, 422],
    ['decimals of a franc', { amount: '25.5', localCurrency: '"XOF"' }, 422],
    ['a currency that does not exist', { localCurrency: '"ZZZ"' }, 422],
    ['a currency in small letters', { localCurrency: '"ngn"' }, 422],
    ['an amountCurrency the reference does not name', { amountCurrency: '"settlement"' }, 422],
    ['a reference that would leave its path segment', { reference: '"../history"' }, 400],
    ['a reference that is too long', { reference: JSON.stringify('x'.repeat(65)) }, 400],
    ['a script as redirectUrl', { redirectUrl: '"javascript:alert(1)"' }, 400],
    ['a file as redirectUrl', { redirectUrl: '"file:///etc/passwd"' }, 400],
    [
      'a redirectUrl with a line break',
      { redirectUrl: JSON.stringify('https://shop.example/\nset-cookie:a=b') },
      400,
    ],
    ['a path as redirectUrl', { redirectUrl: '"/back"' }, 400],
    [
      'a redirectUrl that hides its host behind a name',
      { redirectUrl: '"https://shop.example@evil.example/"' },
      400,
    ],
  ])('refuses %s', async (_, changes: Record<string, string>, status) => {
    const sandbox = await start();
    expect(await initialize(sandbox, changes)).toMatchObject({ status });
    expect((await control(sandbox, 'transactions')).text).toBe('{"transactions":[]}');
  });

  test.each([
    ['a broken body', 'application/json', '{"email":'],
    ['a list', 'application/json', '[]'],
    ['a form', 'application/x-www-form-urlencoded', 'email=a%40b.co'],
  ])('answers %s with 400 in the envelope', async (_, type, body) => {
    const sandbox = await start();
    const response = await fetch(`${sandbox.url}/v1/transactions/initialize`, {
      method: 'POST',
      headers: { 'content-type': type, 'x-api-key': sandbox.testKey },
      body,
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ status: false, code: 400, data: {} });
  });
});

describe('money', () => {
  test.each([
    ['NGN', '25', '25.00'],
    ['NGN', '25.5', '25.50'],
    ['NGN', '1.10', '1.10'],
    ['NGN', '999999999999999.99', '999999999999999.99'],
    ['XOF', '2500', '2500'],
    ['XOF', '999999999999999', '999999999999999'],
    ['KWD', '12.345', '12.345'],
    ['KWD', '1', '1.000'],
  ])(
    '%s %s comes back from verify and history as the number %s, digit by digit',
    async (currency, amount, wire) => {
      const sandbox = await start();
      await openCheckout(sandbox, 'a', { amount, localCurrency: JSON.stringify(currency) });
      expect((await ask(sandbox, 'verify/a')).text).toContain(`"amount":${wire},"currency":"${currency}"`);
      expect((await ask(sandbox, 'history')).text).toContain(`"amount":${wire},"currency":"${currency}"`);
    },
  );
});

describe('verify', () => {
  test('answers with the record of the asked reference', async () => {
    const sandbox = await start();
    await initialize(sandbox);
    expect((await ask(sandbox, 'verify/order-1')).json()).toEqual({
      status: true,
      message: expect.any(String),
      code: 200,
      data: {
        id: expect.any(String),
        reference: 'order-1',
        status: 'PENDING',
        amount: 25,
        currency: 'NGN',
        email: 'ada@example.com',
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      },
    });
  });

  test.each(['nobody', '__proto__', '%2e%2e%2fhistory'])(
    'answers 404 for the unknown reference %s',
    async (name) => {
      const sandbox = await start();
      expect((await ask(sandbox, `verify/${name}`)).json()).toMatchObject({
        status: false,
        code: 404,
        data: {},
      });
    },
  );

  test('answers a path that cannot be decoded, and one that does not exist, in the envelope', async () => {
    const sandbox = await start();
    expect((await ask(sandbox, 'verify/%E0%A4')).json()).toMatchObject({ status: false, code: 400 });
    expect((await ask(sandbox, 'nothing')).json()).toMatchObject({ status: false, code: 404 });
  });
});

describe('history', () => {
  type Page = {
    data: { reference: string }[];
    page: number;
    limit: number;
    total: number;
    hasNextPage: boolean;
  };

  test('lists every transaction once, newest first, page by page', async () => {
    const sandbox = await start();
    for (let count = 1; count <= 7; count += 1) await openCheckout(sandbox, `r${count}`);
    const pages: Page[] = [];
    for (let page = 1; page === 1 || pages.at(-1)?.hasNextPage; page += 1) {
      pages.push((await ask(sandbox, `history?page=${page}&limit=3`)).json().data as Page);
    }
    expect(pages.map(({ data }) => data.map(({ reference }) => reference))).toEqual([
      ['r7', 'r6', 'r5'],
      ['r4', 'r3', 'r2'],
      ['r1'],
    ]);
    expect(pages[1]).toMatchObject({ page: 2, limit: 3, total: 7, pageCount: 3 });
  });

  test('cuts a larger limit to a hundred, has a limit of its own, and ignores other parameters', async () => {
    const sandbox = await start();
    expect((await ask(sandbox, 'history?limit=5000&since=yesterday')).json().data).toMatchObject({
      limit: 100,
    });
    expect((await ask(sandbox, 'history')).json().data).toMatchObject({
      page: 1,
      limit: 20,
      hasNextPage: false,
    });
  });

  test('is empty past its end', async () => {
    const sandbox = await start();
    await initialize(sandbox);
    expect((await ask(sandbox, 'history?page=9')).json().data).toMatchObject({
      data: [],
      total: 1,
      hasNextPage: false,
    });
  });

  test.each(['page=0', 'page=-1', 'limit=0', 'limit=ten', 'page=1.5', 'page=1&page=2', 'limit='])(
    'refuses %s',
    async (query) => {
      const sandbox = await start();
      expect(await ask(sandbox, `history?${query}`)).toMatchObject({ status: 400 });
    },
  );
});
