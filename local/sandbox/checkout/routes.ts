import express, { Router, type RequestHandler, type Response } from 'express';

import { sendPage } from '../../../src/platform/html.tsx';
import { profileOf, type Conditions } from '../conditions.ts';
import type { FaultBook } from '../faults/book.ts';
import type { Player } from '../faults/player.ts';
import { isOpen, type Decision, type Ledger } from '../ledger/ledger.ts';
import type { Transaction } from '../ledger/transaction.ts';
import { NotFoundPage } from '../pages/not-found-page.tsx';
import { CheckoutPage } from './checkout-page.tsx';
import { playFromDeck } from './deck.ts';

export type CheckoutDeps = { ledger: Ledger; conditions: Conditions; faults: FaultBook; player: Player };

type Deed = (decision: Decision, body: unknown) => unknown;

/**
 * The hosted checkout, mounted at /checkout. A second click, a reloaded form and a page left open in
 * another tab find a decided transaction and lead back to the shop without paying again.
 */
export function checkoutRoutes(deps: CheckoutDeps): Router {
  const { ledger, conditions } = deps;
  const router = Router();

  router.get('/:token', (req, res) => {
    const transaction = ledger.findByToken(req.params.token);
    if (transaction === undefined) sendPage(res, NotFoundPage(), 404);
    else showPage(deps, res, transaction);
  });
  router.post(
    '/:token/pay',
    decide(deps, (decision) => ledger.payIfPending(decision)),
  );
  router.post(
    '/:token/fail',
    decide(deps, (decision) => ledger.move(decision, 'failed')),
  );
  router.post(
    '/:token/leave',
    decide(deps, (decision) => {
      if (profileOf(conditions).onLeave === 'abandoned') ledger.move(decision, 'abandoned');
    }),
  );
  router.post(
    '/:token/deck',
    express.urlencoded({ extended: false, limit: '2kb' }),
    decide(deps, (decision, body) => {
      playFromDeck(deps, decision, body);
    }),
  );
  return router;
}

function decide(deps: CheckoutDeps, deed: Deed): RequestHandler {
  const { ledger, conditions } = deps;
  return async (req, res) => {
    const token = String(req.params.token);
    const before = ledger.findByToken(token);
    if (before === undefined) {
      sendPage(res, NotFoundPage(), 404);
      return;
    }
    deed({ mode: before.mode, reference: before.reference, by: 'checkout', notify: true }, req.body);
    await ledger.saved();
    const after: Transaction = ledger.findByToken(token) ?? before;
    const back = profileOf(conditions).returnAddress(after);
    if (back !== null) res.redirect(303, back);
    else res.redirect(303, `/checkout/${token}`);
  };
}

function showPage({ conditions, faults }: CheckoutDeps, res: Response, transaction: Transaction): void {
  const profile = profileOf(conditions);
  const inTheAir = faults
    .all()
    .filter(({ reference }) => reference === null || reference === transaction.reference);
  sendPage(
    res,
    CheckoutPage({
      transaction,
      isOpen: isOpen(transaction.state),
      returnAddress: profile.returnAddress(transaction),
      inTheAir,
    }),
  );
}
