import { MISSING_MONEY } from '../cases/classes.ts';
import { BY_PROGRAM, openStops } from '../cases/stops.ts';
import { KeyRefused } from '../gateway/errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { PrismaClient } from '../platform/prisma/client.ts';

export type LookParts = {
  prisma: PrismaClient;
  gateway: Pick<Gateway, 'mode' | 'verify' | 'references' | 'isKeyRefused'>;
  /** One sentence per case that says what happened. */
  caseSentences(ids: bigint[]): Promise<string[]>;
  /**
   * A case counts after this many milliseconds. Default: the time after which no case with a
   * smaller number can appear.
   */
  settledMs?: number;
};

/**
 * A state that holds, described for people. `upTo` is the newest number in it, `ids` identifies its
 * parts, and `kinds` lists its reasons. A higher number, a new part or a new reason is news.
 */
export type Seen = { says: string; todo: string; upTo?: number; ids?: string[]; kinds?: string[] };

/**
 * A state of the program that people are alerted to. `fine` describes the opposite. `look` gets
 * what people were told since the state began (null: nothing), and may throw.
 */
export type State = { name: string; fine: string; look: Look };
type Look = (parts: LookParts, told: { upTo: number } | null) => Promise<Seen | null>;

/** All states. Their names are fixed, because shops set alarms on them. */
export const STATES: readonly State[] = [
  { name: 'key-refused', fine: 'The payment service accepts the secret key.', look: refusedKey },
  { name: 'payments-failing', fine: 'All payments can be verified.', look: failing },
  { name: 'payments-overdue', fine: 'All payments are verified in time.', look: overdue },
  { name: 'messages-waiting', fine: 'Your own system has received all paid orders.', look: waitingMessages },
  { name: 'message-given-up', fine: 'No message to your own system was given up.', look: givenUp },
  { name: 'cases-open', fine: 'No case is open.', look: openCases },
  {
    name: 'reconciliation-incomplete',
    fine: 'No comparison with the payment service is overdue.',
    look: reconciliation,
  },
  { name: 'webhooks-refused', fine: 'Notifications from the payment service are accepted.', look: refusedWebhooks },
  { name: 'checkouts-stopped', fine: 'The program stops no checkouts.', look: stops },
];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ago = (ms: number): Date => new Date(Date.now() - ms);
const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/**
 * If the state was told before, this asks the service, because this process may have made no call
 * since. If the service does not answer, the state is unknown.
 */
async function refusedKey({ gateway }: LookParts, told: unknown) {
  if (told === null && !(await gateway.isKeyRefused())) return null;
  try {
    await gateway.verify(gateway.references.create(), 'background');
    return null;
  } catch (error) {
    if (!(error instanceof KeyRefused)) throw error;
    const says = 'The payment service refuses the secret key: nobody can pay, and no payment can be verified.';
    return { says, todo: 'replace GATEWAY_SECRET_KEY and restart' };
  }
}

/** Six failures in a row take five minutes, including the pauses between them. */
async function failing({ prisma, gateway: { mode } }: LookParts) {
  // A failed payment always has a next check. The condition is there so that the query uses the
  // index of due payments.
  const where = { mode, failures: { gte: 6 }, nextCheckAt: { not: null } };
  const count = await prisma.payment.count({ where });
  if (count === 0) return null;
  const payments = counted(count, 'payment');
  const says = `${payments} could not be verified for at least five minutes, or the answer could not be stored.`;
  return { says, todo: 'search the log for "could not be" to find the reason' };
}

/** A running worker claims due payments every half second, and postpones those it cannot verify. */
async function overdue({ prisma, gateway: { mode } }: LookParts) {
  const where = { mode, orderId: { not: null }, nextCheckAt: { lt: ago(10 * MINUTE_MS) } };
  const count = await prisma.payment.count({ where });
  if (count === 0) return null;
  const says = `${counted(count, 'payment')} should have been verified at least ten minutes ago. Is a worker running?`;
  return { says, todo: 'start a worker by npm run worker, or set WORKER=inline' };
}

