import type { Logger } from 'pino';
import { Webhook } from 'standardwebhooks';
import { EnvHttpProxyAgent } from 'undici';
import { USER_AGENT } from '../gateway/client.ts';
import { codeOf, retryAfterSec, textOf } from '../gateway/errors.ts';
import { storable } from '../gateway/evidence.ts';
import { startCrew, type Loop } from '../platform/loop.ts';
import type { Mode, PrismaClient } from '../platform/prisma/client.ts';
import type { Secret } from '../platform/secret.ts';

/** A message as its receiver gets it: the same id and the same bytes at every attempt. */
export type Outgoing = { id: string; type: string; orderId: string | null; body: string };

/**
 * Takes a message, or throws, and then the message is sent again. Each message is delivered at
 * least once, always under the same id. A receiver that has not answered when `signal` aborts has
 * not taken the message.
 */
export type Receiver = (message: Outgoing, signal: AbortSignal) => Promise<void>;

/** The receiver refused a message. It may ask for a pause in seconds, or for no further attempt. */
export class NotTaken extends Error {
  readonly waitSec: number | null;
  readonly isFinal: boolean;

  constructor(message: string, waitSec: number | null, isFinal = false) {
    super(message);
    this.waitSec = waitSec;
    this.isFinal = isFinal;
  }
}

/**
 * The time limit of every receiver, including the shop's own function. It is shorter than the lease
 * of a message.
 */
const ATTEMPT_MS = 15_000;
const GONE = 410;

/**
 * Sends messages to the shop's own system by signed POST (Standard Webhooks). It does not follow
 * redirects.
 */
function createHttpReceiver(url: URL, secret: Secret): Receiver & { close(): Promise<void> } {
  const signer = new Webhook(secret.reveal());
  const agent = new EnvHttpProxyAgent({
    connections: MESSAGES_AT_ONCE,
    keepAliveTimeout: 4_000,
    connect: { timeout: 3_000 },
  });
  const receive: Receiver = async ({ id, body }, signal) => {
    const sentAt = new Date();
    const headers = {
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
      'webhook-signature': signer.sign(id, sentAt, body),
    };
    const path = url.pathname + url.search;
    const answer = await agent
      .request({ origin: url.origin, path, method: 'POST', headers, body, signal })
      .catch((error: unknown) => {
        throw new NotTaken(`no answer from the receiver: ${codeOf(error)}`, null);
      });
    await answer.body.dump({ limit: 65_536 });
    const { statusCode: status } = answer;
    if (status >= 200 && status <= 299) return;
    const advice = status === 401 || status === 403 ? ': check FULFILMENT_SECRET and FULFILMENT_URL' : '';
    throw new NotTaken(`the receiver answered HTTP ${status}${advice}`, retryAfterSec(answer.headers), status === GONE);
  };
  return Object.assign(receive, { close: () => agent.destroy() });
}

/**
 * Stops waiting for a receiver that never returns. The receiver may still take the message, which
 * is then sent again.
 */
async function withinTime(receiver: Receiver, message: Outgoing): Promise<void> {
  const signal = AbortSignal.timeout(ATTEMPT_MS);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(new NotTaken(`the receiver did not answer within ${ATTEMPT_MS / 1_000} seconds`, null));
    });
  });
  // Call the receiver inside a promise of the race: an error that it throws at once must not leave
  // `late` without a handler.
  const taken = Promise.resolve().then(() => receiver(message, signal));
  await Promise.race([taken, late]);
}

/** @returns null if there is no address or no secret */
export function receiverAt(url: URL | null, secret: Secret | null): ReturnType<typeof createHttpReceiver> | null {
  return url === null || secret === null ? null : createHttpReceiver(url, secret);
}

const MESSAGES_AT_ONCE = 8;
const LOOK_EVERY_MS = 500;
/**
 * The pauses between attempts. The last one is repeated. A message that nobody takes is given up
 * after three days.
 */
const PAUSES_SEC = [5, 30, 120, 600, 1_800, 3_600];
const GIVE_UP_SEC = 3 * 86_400;
const LONGEST_WAIT_SEC = 3_600;
/**
 * In seconds. No retry is planned for a later time. The extra minute covers rounding and slow
 * statements.
 */
const LATEST_RETRY_SEC = LONGEST_WAIT_SEC + 60;

