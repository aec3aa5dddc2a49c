import { fromServiceAmount } from '../gateway/amounts.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { formatMajor, parseMajor } from '../platform/money.ts';
import { readPages } from './history.ts';
import type { Identity } from './identity.ts';

/**
 * The cash proof, in major units: the history's total less the transfers should be the balance.
 * `difference` is the rest, which includes fees. Null: the adapter does not read them, or they
 * could not be read (`reason`).
 */
export type Cash = {
  balances: { currency: string; balance: string; difference: string }[] | null;
  transfers: { currency: string; total: string }[] | null;
  reason: string | null;
};
type Amount = { currency: string; amount: string | number };

/** Reads balances and transfers, if the adapter can. */
export async function proveCash(gateway: Gateway, identity: readonly Identity[]): Promise<Cash> {
  const { transfers, balances } = gateway.adapter;
  const sumsOf = (amounts: readonly (Amount | null)[] | null): Map<string, bigint> => {
    const sums = new Map<string, bigint>();
    for (const one of amounts ?? [null]) {
      const amount = one && fromServiceAmount(one.amount, one.currency, gateway.adapter);
      if (one === null || amount === null) throw new Error('the adapter cannot read one of them');
      sums.set(one.currency, (sums.get(one.currency) ?? 0n) + amount);
    }
    return sums;
  };
  const major = (amount: bigint, currency: string): string => formatMajor({ amount, currency });
  try {
    const out = transfers && sumsOf((await allRows(gateway, transfers)).map((row) => transfers.read(row)));
    const answer = balances && (await gateway.page(balances.path));
    if (answer && answer.status > 299) throw new Error(`HTTP ${answer.status}`);
    const there = balances && sumsOf(balances.read(answer?.json?.value));
    // A currency without a balance has the balance 0.
    const currencies = new Set([...identity.map(({ currency }) => currency), ...(there?.keys() ?? [])]);
    const left = [...currencies].map((currency) => {
      const balance = there?.get(currency) ?? 0n;
      const reported = identity.find((one) => one.currency === currency)?.serviceTotal ?? '0';
      const difference = balance - (parseMajor(reported, currency) ?? 0n) + (out?.get(currency) ?? 0n);
      return { currency, balance: major(balance, currency), difference: major(difference, currency) };
    });
    const paidOut = [...(out ?? [])].map(([currency, sum]) => ({ currency, total: major(sum, currency) }));
    return { balances: there ? left : null, transfers: out ? paidOut : null, reason: null };
  } catch (error) {
    return { balances: null, transfers: null, reason: `balances and transfers could not be read: ${String(error)}` };
  }
}

async function allRows(gateway: Gateway, list: NonNullable<Gateway['adapter']['transfers']>): Promise<unknown[]> {
  const rows: unknown[] = [];
  const pages = readPages(gateway, list, { path: list.first(), number: 1 });
  for (;;) {
    const page = await pages.next();
    if (page.done !== true) rows.push(...page.value.rows);
    else if (page.value === null) return rows;
    else throw new Error(page.value);
  }
}
