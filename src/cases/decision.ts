/** How an operator can end money in suspense, and what each decision means. */
export const DECISIONS = {
  refund: 'given back to the shopper; --refund says where the refund can be found',
  credit: 'counted towards something else that this shopper buys',
  keep: "the shopper agreed that it is the shop's",
  write_off: 'its owner cannot be found, or giving it back costs more than it is',
  other: 'what the note says; the decision when none is given',
} as const;

export type Decision = keyof typeof DECISIONS;

export function isDecision(word: string): word is Decision {
  return Object.hasOwn(DECISIONS, word);
}

/** How an operator ends an item: under their name, with what was done and why. */
export type Resolution = {
  by: string;
  note: string;
  decision: Decision;
  /** Where the refund can be found: the service's or the bank's number for it. */
  refundNote: string | null;
};

/** Names under which the program, or the shop's own system, acts. Forms, commands and settings refuse them. */
export const NOT_A_PERSON: readonly string[] = ['reconciliation', 'confirmation', 'shop'];
