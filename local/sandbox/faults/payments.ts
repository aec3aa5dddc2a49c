import { decimalsOf, type Money } from '../money.ts';
import type { Deed } from './fault.ts';

/** What a shopper, a bank or a stranger may do to one transaction. */
export const PAYMENT_FAULTS = {
  'pay-exact': {
    title: 'Pays exactly what was asked for',
    happens: 'The service takes the amount on the page, and tells it.',
    ends: 'The order is paid and released once.',
    play: ({ pay }) => pay(),
  },
  'pay-less': {
    title: 'Pays less',
    happens: 'The service takes half of the amount and says success.',
    ends: 'The order is under review, nothing is released, and the money is in suspense as underpaid.',
    play: ({ asked, pay }) => pay({ ...asked, minor: (asked.minor + 1n) / 2n }),
  },
  'pay-more': {
    title: 'Pays more',
    happens: 'The service takes one unit more than the amount and says success.',
    ends: 'The order is under review, nothing is released, and the money is in suspense as overpaid.',
    play: ({ asked, pay }) => pay({ ...asked, minor: asked.minor + oneUnit(asked) }),
  },
  'pay-other-currency': {
    title: 'Pays in another currency',
    happens: 'The service takes the same figure in another currency and says success.',
    ends: 'The order is under review, nothing is released, and the money is in suspense as currency_mismatch.',
    play: ({ asked, pay }) => pay(inAnotherCurrency(asked)),
  },
  'pay-hundredfold': {
    title: 'Pays a hundredfold',
    happens: 'The service takes a hundred times the amount, as when kobo and naira are mixed up.',
    ends: 'The order is under review, nothing is released, and the money is in suspense as unit_error.',
    play: ({ asked, pay }) => pay({ ...asked, minor: asked.minor * 100n }),
  },
  'pay-twice': {
    title: 'Pays twice',
    happens: 'The service takes the amount a second time on the same transaction; its record shows the sum.',
    ends: 'Twice the money is not the amount: the order is under review, nothing is released, and the money is in suspense as overpaid.',
    play: ({ pay }) => {
      const first = pay();
      return first.outcome === 'done' ? pay() : first;
    },
  },
  'pay-later': {
    title: 'Pays later',
    happens: 'The shopper comes back while the bank still thinks; the money comes after that.',
    ends: 'The order is pending on return, and then paid and released once.',
    play: ({ pay, later, asItIs }) => {
      later(() => pay());
      return asItIs();
    },
  },
  'pay-then-reversed': {
    title: 'Pays, then the money goes back',
    happens: 'The service takes the amount, says success, and reverses it afterwards.',
    ends: 'The order stays paid with its one release, and reconciliation raises it as reversed.',
    play: ({ pay, reverse, later }) => {
      const paid = pay();
      later(() => reverse());
      return paid;
    },
  },
  'webhook-forged': {
    title: 'A forged webhook',
    happens: 'Nothing was paid, and somebody who does not know the secret sends a webhook that says it was.',
    ends: 'The webhook is refused and the order stays pending.',
    play: ({ forge }) => forge(),
  },
} as const satisfies Record<string, Deed>;

function oneUnit({ currency }: Money): bigint {
  return 10n ** BigInt(decimalsOf(currency) ?? 0);
}

/** The same figure of another currency: 8500 francs for 8500.00 naira. */
function inAnotherCurrency(asked: Money): Money {
  const currency = asked.currency === 'XOF' ? 'NGN' : 'XOF';
  const whole = asked.minor / oneUnit(asked);
  return { minor: whole * oneUnit({ minor: 0n, currency }), currency };
}
