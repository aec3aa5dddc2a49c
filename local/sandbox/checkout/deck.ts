import { z } from 'zod';

import type { FaultBook } from '../faults/book.ts';
import { AIR_NAMES, DEED_NAMES } from '../faults/deck.ts';
import type { Player } from '../faults/player.ts';
import type { Decision } from '../ledger/ledger.ts';

/** What the form of the deck sends. "none" leaves a part of it alone. */
const deckSchema = z.object({
  deed: z.enum([...DEED_NAMES, 'none']).default('none'),
  air: z.enum([...AIR_NAMES, 'none']).default('none'),
  calls: z.coerce.number().int().min(1).max(1_000).nullable().catch(null),
});

/** Lays a fault over this transaction, then plays a deed on it. What the form cannot have sent does nothing. */
export function playFromDeck(
  { faults, player }: { faults: FaultBook; player: Player },
  decision: Decision,
  body: unknown,
): void {
  const choice = deckSchema.safeParse(body ?? {});
  if (!choice.success) return;
  const { deed, air, calls } = choice.data;
  const { reference } = decision;
  if (air !== 'none') faults.set({ fault: air, endpoint: null, reference, calls });
  if (deed !== 'none') player.play(deed, decision);
}