type Claimed = Outgoing & { tries: number; isOld: boolean };

/**
 * Claims messages that are due. `order.paid` ships goods, so it goes first and waits for nothing.
 * The other messages of an order are sent in the order of their events. A message that is held back
 * or given up does not block the next one. A message that was never tried goes before those that
 * failed. A lease or a retry that is later than it can be was written before the database's clock
 * was set back, so it delays nothing.
 */
async function claim(prisma: PrismaClient, mode: Mode, limit: number): Promise<Claimed[]> {
  // SKIP LOCKED: many processes deliver, and none waits for another. The count of tries identifies
  // the lease.
  return prisma.$queryRaw<Claimed[]>`
    UPDATE messages SET leased_until = clock_timestamp() + interval '30 seconds', tries = tries + 1,
      first_try_at = coalesce(first_try_at, clock_timestamp())
    WHERE id IN (
      SELECT id FROM messages m
      WHERE (next_try_at NOT BETWEEN clock_timestamp()
            AND clock_timestamp() + make_interval(secs => ${LATEST_RETRY_SEC})
          OR (tries = 0 AND next_try_at IS NOT NULL))
        AND held_by IS NULL AND sent_at IS NULL AND mode = ${mode}::mode
        AND (leased_until IS NULL
          OR leased_until NOT BETWEEN clock_timestamp() AND clock_timestamp() + interval '31 seconds')
        AND (type = 'order.paid' OR NOT EXISTS (
          SELECT 1 FROM messages before
          WHERE before.order_id = m.order_id AND before.seq < m.seq AND before.sent_at IS NULL AND before.held_by IS NULL
            AND before.next_try_at IS NOT NULL))
      ORDER BY type <> 'order.paid', tries > 0, seq LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING id, type, order_id AS "orderId", body, tries, first_try_at < clock_timestamp() - make_interval(secs => ${GIVE_UP_SEC}) AS "isOld"`;
}

/**
 * Sends one message and records the result. A failure is recorded only if no other process has
 * taken the lease.
 */
async function deliver(prisma: PrismaClient, receiver: Receiver, logger: Logger, message: Claimed): Promise<void> {
  const { id, type, orderId, tries } = message;
  try {
    await withinTime(receiver, message);
  } catch (error) {
    // The error is logged, and the shop's own receiver may quote an address in it.
    const lastError = storable(textOf(error instanceof Error ? error.message : error));
    const isLast = message.isOld || (error instanceof NotTaken && error.isFinal);
    const pauseSec = PAUSES_SEC[Math.min(tries, PAUSES_SEC.length) - 1] ?? LONGEST_WAIT_SEC;
    const wantedSec = error instanceof NotTaken ? (error.waitSec ?? 0) : 0;
    const pauseOrWantedSec = Math.max(pauseSec, wantedSec);
    // By the database's clock: a process with a wrong clock would retry too early, or hours too
    // late.
    await prisma.$executeRaw`
      UPDATE messages SET last_error = ${lastError}, leased_until = NULL, next_try_at =
        CASE WHEN ${isLast} THEN NULL ELSE clock_timestamp() + make_interval(secs => ${pauseOrWantedSec}) END
      WHERE id = ${id} AND tries = ${tries} AND sent_at IS NULL`;
    logger[isLast ? 'error' : 'warn'](
      { ...(isLast && { alert: 'message_given_up' }), messageId: id, type, orderId, tries, lastError },
      'message not taken',
    );
    return;
  }
  await prisma.message.updateMany({
    // Record the delivery even if the lease was lost or the message was held meanwhile, because the
    // receiver has the message.
    where: { id, sentAt: null },
    data: { sentAt: new Date(), nextTryAt: null, leasedUntil: null, lastError: null, heldBy: null },
  });
  logger.info({ messageId: id, type, orderId, tries }, 'message delivered');
}

/** Delivers the messages that are due, until it is stopped. */
export function startDeliveryLoop(prisma: PrismaClient, mode: Mode, receiver: Receiver, logger: Logger): Loop {
  return startCrew({
    name: 'messages',
    atOnce: MESSAGES_AT_ONCE,
    claim: (limit) => claim(prisma, mode, limit),
    work: (message) => deliver(prisma, receiver, logger, message),
    pauseMs: LOOK_EVERY_MS,
    logger,
  });
}
