import type { Queryable } from '../../platform/database/database.ts';
import type { Reference } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { readWebhookWord } from '../../gateway/webhook.ts';

/** A complete run has read the rows up to these ids. Texts, because they are kept as JSON. */
export type Watermark = { webhooks: string; verifications: string };

const ZERO: Watermark = { webhooks: '0', verifications: '0' };

const LAST = `SELECT inputs -> 'looked' FROM reconciliation_runs
  WHERE mode = $1 AND complete AND since IS NULL AND until IS NULL AND inputs ? 'looked'
  ORDER BY started_at DESC LIMIT 1`;

/**
 * `last`: the ids up to which the last complete run over everything has read. `now`: those up to which this
 * run may record that it has read. A row with a smaller id may be committed a moment later than one with a
 * larger id, so the next run reads the last ten minutes again.
 */
async function watermarks(db: Queryable, mode: Mode): Promise<{ last: Watermark; now: Watermark }> {
  const [row] = await db.query<Watermark & { last: Watermark | null }>(
    `SELECT (${LAST}) AS last,
       coalesce((SELECT id FROM webhooks WHERE last_received_at < now() - interval '10 minutes'
         ORDER BY id DESC LIMIT 1), 0)::text AS webhooks,
       coalesce((SELECT id FROM verifications WHERE answered_at < now() - interval '10 minutes'
         ORDER BY id DESC LIMIT 1), 0)::text AS verifications`,
    [mode],
  );
  const { last, ...now } = row ?? { last: null, ...ZERO };
  return { last: last ?? ZERO, now };
}

// While a finding is open, the older webhooks about its payment are read again in each run.
const STILL_OPEN = `SELECT reference FROM findings
  WHERE mode = $1 AND closed_at IS NULL`;

type SignedWebhook = { id: bigint; reference: Reference; body: Buffer };

const signedOnes = (those: string, webhooks = 'webhooks'): string => `(
  SELECT w.id, w.reference, w.body FROM ${webhooks} w
  WHERE w.authenticity = 'signed' AND ${those}
    AND EXISTS (SELECT FROM payments p WHERE p.reference = w.reference AND p.mode = $1)
  ORDER BY w.id LIMIT $4)`;

// Two parts, each read by its own index: as one condition they are found by reading all webhooks. So may the
// second be, because of its order and limit: OFFSET 0 keeps them apart from how its rows are found.
const OF_OPEN = `(SELECT * FROM webhooks WHERE reference IN (${STILL_OPEN}) OFFSET 0)`;
const SIGNED = `${signedOnes('w.id > greatest($2::bigint, $3::bigint)')} UNION ALL ${signedOnes(
  'w.id > $2::bigint AND w.id <= $3::bigint',
  OF_OPEN,
)} ORDER BY id LIMIT $4`;

/**
 * Signed webhooks about payments of the mode, in the order of their ids: those after `since`, and those
 * about payments with an open finding.
 */
function signedWebhooks(
  db: Queryable,
  mode: Mode,
  { since, after, limit }: { since: string; after: bigint; limit: number },
): Promise<SignedWebhook[]> {
  return db.query(SIGNED, [mode, after, since, limit]);
}

/**
 * Keeps what webhooks say about money: that it went back, or that it came for a payment that is not
 * confirmed. That it came for a confirmed payment contradicts nothing.
 */
async function noteWords(
  db: Queryable,
  words: readonly { reference: Reference; word: 'paid' | 'reversed' }[],
): Promise<void> {
  if (words.length === 0) return;
  await db.query(
    `INSERT INTO webhook_words
     SELECT reference, max(word) FROM unnest($1::text[], $2::text[]) said (reference, word)
     WHERE word = 'reversed' OR NOT EXISTS (SELECT FROM releases r WHERE r.reference = said.reference)
     GROUP BY reference
     ON CONFLICT (reference) DO UPDATE SET word = greatest(webhook_words.word, excluded.word)`,
    [words.map(({ reference }) => reference), words.map(({ word }) => word)],
  );
}

/**
 * Collects the confirmed payments that a webhook, a later verify answer or an open finding contradicts:
 * they stay in the comparison even if the list agrees. Every answer except exactly `paid` counts,
 * because an unreadable answer means that the state is unknown.
 */
async function gatherContested(db: Queryable, mode: Mode, since: string): Promise<void> {
  await db.query(
    `INSERT INTO contested
     SELECT reference FROM webhook_words WHERE word = 'reversed'
     UNION
     SELECT v.reference FROM verifications v JOIN releases r ON r.mode = v.mode AND r.reference = v.reference
     WHERE v.mode = $1 AND v.outcome <> 'paid' AND v.id > r.verification_id AND v.id > $2
     UNION
     SELECT r.reference FROM releases r WHERE r.mode = $1 AND r.reference IN (${STILL_OPEN})`,
    [mode, since],
  );
  await db.query('ANALYZE webhook_words, contested');
}

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
