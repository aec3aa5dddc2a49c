import type { Router } from 'express';

import type { Mode } from '../../keys.ts';
import type { Balance, Transfer } from '../../ledger/balances.ts';
import { formatAmount, parseMoney } from '../../money.ts';
import { setting, withBody } from '../bodies.ts';
import type { ControlDeps } from '../reset.ts';
import * as requests from '../requests.ts';

/** What the service holds for the shop, and a hand that pays it out. */
export function addMoneyRoutes(router: Router, { ledger }: ControlDeps): void {
  router.get('/money', (req, res) => {
    const mode: Mode = req.query.mode === 'live' ? 'live' : 'test';
    res.json({
      mode,
      balances: ledger.balances(mode).map(balanceText),
      transfers: ledger.transfers(mode).map(transferText),
    });
  });
  router.post(
    '/available',
    setting(requests.modeSchema, async ({ mode }) => {
      ledger.makeAvailable(mode);
      await ledger.saved();
    }),
  );
  router.post(
    '/transfers',
    withBody(requests.transferSchema, async ({ mode, amount, currency, reference }, _req, res) => {
      const money = parseMoney(amount, currency);
      const transfer = money === null ? null : ledger.transfer(mode, money, reference);
      await ledger.saved();
      if (transfer !== null) res.status(201).json(transferText(transfer));
      else if (money === null)
        res.status(422).json({ error: 'amount must be like "12.50", in a currency in capitals' });
      else
        res.status(409).json({
          error: `there is not so much ${currency} available: POST /sandbox/available frees what is pending`,
        });
    }),
  );
}

function balanceText({ currency, available, pending, transferred }: Balance): Record<string, string> {
  const text = (minor: bigint): string => formatAmount({ minor, currency });
  return {
    currency,
    available: text(available),
    pending: text(pending),
    transferred: text(transferred),
  };
}

function transferText({ id, reference, money, at }: Transfer): Record<string, string> {
  return { id, reference, amount: formatAmount(money), currency: money.currency, at };
}