/**
 * `order.paid` releases goods, so an alert is due if it was not sent within this time, for whatever
 * reason.
 */
const ANNOUNCED_WITHIN_MS = 15 * MINUTE_MS;
/** Reasons are read from this many messages at most. The others usually have the same reasons. */
const MAX_REASONS_READ = 1_000;

/**
 * The messages `order.paid` that should have been sent. Version 1.0.0 marked some as not wanted,
 * because its process had no receiver. Those do not count.
 */
export async function waitingMessages({ prisma, gateway: { mode } }: Pick<LookParts, 'prisma' | 'gateway'>) {
  const notWanted = { nextTryAt: null, tries: 0, heldBy: null };
  const createdAt = { lt: ago(ANNOUNCED_WITHIN_MS) };
  const where = { mode, type: 'order.paid', sentAt: null, createdAt, NOT: notWanted };
  const about = { _count: true, _max: { seq: true }, _min: { createdAt: true } } as const;
  const { _count: count, _max: newest, _min: oldest } = await prisma.message.aggregate({ where, ...about });
  if (count === 0) return null;
  const why = { seq: true, heldBy: true, nextTryAt: true, tries: true, lastError: true } as const;
  const read = { where, orderBy: { seq: 'asc' }, take: MAX_REASONS_READ, select: why } as const;
  const messages = await prisma.message.findMany(read);
  const reasons = new Map<string, number>();
  for (const message of messages) {
    const reason = whyUnsent(message);
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  const told = [...reasons].slice(0, MAX_REASONS_TOLD).map(([reason, times]) => `${times} ${reason}`);
  if (reasons.size > MAX_REASONS_TOLD) told.push('and more');
  const says = `${counted(count, 'paid order')} not announced to your own system: ${told.join('; ')}.`;
  return {
    says,
    todo: 'npm run cli -- messages list shows each of them',
    upTo: Number(newest.seq),
    ids: messages.map(({ seq }) => String(seq)),
    kinds: [...new Set(messages.map(kindOf))],
    since: oldest.createdAt ?? new Date(),
  };
}

const MAX_REASONS_TOLD = 5;
type Unsent = { heldBy: string | null; nextTryAt: Date | null; tries: number; lastError: string | null };

/** The kind of a reason. A new kind is told immediately. */
function kindOf({ heldBy, nextTryAt, tries }: Unsent): string {
  if (heldBy !== null) return heldBy === MISSING_MONEY ? 'missing money' : 'held';
  if (nextTryAt === null) return 'given up';
  return tries === 0 ? 'never tried' : 'refused';
}

/** Why a message was not sent, as the end of a phrase that begins with a number of messages. */
function whyUnsent({ heldBy, nextTryAt, tries, lastError }: Unsent): string {
  if (heldBy === MISSING_MONEY) return 'held because its money is missing';
  if (heldBy !== null) return `held by ${heldBy}`;
  if (nextTryAt === null) return `given up (${lastError ?? 'no reason is known'})`;
  if (tries === 0) return 'never tried, because no worker with FULFILMENT_URL or src/custom/fulfilment.ts is running';
  return `refused and tried again (${lastError ?? 'no answer yet'})`;
}

async function givenUp({ prisma, gateway: { mode } }: LookParts) {
  const where = { mode, sentAt: null, nextTryAt: null, heldBy: null, tries: { gt: 0 } };
  const { _count: count, _max: newest } = await prisma.message.aggregate({ where, _count: true, _max: { seq: true } });
  if (count === 0) return null;
  const says = `${counted(count, 'message')} to your own system could not be delivered and will not be tried again.`;
  const read = { where, orderBy: { seq: 'desc' }, take: MAX_REASONS_READ, select: { seq: true } } as const;
  const ids = (await prisma.message.findMany(read)).map(({ seq }) => String(seq));
  return {
    says,
    todo: 'npm run cli -- messages list shows them, and messages resend MESSAGE sends one again',
    upTo: Number(newest.seq),
    ids,
  };
}

const MAX_SENTENCES = 5;
/**
 * A case gets its number before COMMIT, and transactions are shorter than this. No smaller number
 * can appear later.
 */
const SETTLED_MS = 15_000;

async function openCases(parts: LookParts, told: { upTo: number } | null) {
  const { prisma, caseSentences, settledMs = SETTLED_MS } = parts;
  const { mode } = parts.gateway;
  const open = { mode, closedAt: null };
  const where = { ...open, id: { gt: told?.upTo ?? 0 }, openedAt: { lte: ago(settledMs) } };
  const { _count: count, _max: newest } = await prisma.case.aggregate({ where, _count: true, _max: { id: true } });
  const all = count > 0 && told === null ? count : await prisma.case.count({ where: open });
  if (all === 0 || (count === 0 && told === null)) return null;
  const first = { orderBy: { id: 'asc' }, take: MAX_SENTENCES, select: { id: true } } as const;
  const sentences = await caseSentences((await prisma.case.findMany({ where, ...first })).map(({ id }) => id));
  const sum = told === null ? `${counted(all, 'case')} open.` : `${counted(count, 'new case')}, ${all} open in all.`;
  const says = [sum, ...sentences, ...(count > MAX_SENTENCES ? ['…'] : [])].join('\n');
  return { says, todo: 'npm run cases', upTo: Number(newest.id ?? 0) };
}

/**
 * An incomplete whole run stays open until a whole run completes. A completed light run does not
 * replace it.
 */
async function reconciliation({ prisma, gateway: { mode } }: LookParts) {
  const newest = { orderBy: { startedAt: 'desc' }, select: { verdict: true, endedAt: true } } as const;
  const ended = { mode, endedAt: { not: null } };
  const last = await prisma.run.findFirst({ where: ended, ...newest });
  const whole = await prisma.run.findFirst({ where: { ...ended, full: true }, ...newest });
  const todo = 'npm run reconcile';
  if (last?.verdict === 'incomplete' || whole?.verdict === 'incomplete')
    return { says: 'The last history run was not completed.', todo, kinds: ['incomplete'] };
  const first = whole ? null : await prisma.payment.findFirst({ where: { mode }, orderBy: { createdAt: 'asc' } });
  const since = whole?.endedAt ?? first?.createdAt ?? new Date();
  if (since > ago(36 * HOUR_MS)) return null;
  const says = 'No whole run was completed for 36 hours, so differences in the money may be unnoticed.';
  return { says, todo, kinds: ['overdue'] };
}

/**
 * One accepted webhook shows that the settings are right. The refused ones then come from somebody
 * else.
 */
async function refusedWebhooks({ prisma, gateway: { mode } }: LookParts) {
  const lately = { mode, lastAt: { gte: ago(HOUR_MS) } };
  const refused = { ...lately, signature: 'refused', reason: { not: 'too-many-requests' } };
  const { _sum: sum } = await prisma.webhook.aggregate({ where: refused, _sum: { times: true } });
  if (sum.times === null) return null;
  if ((await prisma.webhook.findFirst({ where: { ...lately, signature: { not: 'refused' } } })) !== null) return null;
  const says = `${counted(sum.times, 'webhook')} refused in the last hour, and none accepted.`;
  return { says, todo: 'compare WEBHOOK_SECRETS with the payment service, and webhook.signature of the adapter' };
}

async function stops({ prisma, gateway: { mode } }: LookParts) {
  const stopped = (await openStops(prisma, mode)).filter(({ by }) => by === BY_PROGRAM);
  const [last] = stopped.slice(-1);
  if (last === undefined) return null;
  const says = stopped.map(({ what, reason }) => `Nobody can pay in ${what}: ${reason}.`).join('\n');
  return { says, todo: `npm run cli -- checkouts resume ${last.what}`, upTo: Number(last.id) };
}
