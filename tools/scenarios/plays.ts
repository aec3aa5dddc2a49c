import type { FaultName } from '../../local/sandbox/faults/deck.ts';
import {
  atHistory,
  atInitialize,
  atVerify,
  deed,
  held,
  PAID,
  PENDING,
  statusOf,
  webhook,
  type Play,
} from './kinds.ts';

/** The rehearsal of each fault. One without a rehearsal does not compile. */
export const PLAYS: Record<FaultName, Play> = {
  'pay-exact': deed('pay-exact', PAID),
  'pay-less': deed('pay-less', held('underpaid')),
  'pay-more': deed('pay-more', held('overpaid')),
  'pay-other-currency': deed('pay-other-currency', held('currency_mismatch')),
  // With another one it stops the currency for everybody.
  'pay-hundredfold': { ...deed('pay-hundredfold', held('unit_error')), isAlone: true },
  'pay-twice': deed('pay-twice', held('overpaid')),
  'pay-later': {
    isAlone: false,
    end: PAID,
    run: async (stage) => {
      const checkout = await stage.opens();
      await stage.plays('pay-later', checkout);
      await stage.day.comesBack(checkout.reference);
      stage.mustHold('the order is pending on return', (await statusOf(stage, checkout)) === 'pending');
      await stage.reaches(checkout, 'paid');
      return checkout;
    },
  },
  'pay-then-reversed': {
    isAlone: false,
    end: { ...PAID, findings: ['reversed'] },
    run: async (stage) => {
      const checkout = await stage.opens();
      await stage.plays('pay-then-reversed', checkout);
      await stage.day.comesBack(checkout.reference);
      await stage.reaches(checkout, 'paid');
      await stage.waits(2_500); // the reversal comes two seconds after the payment
      stage.mustHold('the order stays paid', (await statusOf(stage, checkout)) === 'paid');
      return checkout;
    },
  },
  'webhook-forged': {
    isAlone: false,
    end: PENDING,
    run: async (stage) => {
      const checkout = await stage.opens();
      await stage.plays('webhook-forged', checkout);
      await stage.waits(1_000);
      stage.mustHold('the order is still pending', (await statusOf(stage, checkout)) === 'pending');
      return checkout;
    },
  },
  'webhook-lost': webhook('webhook-lost'),
  'webhook-doubled': webhook('webhook-doubled'),
  'webhook-late': webhook('webhook-late', (stage, { reference }) => stage.day.comesBack(reference)),
  'webhook-reordered': {
    isAlone: false,
    end: PAID,
    run: async (stage) => {
      const checkout = await stage.opens();
      await stage.lays('webhook-reordered', { reference: checkout.reference, calls: 1 });
      await stage.day.atTheService(checkout.reference, 'fail');
      await stage.plays('pay-exact', checkout);
      await stage.reaches(checkout, 'paid');
      await stage.waits(1_000); // the overtaken "failed" arrives now
      stage.mustHold('the old news undid nothing', (await statusOf(stage, checkout)) === 'paid');
      return checkout;
    },
  },
  'webhook-badly-signed': webhook('webhook-badly-signed'),
  'answer-slow': atVerify('answer-slow'),
  'answer-dripping': atVerify('answer-dripping'),
  'answer-cut': atVerify('answer-cut'),
  'answer-empty': atVerify('answer-empty'),
  'answer-html': atVerify('answer-html'),
  'error-before-acting': atInitialize('error-before-acting'),
  'error-after-acting': atInitialize('error-after-acting'),
  'key-refused': {
    isAlone: true,
    end: PAID,
    run: async (stage) => {
      const checkout = await stage.opens();
      await stage.lays('key-refused', {});
      await stage.plays('pay-exact', checkout, false);
      await stage.day.comesBack(checkout.reference);
      stage.mustHold('readiness is red', !(await stage.day.isReady()));
      stage.mustHold('the order is pending', (await statusOf(stage, checkout)) === 'pending');
      await stage.clearsTheAir();
      await stage.reaches(checkout, 'paid');
      stage.mustHold('readiness is green again', await stage.day.isReady());
      return checkout;
    },
  },
  'clock-behind': {
    isAlone: false,
    end: PAID,
    run: async (stage) => {
      const checkout = await stage.opens();
      await stage.lays('clock-behind', { reference: checkout.reference });
      await stage.plays('pay-exact', checkout, false);
      await stage.day.comesBack(checkout.reference);
      await stage.reaches(checkout, 'paid');
      return checkout;
    },
  },
  'not-found-for-a-while': atVerify('not-found-for-a-while'),
  // The pause that the service asks for holds for everybody.
  'too-many-calls-seconds': { ...atVerify('too-many-calls-seconds'), isAlone: true },
  'too-many-calls-date': { ...atVerify('too-many-calls-date'), isAlone: true },
  'too-many-calls-reset-epoch': { ...atVerify('too-many-calls-reset-epoch'), isAlone: true },
  'too-many-calls-reset-seconds': { ...atVerify('too-many-calls-reset-seconds'), isAlone: true },
  'too-many-calls-bare': { ...atVerify('too-many-calls-bare'), isAlone: true },
  'locked-out': { ...atVerify('locked-out'), isAlone: true },
  'other-record': atVerify('other-record'),
  'unknown-word': atVerify('unknown-word'),
  'missing-reference': atVerify('missing-reference'),
  'missing-status': atVerify('missing-status'),
  'missing-amount': atVerify('missing-amount'),
  'missing-currency': atVerify('missing-currency'),
  'history-truncated': atHistory('history-truncated', 'incomplete'),
  'history-moved': atHistory('history-moved', 'incomplete'),
  'history-repeated': atHistory('history-repeated', 'complete'),
};
