/** How an operator can end money in suspense, and what each decision means. */
export const DECISIONS = {
  accept: 'what came is enough: the order is paid and delivered; of too much, the surplus stays held',
  refund: 'all of it was given back to the shopper; --refund says where the refund can be found',
  credit: 'counted towards something else that this shopper buys',
  keep: "the shopper agreed that it is the shop's",
  write_off: 'its owner cannot be found, or giving it back costs more than it is',
  other: 'what the note says; the decision when none is given',
} as const;

export type Decision = keyof typeof DECISIONS;

/** Decisions that only close an item. `accept` also pays its order: see `payments/accept.ts`. */
export type Ending = Exclude<Decision, 'accept'>;

export function isDecision(word: string): word is Decision {
  return Object.hasOwn(DECISIONS, word);
}

/**
 * Whether money may be decided about in this way: of what was refunded as a surplus nothing is given, kept or
 * written off a second time. Once the rest was accepted, the item holds that surplus alone: its refund has
 * that number.
 */
export function isAllowed(
  { surplusRefund, isAccepted }: { surplusRefund: string | null; isAccepted: boolean },
  { decision, refundNote }: { decision: Decision; refundNote: string | null },
): boolean {
  if (surplusRefund === null || decision === 'other') return true;
  return isAccepted
    ? decision === 'refund' && refundNote === surplusRefund
    : ['accept', 'refund'].includes(decision);
}

/** How an operator ends an item: under their name, with what was done and why. */
export type Resolution = {
  by: string;
  note: string;
  decision: Ending;
  /** Where the refund can be found: the service's or the bank's number for it. A refund needs it. */
  refundNote: string | null;
};

/**
 * Names under which the program, or the shop's own system, acts. Forms, commands and settings refuse them.
 */
export const NOT_A_PERSON: readonly string[] = ['reconciliation', 'confirmation', 'shop'];
