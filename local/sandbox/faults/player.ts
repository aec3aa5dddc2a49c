import { newId } from '../../../src/platform/ids.ts';
import type { Decision, DecisionOutcome, Ledger } from '../ledger/ledger.ts';
import type { Notice, Transaction } from '../ledger/transaction.ts';
import { createBackoff } from '../webhooks/pauses.ts';
import { DEEDS, type DeedName } from './deck.ts';

/** Plays the deeds of the deck, those included that take a while. */
export type Player = {
  play(name: DeedName, decision: Decision): DecisionOutcome;
  /** Calls off what was to happen later. */
  reset(): void;
};

/** Long enough for a shopper to come back first, short enough for a person to wait. */
const LATER_MS = 2_000;

export function createPlayer(parts: { ledger: Ledger; forge: (notice: Notice) => void }): Player {
  const { ledger, forge } = parts;
  const pauses = createBackoff();
  return {
    play(name, decision) {
      const found = (): Transaction | undefined => ledger.find(decision.mode, decision.reference);
      const transaction = found();
      if (transaction === undefined) return { outcome: 'unknown-reference' };
      const asItIs = (): DecisionOutcome => ({ outcome: 'done', transaction: found() ?? transaction });
      return DEEDS[name].play({
        asked: transaction.asked,
        pay: (money) => ledger.pay(decision, money),
        reverse: () => ledger.move(decision, 'reversed'),
        later(deed) {
          pauses.start(LATER_MS, () => {
            deed();
          });
        },
        forge() {
          forge(asIfPaid(transaction));
          return asItIs();
        },
        asItIs,
      });
    },
    reset() {
      pauses.clear();
    },
  };
}

/** What would be told if the shopper had paid. */
function asIfPaid(transaction: Transaction): Notice {
  const { asked, updatedAt: at } = transaction;
  const payments = [{ money: asked, at, by: 'checkout' as const }];
  return { webhookId: newId(), change: 'paid', transaction: { ...transaction, state: 'paid', payments } };
}
