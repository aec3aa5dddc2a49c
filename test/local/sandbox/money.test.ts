import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { amountOnRecord } from '../../../local/sandbox/assumptions.ts';
import type { LedgerEntry } from '../../../local/sandbox/control/entry.ts';
import { formatAmount, parseMoney } from '../../../local/sandbox/money.ts';
import type { Sandbox } from '../../../local/sandbox/sandbox.ts';
import { cleanUp, control, initialize, newFolder, openCheckout, start } from './support.ts';

afterEach(cleanUp);

type Money = { balances: Record<'currency' | 'available' | 'pending' | 'transferred', string>[] };
const moneyOf = async (sandbox: Sandbox, mode = 'test'): Promise<Money> =>
  JSON.parse((await control(sandbox, `money?mode=${mode}`)).text) as Money;

describe('a record', () => {
  const paid = (
    minor: bigint,
    currency: string,
  ): { money: { minor: bigint; currency: string }; at: string; by: 'control' } => ({
    money: { minor, currency },
    at: '',
    by: 'control',
  });
  const asked = { minor: 100n, currency: 'NGN' };

  test('shows the sum of what was paid in the currency of its first payment', () => {
    expect(amountOnRecord({ asked, payments: [paid(60n, 'NGN'), paid(50n, 'NGN')] })).toEqual({
      minor: 110n,
      currency: 'NGN',
    });
  });

  test('never adds francs to naira', () => {
    expect(
      amountOnRecord({ asked, payments: [paid(60n, 'XOF'), paid(40n, 'NGN'), paid(5n, 'XOF')] }),
    ).toEqual({
      minor: 65n,
      currency: 'XOF',
    });
  });
});

describe('balances', () => {
  test('tell what is pending, then what is available, then what was paid out', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await control(sandbox, 'transactions/a/pay', {});
    expect((await askFor(sandbox, '/balances')).text).toContain('"available":0.00,"pending":25.00');
    expect(await control(sandbox, 'transfers', { amount: '20.00', currency: 'NGN' })).toMatchObject({
      status: 409,
    });
    await control(sandbox, 'available', {});
    const sent = await control(sandbox, 'transfers', {
      amount: '20.00',
      currency: 'NGN',
      reference: 'payout-1',
    });
    expect(sent.status).toBe(201);
    expect((await askFor(sandbox, '/balances')).text).toContain('"available":5.00,"pending":0.00');
    expect((await askFor(sandbox, '/transfers')).text).toContain(
      '"reference":"payout-1","amount":20.00,"currency":"NGN"',
    );
    expect(await control(sandbox, 'transfers', { amount: '5.01', currency: 'NGN' })).toMatchObject({
      status: 409,
    });
  });

  test.each([
    [422, { amount: '1.234', currency: 'NGN' }],
    [422, { amount: '1', currency: 'naira' }],
    [409, { amount: '0', currency: 'NGN' }],
    [409, { amount: '1', currency: 'KWD' }],
    [422, { amount: 1, currency: 'NGN' }],
  ])('answer %d to a transfer of %j and pay nothing out', async (status, body) => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await control(sandbox, 'transactions/a/pay', {});
    await control(sandbox, 'available', {});
    expect(await control(sandbox, 'transfers', body)).toMatchObject({ status });
    expect(await moneyOf(sandbox)).toMatchObject({ balances: [{ available: '25.00' }] });
  });

  test('of both modes are apart, need a key, and stand at the path of the profile in force alone', async () => {
    const sandbox = await start();
    await initialize(sandbox, {}, sandbox.liveKey);
    await control(sandbox, 'transactions/order-1/pay', {});
    expect((await moneyOf(sandbox)).balances).toEqual([]);
    expect(await moneyOf(sandbox, 'live')).toMatchObject({ balances: [{ pending: '25.00' }] });
    expect((await fetch(`${sandbox.url}/v1/balances`)).status).toBe(401);
    expect((await askFor(sandbox, '/balance')).status).toBe(404);
    await control(sandbox, 'profile', { name: 'minor-units' });
    expect((await askFor(sandbox, '/balances')).status).toBe(404);
    expect((await askFor(sandbox, '/balance')).status).toBe(200);
  });

  test('can fall below zero, when money goes back that was paid out, and say so', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await control(sandbox, 'transactions/a/pay', {});
    await control(sandbox, 'available', {});
    await control(sandbox, 'transfers', { amount: '24.50', currency: 'NGN' });
    await control(sandbox, 'transactions/a/reverse', {});
    expect(await moneyOf(sandbox)).toMatchObject({
      balances: [{ available: '-24.50', transferred: '24.50' }],
    });
    expect((await askFor(sandbox, '/balances')).text).toContain('"available":-24.50');
  });

  test('whatever happens in whatever order: collected and not taken back = pending + available + paid out, also after a restart', async () => {
    const deeds = fc.array(
      fc.tuple(
        fc.constantFrom('pay', 'reverse', 'fail', 'available', 'transfers'),
        fc.constantFrom('a', 'b', 'c'),
      ),
      { minLength: 5, maxLength: 25 },
    );
    for (const day of fc.sample(deeds, { seed: 7, numRuns: 12 })) {
      const dataDir = await newFolder();
      const sandbox = await start({ dataDir });
      await openCheckout(sandbox, 'a');
      await openCheckout(sandbox, 'b', { amount: '40', localCurrency: '"XOF"' });
      await openCheckout(sandbox, 'c', { amount: '9.99' });
      for (const [deed, reference] of day) {
        if (deed === 'transfers') await control(sandbox, deed, { amount: '7', currency: 'NGN' });
        else if (deed === 'available') await control(sandbox, deed, {});
        else await control(sandbox, `transactions/${reference}/${deed}`, {});
      }
      await booksClose(sandbox);
      const before = await moneyOf(sandbox);
      await sandbox.close();
      const after = await start({ dataDir });
      expect(await moneyOf(after)).toEqual(before);
      await booksClose(after);
      await after.close();
    }
  });
});

async function booksClose(sandbox: Sandbox): Promise<void> {
  const { transactions } = JSON.parse((await control(sandbox, 'transactions')).text) as {
    transactions: LedgerEntry[];
  };
  const { balances } = await moneyOf(sandbox);
  const minor = (amount: string, currency: string): bigint => parseMoney(amount, currency)?.minor ?? 0n;
  for (const currency of ['NGN', 'XOF']) {
    const collected = transactions
      .filter(({ state }) => state !== 'reversed')
      .flatMap(({ payments }) => payments)
      .filter((payment) => payment.currency === currency)
      .reduce((sum, { amount }) => sum + minor(amount, currency), 0n);
    const held = balances.find((balance) => balance.currency === currency);
    const sum = (['available', 'pending', 'transferred'] as const)
      .map((part) => held?.[part] ?? '0')
      .map((text) => (text.startsWith('-') ? -minor(text.slice(1), currency) : minor(text, currency)))
      .reduce((total, part) => total + part, 0n);
    expect(`${currency} ${formatAmount({ minor: sum, currency })}`).toBe(
      `${currency} ${formatAmount({ minor: collected, currency })}`,
    );
  }
}

async function askFor(sandbox: Sandbox, path: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${sandbox.url}/v1${path}`, { headers: { 'x-api-key': sandbox.testKey } });
  return { status: answer.status, text: await answer.text() };
}
