import type { CallBook } from '../calls.ts';
import { heal, type Conditions } from '../conditions.ts';
import type { FaultBook } from '../faults/book.ts';
import type { Player } from '../faults/player.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ServiceClock } from '../service-clock.ts';
import type { Turnstile } from '../rate.ts';
import type { Deliveries } from '../webhooks/deliveries.ts';

export type ControlDeps = {
  ledger: Ledger;
  calls: CallBook;
  conditions: Conditions;
  faults: FaultBook;
  player: Player;
  turnstile: Turnstile;
  deliveries: Deliveries;
  clock: ServiceClock;
  checkoutUrl: (token: string) => string;
};

/** Forgets transactions, money, calls, webhooks and faults, and sets the clock right. Keys, addresses and the profile stay. */
export async function resetAll(deps: Omit<ControlDeps, 'checkoutUrl'>): Promise<void> {
  deps.player.reset();
  deps.ledger.reset();
  deps.deliveries.reset();
  deps.calls.reset();
  deps.faults.clear();
  deps.turnstile.reset();
  deps.clock.reset();
  heal(deps.conditions);
  await deps.ledger.saved();
}
