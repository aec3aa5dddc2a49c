import type { Prunable } from '../platform/database/prune.sql.ts';

const isOld = `old.message IS NOT NULL AND old.delivery = 'delivered'
  AND old.delivered_at < now() - make_interval(days => $1)`;

/** Messages that were delivered long ago: delivered once more, one is made anew. */
export const OLD_MESSAGES: readonly Prunable[] = [
  {
    table: 'releases',
    keys: { released_at: 'timestamptz', id: 'text' },
    at: 'released_at',
    write: 'UPDATE releases old SET message = NULL FROM batch',
    isOld,
  },
  {
    table: 'events',
    keys: { seq: 'bigint' },
    at: 'happened_at',
    write: 'UPDATE events old SET message = NULL FROM batch',
    isOld,
  },
];
