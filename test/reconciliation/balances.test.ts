import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test as testOfBoth } from '@jest/globals';
import { reconcileBalances, type BalanceSnapshot } from '../../src/reconciliation/report/balances.sql.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import type { ProfileName } from '../../local/sandbox/profiles/all.ts';
import { PROFILE_DIALECTS } from '../local/sandbox/profile-dialects.ts';
import { someOf } from '../support/extent.ts';
import { testOfFew as test } from '../support/test-of-all.ts';
import { startProgram, type TestProgram } from '../support/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'cash-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const fields = { reference: ['/reference'], currency: ['/currency'], status: ['/status'] };
const transfers = { ...fields, path: '/v1/transfers', records: ['/data'], amount: ['/amount'] };
const balances = {
  ...fields,
  path: '/v1/balances',
  records: ['/data'],
  amount: ['/available'],
  pending: ['/pending'],
};

const LISTS: [ProfileName, { balances: object; transfers: object }][] = [
  ['plain', { balances, transfers }],
  [
    'minor-units',
    {
      balances: { ...balances, path: '/v1/balance', amount: ['/balance'] },
      transfers: { ...transfers, path: '/v1/transfer' },
    },
  ],
  [
    'value-objects',
    {
      balances: {
        ...balances,
        records: ['/balances'],
        amount: ['/availableAmount/value'],
        pending: ['/pendingAmount/value'],
      },
      transfers: {
        ...transfers,
        path: '/v1/settlements',
        records: ['/settlements'],
        amount: ['/amount/value'],
        currency: ['/amount/currency'],
      },
    },
  ],
  [
    'aggregator',
    {
      balances: {
        path: '/v1/balances',
        form: 'by-currency',
        records: ['/data'],
        amount: ['/available_balance'],
        total: ['/ledger_balance'],
      },
      transfers,
    },
  ],
  [
    'invoices',
    {
      balances: {
        path: '/v1/balance',
        form: 'by-currency',
        records: [''],
        amount: ['/amount'],
        pending: ['/pendingAmount'],
      },
      transfers: { ...transfers, path: '/v1/payout', records: ['/payouts'] },
    },
  ],
  [
    'virtual-accounts',
    {
      balances: {
        path: '/v1/disbursements/wallet-balance',
        form: 'one',
        records: ['/responseBody'],
        currency: ['/currency'],
        amount: ['/availableBalance'],
        total: ['/ledgerBalance'],
      },
      transfers: { ...transfers, path: '/v1/disbursements/history', records: ['/responseBody/content'] },
    },
  ],
  [
    'sessions',
    {
      balances: {
        path: '/v1/balance',
        records: ['/available'],
        pendingRecords: ['/pending'],
        currency: ['/currency'],
        amount: ['/amount'],
      },
      transfers: { ...transfers, path: '/v1/payouts', reference: ['/description'] },
    },
  ],
  [
    'capitals',
    {
      balances: {
        ...balances,
        path: '/v1/accounts',
        amount: ['/availableBalance'],
        pending: ['/unclearedBalance'],
      },
      transfers: { ...transfers, path: '/v1/disbursements' },
    },
  ],
];

/** What is pending is in the one number that this service tells. */
const A_NUMBER_BY_CURRENCY = {
  balances: { path: '/v1/balances', form: 'by-currency', records: ['/data'], amount: [''] },
  transfers,
};

async function open(profile: ProfileName, lists: object): Promise<TestProgram> {
  const file = join(folder, `${profile}.json`);
  writeFileSync(file, JSON.stringify({ ...PROFILE_DIALECTS[profile], ...lists }));
  return startProgram({ profile, env: { GATEWAY_DIALECT: file, WEBHOOK_SECRETS: 'whsec_test' } });
}

