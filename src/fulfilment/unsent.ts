import type { Unsent } from './releases.sql.ts';

/**
 * A sentence about releases that were recorded while there was no receiver, for lists, pages and the log.
 * @returns null when there are none
 */
export function tellOfUnsent({ count, oldest }: Unsent, hasReceiver: boolean): string | null {
  if (count === 0 || oldest === null) return null;
  const releases = count === 1 ? '1 release was' : `${count} releases were`;
  const since = `the oldest on ${oldest.toISOString()}`;
  return hasReceiver
    ? `${releases} recorded before there was a receiver and never sent, ${since}: npm run releases ` +
        '-- send-unsent --by "your name"'
    : `${releases} recorded and never sent, ${since}: there is no receiver (FULFILMENT_URL, or one ` +
        'in src/custom).';
}
