import { TEXTS, type Told } from './words.ts';

/** The groups of orders. Each order is in exactly one. `needs`: a person must decide. */
export type Group = 'needs' | 'paid' | 'unpaid' | 'refunded' | 'unsent' | 'waiting' | 'closed';

/** The states, classes or badges of each group. An order with an open case is in `needs`. */
const MEMBERS: [Group, string[]][] = [
  ['waiting', ['waiting', 'unopened', 'underpaid, asked']],
  ['unsent', ['silent']],
  ['paid', ['sent']],
  ['refunded', ['partRefunded', 'refunded', 'Part refunded', 'Refunded']],
  ['unpaid', ['failed', 'tooLate', 'cancelled']],
];

/** The badge of a state or a class. A shop may have translated it. */
export const badgeOf = (name: string): string => (TEXTS.states[name] ?? TEXTS.cases[name])?.badge ?? name;

/** @param badge the badge of the order's words */
export function groupOf({ payments }: Told, badge: string): Group {
  if (payments.some(({ cases }) => cases.some(({ closedAt }) => closedAt === null))) return 'needs';
  const group = MEMBERS.find(([, names]) => names.some((name) => badgeOf(name) === badge));
  return group?.[0] ?? 'closed';
}
