import type { Gateway } from '../../gateway/gateway.ts';
import { readWebhookWord } from '../../gateway/webhook-status.ts';
import type { Queryable } from '../../platform/database/database.ts';
import { gatherContested, noteWords, signedWebhooks, watermarks, type Watermark } from './conflicts.sql.ts';

const PAGE = 1_000;

/**
 * Collects what contradicts the history in the other two sources: signed webhooks, and verify answers
 * since a payment was confirmed. Anyone could have sent an unsigned webhook, so it proves nothing. Only
 * webhooks about money count (paid, reversed): webhooks come in any order, and a failed attempt
 * before a paid one is usual.
 * @returns how far this run has read; the next one begins there
 */
export async function collectConflicts(session: Queryable, { mode, dialect }: Gateway): Promise<Watermark> {
  const { last: since, now: to } = await watermarks(session, mode);
  for (let after = 0n; ;) {
    const webhooks = await signedWebhooks(session, mode, { since: since.webhooks, after, limit: PAGE });
    const words = webhooks.flatMap(({ reference, body }) => {
      const word = readWebhookWord(body, reference, dialect);
      return word === 'paid' || word === 'reversed' ? [{ reference, word }] : [];
    });
    await noteWords(session, words);
    after = webhooks.at(-1)?.id ?? after;
    if (webhooks.length < PAGE) break;
  }
  await gatherContested(session, mode, since.verifications);
  return to;
}
