import express, { Router } from 'express';

import { pay } from './ledger.ts';
import { checkoutContent, sendPage } from './page.ts';
import { notify, type State } from './state.ts';

/**
 * The hosted page, mounted at /pay. After the payment is decided, a second click returns to the
 * shop and does not pay again.
 */
export function payRoutes({ ledger, webhooks }: State): Router {
  const router = Router();
  router.get('/:reference', (req, res) => {
    const transaction = ledger.transactions.get(req.params.reference);
    if (transaction === undefined) sendPage(res, 404, 'There is no such payment', '');
    else sendPage(res, 200, 'Checkout', checkoutContent(transaction));
  });
  router.post('/:reference', express.urlencoded({ extended: false, limit: '2kb' }), (req, res) => {
    const transaction = ledger.transactions.get(req.params.reference);
    if (transaction === undefined) {
      sendPage(res, 404, 'There is no such payment', '');
      return;
    }
    const { action } = (req.body ?? {}) as { action?: unknown };
    const [row] = transaction.rows;
    if (row.status === 'PENDING' && (action === 'pay' || action === 'decline')) {
      if (action === 'pay') pay(ledger, transaction, transaction.amount, transaction.currency);
      else row.status = 'FAILED';
      notify(webhooks, row, 'once', 0);
    }
    res.redirect(303, transaction.redirectUrl ?? req.originalUrl);
  });
  return router;
}