async function paidOrder(shop: TestProgram): Promise<string> {
  const { reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  return reference;
}

describe('collected minus transferred out is the balance', () => {
  testOfBoth.each(someOf(LISTS, 2))('of a service like %s', async (profile, lists) => {
    const shop = await open(profile, lists);
    try {
      const run = (): Promise<ReconciliationReport> => shop.program.reconcile({ dryRun: false });
      await paidOrder(shop);
      await paidOrder(shop);
      expect((await shop.hand('available')).ok).toBe(true);
      const sent = { amount: '2000.00', currency: 'NGN', reference: 'po-1' };
      expect((await shop.hand('transfers', sent)).status).toBe(201);
      await paidOrder(shop);
      const report = await run();
      expect(report).toMatchObject({ complete: true, verdict: 'agreed', repaired: 3 });
      expect(report.balances).toEqual([
        {
          currency: 'NGN',
          collected: '25500.00',
          transferred: '2000.00',
          available: '15000.00',
          pending: '8500.00',
          balance: '23500.00',
          difference: '0.00',
        },
      ]);
      expect(report.transfers).toEqual({ listed: 1, unnamed: 0, changed: 0, changes: [] });
      expect(await shop.program.database.query('SELECT reference, amount::text FROM payouts')).toEqual([
        { reference: 'po-1', amount: '200000' },
      ]);
    } finally {
      await shop.close();
    }
  });

  test('of a service like attempts, which tells a number by currency', async () => {
    const shop = await open('attempts', A_NUMBER_BY_CURRENCY);
    try {
      await paidOrder(shop);
      await shop.hand('available');
      await shop.hand('transfers', { amount: '2000.00', currency: 'NGN' });
      await paidOrder(shop);
      const report = await shop.program.reconcile({ dryRun: false });
      expect(report).toMatchObject({ complete: true, verdict: 'agreed', repaired: 2 });
      expect(report.balances).toMatchObject([
        { collected: '17000.00', transferred: '2000.00', balance: '15000.00', difference: '0.00' },
      ]);
    } finally {
      await shop.close();
    }
  });

  test('or it is a finding when it lasts, which a run that cannot see balances does not close', async () => {
    // The service tells less than it holds: what is pending is not read.
    const shop = await open('plain', { balances: { ...balances, pending: ['/available'] }, transfers });
    try {
      const { program } = shop;
      await paidOrder(shop);
      const run = (options = {}): Promise<ReconciliationReport> =>
        program.reconcile({ dryRun: false, ...options });
      expect(await run()).toMatchObject({ findings: {}, graced: { cash_difference: 1 } });
      await program.database.query(`UPDATE findings SET first_seen_at = now() - interval '61 minutes'`);
      const report = await run();
      expect(report).toMatchObject({ verdict: 'findings', complete: true, findings: { cash_difference: 1 } });
      expect(report.items).toEqual([
        expect.objectContaining({
          class: 'cash_difference',
          expected: '8500.00',
          actual: '0.00',
          currency: 'NGN',
        }),
      ]);
      expect(report.balances).toMatchObject([{ collected: '8500.00', difference: '8500.00' }]);
      expect(report.identity).toMatchObject([{ classes: {}, difference: '0.00' }]);
      expect(await run({ since: new Date(0) })).toMatchObject({ balances: null, verdict: 'agreed' });
      expect(await run()).toMatchObject({ findings: { cash_difference: 1 } });
    } finally {
      await shop.close();
    }
  });

  test('or the run is not complete, where the lists cannot be read', async () => {
    const shop = await open('plain', { balances: { ...balances, path: '/v1/nowhere' }, transfers });
    try {
      await paidOrder(shop);
      const report = await shop.program.reconcile({ dryRun: false });
      expect(report).toMatchObject({ verdict: 'incomplete', balances: null, repaired: 1 });
      expect(report.incompleteReason).toMatch(/balances could not be checked: \/v1\/nowhere/);
    } finally {
      await shop.close();
    }
  });
});

describe('money that moves while the list is read', () => {
  const held = (available: bigint, transferred = 0n): BalanceSnapshot => ({
    cash: new Map([['NGN', { available, pending: 0n, transferred, fees: 0n }]]),
    transfers: [],
    problem: null,
  });
  const side = { side: 'history', currency: 'NGN', rows: 1n, named: 1n, differing: 0n } as const;
  const differenceOf = (before: BalanceSnapshot, sum: string, after: BalanceSnapshot): string | undefined =>
    reconcileBalances(before, after, { sides: [{ ...side, sum }], fees: [] }).lines?.[0]?.difference;

  test.each([
    ['nothing moved', held(100n), '100', held(100n), '0'],
    ['one minor unit is missing', held(100n), '101', held(100n), '1'],
    ['one minor unit too many', held(100n), '99', held(100n), '-1'],
    ['money came after the list', held(100n), '100', held(150n), '0'],
    ['money came before the end of the list', held(100n), '150', held(150n), '0'],
    ['more was listed than ever was there', held(100n), '151', held(150n), '1'],
    ['money was transferred out meanwhile', held(100n), '100', held(40n, 60n), '0'],
  ])('%s', (_name, before, sum, after, difference) => {
    expect(differenceOf(before, sum, after)).toBe(difference);
  });
});
