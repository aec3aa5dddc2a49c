import type { Day } from './demo-day.ts';
import { endOf } from './order-end.sql.ts';
import type { OrderStatus } from '../../src/orders/order.ts';
import type { OrderId } from '../../src/platform/ids.ts';
import { sleep } from '../../src/platform/clock.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import type { AirName, DeedName } from '../../local/sandbox/faults/deck.ts';
import type { StartedServer } from '../../src/bootstrap/start-server.ts';

/** One checkout of the rehearsal. */
export type Checkout = { orderId: OrderId; reference: string };

/** What a rehearsal can do, and where it writes down what it saw. */
export type Stage = {
  day: Day;
  /** A shopper opens a checkout for 8,500.00 NGN. */
  opens(): Promise<Checkout>;
  /** Plays a deed of the deck. `isTold` false loses the webhook. */
  plays(deed: DeedName, checkout: Checkout, isTold?: boolean): Promise<void>;
  /** Lays a fault in the air, for one call about the checkout unless told otherwise. */
  lays(fault: AirName, where: { reference?: string; endpoint?: string; calls?: number }): Promise<void>;
  clearsTheAir(): Promise<void>;
  reaches(checkout: Checkout, status: OrderStatus): Promise<void>;
  reconciles(): Promise<ReconciliationReport>;
  waits(ms: number): Promise<void>;
  saw(what: string): void;
  /** @throws {Error} a promise of the rehearsal did not hold */
  mustHold(what: string, isTrue: boolean): void;
};

/** @param seen one line for each thing seen, in order */
export function createStage({ program }: StartedServer, day: Day, name: string, seen: string[]): Stage {
  const saw = (what: string): void => {
    seen.push(what);
  };
  return {
    day,
    saw,
    opens: () => day.checkout(`${name}@example.com`, { items: [{ sku: 'ankara-tote', quantity: 1 }] }),
    plays: (fault, { reference }, isTold = true) =>
      day.atTheSandbox(`transactions/${reference}/play`, { fault, notify: isTold }),
    lays: (fault, where) => day.atTheSandbox('faults', { fault, ...where }),
    clearsTheAir: () => day.atTheSandbox('faults/clear', {}),
    reaches: async ({ orderId }, status) => {
      await day.until(
        `order ${orderId} is ${status}`,
        async () => (await endOf(program.database, orderId))?.status === status,
      );
      const end = await endOf(program.database, orderId);
      const finder = end?.foundBy ?? null;
      saw(`the order is ${status}${finder === null ? '' : `, found by ${finder}`}`);
    },
    reconciles: () => program.reconcile({ dryRun: false }),
    waits: (ms) => sleep(ms),
    mustHold: (what, isTrue) => {
      saw(isTrue ? what : `NOT: ${what}`);
      if (!isTrue) throw new Error(`it did not hold that ${what}`);
    },
  };
}
