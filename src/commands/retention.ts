import { countAllOld, prune } from '../retention.ts';
import type { Program } from '../program.ts';
import type { Arguments, Told } from './arguments.ts';

/** Prunes now what the worker prunes once a day, or says how much that is. */
export async function retention(
  { database, config: { RETAIN_BODIES_DAYS: days } }: Program,
  { values }: Arguments,
): Promise<Told> {
  if (days === undefined)
    return {
      text: 'RETAIN_BODIES_DAYS is not set: answers, webhooks and messages are kept for ever.',
      exitCode: 0,
    };
  const { answers, webhooks, messages } = values['dry-run']
    ? await countAllOld(database, days)
    : await prune(database, days);
  const would = values['dry-run'] ? 'would be ' : '';
  return {
    text: `Older than ${days} days: ${answers} answers and ${messages} messages ${would}emptied, ${webhooks} webhooks ${would}deleted.`,
    exitCode: 0,
  };
}
