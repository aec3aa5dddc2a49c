import type { Clock } from '../platform/clock.ts';
import type { Queryable } from '../platform/database/database.ts';
import type { Reference } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import { noteRefused, type RefusalReason, type RefusedSample } from './refused-webhooks.sql.ts';

type RefusalsParts = {
  db: Queryable;
  mode: Mode;
  clock: Clock;
  /** Reads a body, which costs too much to be done for each. */
  referenceOf: (body: Buffer) => Reference | null;
  logger: Logger;
};

type Refusal = { reason: RefusalReason; address: string; body: Buffer };
type Counted = { times: number; newest: (Refusal & { at: string })[] };

const SAMPLES = 3;
const WRITE_EVERY_MS = 1_000;
const AFTER_FAILURE_MS = 10_000;
const TELL_EVERY_MS = 10_000;

/**
 * Counts the webhooks that are refused, and keeps the newest. A flood of forged webhooks must not fill disk
 * or log, nor slow the others: each adds one to a number in memory, which is written once a second, and
 * logged at once and then every ten seconds.
 */
export function createRefusals(parts: RefusalsParts): (refusal: Refusal) => void {
  const { db, mode, clock, referenceOf, logger } = parts;
  const tell = createRefusalLog(parts);
  let counted = new Map<RefusalReason, Counted>();
  let isWriting = false;

  const sampleOf = ({ at, address, body }: Refusal & { at: string }): RefusedSample => ({
    at,
    address,
    reference: referenceOf(body),
  });

  async function writeAll(): Promise<void> {
    const refused = [...counted].map(([reason, { times, newest }]) => ({
      reason,
      times,
      samples: newest.map(sampleOf),
    }));
    counted = new Map();
    isWriting = refused.length > 0;
    if (!isWriting) return;
    const isWritten = await noteRefused(db, mode, refused).then(
      () => true,
      (error: unknown) => {
        logger.warn({ err: error }, 'refused webhooks could not be written down');
        return false;
      },
    );
    setTimeout(() => void writeAll(), isWritten ? WRITE_EVERY_MS : AFTER_FAILURE_MS).unref();
  }

  return (refusal) => {
    tell(refusal);
    const of = counted.get(refusal.reason) ?? { times: 0, newest: [] };
    const newest = [{ ...refusal, at: clock.now().toISOString() }, ...of.newest].slice(0, SAMPLES);
    counted.set(refusal.reason, { times: of.times + 1, newest });
    if (isWriting) return;
    isWriting = true;
    setImmediate(() => void writeAll());
  };
}

const MESSAGES: Readonly<Record<RefusalReason, string>> = {
  'bad-signature': 'webhook refused: bad signature',
  malformed: 'webhook refused: not a JSON object',
  'too-many': 'webhook refused: too many unsigned ones',
};

function createRefusalLog({ clock, referenceOf, logger }: RefusalsParts): (refusal: Refusal) => void {
  const told = new Map<RefusalReason, { times: number; notBeforeMs: number }>();
  return ({ reason, address, body }) => {
    const { times, notBeforeMs } = told.get(reason) ?? { times: 0, notBeforeMs: -Infinity };
    if (clock.elapsedMs() < notBeforeMs) {
      told.set(reason, { times: times + 1, notBeforeMs });
      return;
    }
    const reference = referenceOf(body) ?? undefined;
    logger.warn({ times: times + 1, reference, address }, MESSAGES[reason]);
    told.set(reason, { times: 0, notBeforeMs: clock.elapsedMs() + TELL_EVERY_MS });
  };
}
