import { Router, type RequestHandler } from 'express';

import { sendPage } from '../../platform/html.tsx';
import type { Decision, Ledger } from '../ledger/ledger.ts';
import type { Transaction } from '../ledger/transaction.ts';
import { NotFoundPage } from '../pages/not-found-page.tsx';
import { CheckoutPage } from './checkout-page.tsx';
import { returnAddress } from './return-address.ts';

type Deed = (decision: Decision) => unknown;

/**
 * The hosted checkout, mounted at /checkout. A second click, a reloaded form and a page left open in
 * another tab find a decided transaction and lead back to the shop without paying again.
 */
export function checkoutRoutes(ledger: Ledger): Router {
  const router = Router();

  router.get('/:token', (req, res) => {
    const transaction = ledger.findByToken(req.params.token);
    if (transaction === undefined) sendPage(res, NotFoundPage(), 404);
    else sendPage(res, CheckoutPage({ transaction }));
  });
  router.post(
    '/:token/pay',
    decide(ledger, (decision) => ledger.payIfPending(decision)),
  );
  router.post(
    '/:token/fail',
    decide(ledger, (decision) => ledger.fail(decision)),
  );
  router.post('/:token/leave', (req, res) => {
    const transaction = ledger.findByToken(req.params.token);
    if (transaction === undefined) sendPage(res, NotFoundPage(), 404);
    else res.redirect(303, returnAddress(transaction));
  });
  return router;
}

function decide(ledger: Ledger, deed: Deed): RequestHandler {
  return async (req, res) => {
    const token = String(req.params.token);
    const before = ledger.findByToken(token);
    if (before === undefined) {
      sendPage(res, NotFoundPage(), 404);
      return;
    }
    deed({ mode: before.mode, reference: before.reference, by: 'checkout', notify: true });
    await ledger.saved();
    const after: Transaction = ledger.findByToken(token) ?? before;
    res.redirect(303, returnAddress(after));
  };
}
