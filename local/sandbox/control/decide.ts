import type { z } from 'zod';

import { amountOnRecord } from '../assumptions.ts';
import type { Mode } from '../keys.ts';
import type { Decision, DecisionOutcome, Ledger } from '../ledger/ledger.ts';
import { parseMoney } from '../money.ts';
import type { decisionSchema, paymentSchema, refundSchema } from './requests.ts';

/** A test's hand on one transaction: pays whatever it likes, fails, reverses. */
export function payByHand(
  ledger: Ledger,
  reference: string,
  { mode, notify, amount, currency }: z.infer<typeof paymentSchema>,
): DecisionOutcome {
  const decision = aimAt(ledger, reference, { mode, notify });
  const asked = ledger.find(decision.mode, reference)?.asked;
  if (asked === undefined || (amount === undefined && currency === undefined)) return ledger.pay(decision);
  if (amount === undefined) return { outcome: 'refused', reason: 'a currency needs an amount' };
  const money = parseMoney(amount, currency ?? asked.currency);
  if (money === null) return { outcome: 'refused', reason: 'amount must be like "12.50", in its currency' };
  return ledger.pay(decision, money);
}

export function refundByHand(
  ledger: Ledger,
  reference: string,
  { mode, amount, shown }: z.infer<typeof refundSchema>,
): DecisionOutcome {
  const decision = aimAt(ledger, reference, { mode, notify: false });
  const transaction = ledger.find(decision.mode, reference);
  if (transaction === undefined) return { outcome: 'unknown-reference' };
  const money = parseMoney(amount, amountOnRecord(transaction).currency);
  if (money === null) return { outcome: 'refused', reason: 'amount must be like "12.50", in its currency' };
  return ledger.refund(decision, money, shown);
}

export function aimAt(
  ledger: Ledger,
  reference: string,
  { mode, notify }: z.infer<typeof decisionSchema>,
): Decision {
  const found: Mode = ledger.find('test', reference) === undefined ? 'live' : 'test';
  return { mode: mode ?? found, reference, by: 'control', notify };
}
