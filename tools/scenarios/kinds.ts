import type { OrderStatus } from '../../src/orders/order.ts';
import type { AirName, DeedName, HistoryFaultName } from '../../local/sandbox/faults/deck.ts';
import type { Checkout, Stage } from './stage.ts';

/** Where the order of a rehearsal must stand when all is over. */
export type End = {
  status: OrderStatus;
  releases: number;
  /** Classes of money in suspense. */
  suspense: readonly string[];
  /** What reconciliation raises about it. */
  findings: readonly string[];
};

export type Play = {
  /** Befalls everybody, so nobody else may be on the stage. */
  isAlone: boolean;
  end: End;
  run(stage: Stage): Promise<Checkout>;
};

export const PAID: End = { status: 'paid', releases: 1, suspense: [], findings: [] };
export const PENDING: End = { status: 'pending', releases: 0, suspense: [], findings: [] };
export const held = (name: string): End => ({
  status: 'review',
  releases: 0,
  suspense: [name],
  findings: [name],
});

export function deed(name: DeedName, end: End): Play {
  return {
    isAlone: false,
    end,
    run: async (stage) => {
      const checkout = await stage.opens();
      await stage.plays(name, checkout);
      await stage.day.comesBack(checkout.reference);
      await stage.reaches(checkout, end.status);
      return checkout;
    },
  };
}

export function webhook(
  name: AirName,
  meanwhile: (stage: Stage, checkout: Checkout) => Promise<void> = () => Promise.resolve(),
): Play {
  return {
    isAlone: false,
    end: PAID,
    run: async (stage) => {
      const checkout = await stage.opens();
      await stage.lays(name, { reference: checkout.reference, calls: 1 });
      await stage.plays('pay-exact', checkout);
      await meanwhile(stage, checkout);
      await stage.reaches(checkout, 'paid');
      return checkout;
    },
  };
}

/** The first look at a paid transaction, on the shopper's return, meets the fault; nobody has told before. */
export function atVerify(name: AirName): Play {
  return {
    isAlone: false,
    end: PAID,
    run: async (stage) => {
      const checkout = await stage.opens();
      await stage.lays(name, { endpoint: 'verify', reference: checkout.reference, calls: 1 });
      await stage.plays('pay-exact', checkout, false);
      await stage.day.comesBack(checkout.reference);
      const status = await statusOf(stage, checkout);
      stage.mustHold(`the spoilt answer paid nothing: ${status ?? 'unknown'}`, status !== 'paid');
      await stage.reaches(checkout, 'paid');
      return checkout;
    },
  };
}

export function atInitialize(name: AirName): Play {
  return {
    isAlone: true,
    end: PAID,
    run: async (stage) => {
      // A checkout in doubt is tried once more by itself.
      await stage.lays(name, { endpoint: 'initialize', calls: 2 });
      const basket = { items: [{ sku: 'ankara-tote', quantity: 1 }] };
      const first = await stage.day.triesToCheckout('again@example.com', basket);
      stage.mustHold('the shopper is asked to come again', first.status === 503 && first.orderId !== '');
      const checkout = await stage.day.checkout('again@example.com', { orderId: first.orderId });
      stage.mustHold('under another reference', checkout.reference !== first.reference);
      await stage.plays('pay-exact', checkout);
      await stage.day.comesBack(checkout.reference);
      await stage.reaches(checkout, 'paid');
      return checkout;
    },
  };
}

export function atHistory(name: HistoryFaultName, first: 'complete' | 'incomplete'): Play {
  return {
    isAlone: true,
    end: PAID,
    run: async (stage) => {
      const checkout = await stage.opens();
      // More than one page, of two rows each.
      for (let count = 0; count < 3; count += 1) await stage.opens();
      await stage.plays('pay-exact', checkout);
      await stage.reaches(checkout, 'paid');
      await stage.lays(name, {});
      const spoilt = await stage.reconciles();
      await stage.clearsTheAir();
      stage.mustHold(
        `the run is ${first}${spoilt.incompleteReason === null ? '' : `: ${spoilt.incompleteReason}`}`,
        spoilt.complete === (first === 'complete'),
      );
      stage.mustHold('nothing was called absent', spoilt.findings.absent_from_history === undefined);
      const whole = await stage.reconciles();
      stage.mustHold('the next run is complete', whole.complete);
      return checkout;
    },
  };
}

export function statusOf({ day }: Stage, { orderId }: Checkout): Promise<OrderStatus | null> {
  return day.status(orderId);
}
