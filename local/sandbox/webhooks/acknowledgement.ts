import type { DeliveryRules } from '../profiles/profile.ts';

/** What follows from a receiver's answer: taken, given up, nobody is told any more, or to be tried again. */
export type Verdict = 'taken' | 'given up' | 'switched off' | 'again';

/**
 * @param status null: no answer in time
 * @param attempts how many there were, this one included
 */
export function verdictOn(
  status: number | null,
  attempts: number,
  { takes, on4xx, maxAttempts }: DeliveryRules,
): Verdict {
  const isRefused = status !== null && status >= 400 && status <= 499;
  if (status !== null && isTaken(status, takes)) return 'taken';
  if (isRefused && on4xx === 'switch the address off') return 'switched off';
  if (isRefused && on4xx === 'end the delivery') return 'given up';
  return attempts < maxAttempts ? 'again' : 'given up';
}

function isTaken(status: number, takes: DeliveryRules['takes']): boolean {
  return takes === 'exactly 200' ? status === 200 : status >= 200 && status < 300;
}
