import { MISSING_MONEY } from '../cases/classes.ts';
import { KeyRefused } from '../gateway/errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { PrismaClient } from '../platform/prisma/client.ts';

export type LookParts = {
  prisma: PrismaClient;
  gateway: Pick<Gateway, 'mode' | 'verify' | 'references' | 'isKeyRefused'>;
  /** What happened in these cases, a sentence each. */
  caseSentences(ids: bigint[]): Promise<string[]>;
  /**
   * Milliseconds after which a new case counts; left out: the time after which no smaller number
   * can turn up.
   */
  settledMs?: number;
};

/**
 * A state that holds, in sentences for people. What it is made of: `upTo` is the newest number,
 * `ids` names each part, and `kinds` its reasons. A higher number, another part or another reason
 * is news.
 */
export type Seen = { says: string; todo: string; upTo?: number; ids?: string[]; kinds?: string[] };

/**
 * A state of the program that people are told about. `fine` is the sentence while it does not hold.
 * `look` gets what people were told since the state began (null: nothing), and may throw.
 */
export type State = { name: string; fine: string; look: Look };
type Look = (parts: LookParts, told: { upTo: number } | null) => Promise<Seen | null>;

/** What somebody should be told. The names are fixed: shops set alarms on them. */
export const STATES: readonly State[] = [
  { name: 'key-refused', fine: 'The payment service accepts the secret key.', look: refusedKey },
  { name: 'payments-failing', fine: 'All payments can be checked.', look: failing },
  { name: 'payments-overdue', fine: 'All payments are checked in time.', look: overdue },
  { name: 'messages-waiting', fine: 'Your own system knows all paid orders.', look: waitingMessages },
  { name: 'message-given-up', fine: 'No message is given up.', look: givenUp },
  { name: 'cases-open', fine: 'No case is open.', look: openCases },
  { name: 'reconciliation-incomplete', fine: 'No reconciliation is overdue or incomplete.', look: reconciliation },
  { name: 'webhooks-refused', fine: 'Webhooks are not refused.', look: refusedWebhooks },
  { name: 'checkouts-stopped', fine: 'The program stops no checkouts.', look: stops },
];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ago = (ms: number): Date => new Date(Date.now() - ms);
const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/**
 * Once it was told, the service is asked: this process may have had no call since. Not answered is
 * neither.
 */
async function refusedKey({ gateway }: LookParts, told: unknown) {
  if (told === null && !(await gateway.isKeyRefused())) return null;
  try {
    await gateway.verify(gateway.references.create(), 'background');
    return null;
  } catch (error) {
    if (!(error instanceof KeyRefused)) throw error;
    const says = 'The payment service refuses the secret key: nobody can pay, and no payment can be checked.';
    return { says, todo: 'replace GATEWAY_SECRET_KEY, and start again' };
  }
}

/** Six failures in a row, with the pauses between them, take five minutes. */
async function failing({ prisma, gateway: { mode } }: LookParts) {
  // Who fails is asked again: said for the index of what is due.
  const where = { mode, failures: { gte: 6 }, nextCheckAt: { not: null } };
  const count = await prisma.payment.count({ where });
  if (count === 0) return null;
  const says = `${counted(count, 'payment')} could not be checked for minutes, or the answer could not be written.`;
  return { says, todo: 'look for "could not be" in the log: it says why' };
}

/** A worker that lives looks every half second, and puts off what it cannot learn. */
async function overdue({ prisma, gateway: { mode } }: LookParts) {
  const where = { mode, orderId: { not: null }, nextCheckAt: { lt: ago(10 * MINUTE_MS) } };
  const count = await prisma.payment.count({ where });
  if (count === 0) return null;
  const says = `${counted(count, 'payment')} should have been checked ten minutes ago: is there a worker?`;
  return { says, todo: 'npm run worker, or WORKER=inline' };
}

/**
 * `order.paid` ships goods, so it must be sent within this time, whatever the reason why it was
 * not.
 */
const ANNOUNCED_WITHIN_MS = 15 * MINUTE_MS;
/** Reasons are read of so many messages; the others have the same ones. */
const MAX_REASONS_READ = 1_000;

/**
 * The messages `order.paid` that should have been sent. Version 1.0.0 wrote some as not wanted,
 * because its process had no receiver: those are not counted.
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

/** The kind of reason: another one is told at once. */
function kindOf({ heldBy, nextTryAt, tries }: Unsent): string {
  if (heldBy !== null) return heldBy === MISSING_MONEY ? 'missing money' : 'held';
  if (nextTryAt === null) return 'given up';
  return tries === 0 ? 'never tried' : 'refused';
}

/** Why a message was not sent, as the end of a sentence that begins with how many. */
function whyUnsent({ heldBy, nextTryAt, tries, lastError }: Unsent): string {
  if (heldBy === MISSING_MONEY) return 'held because its money is missing';
  if (heldBy !== null) return `held by ${heldBy}`;
  if (nextTryAt === null) return `given up (${lastError ?? 'no reason is known'})`;
  if (tries === 0) return 'never tried: no worker with FULFILMENT_URL or src/custom/fulfilment.ts runs';
  return `refused and tried again (${lastError ?? 'no answer yet'})`;
}

async function givenUp({ prisma, gateway: { mode } }: LookParts) {
  const where = { mode, sentAt: null, nextTryAt: null, heldBy: null, tries: { gt: 0 } };
  const { _count: count, _max: newest } = await prisma.message.aggregate({ where, _count: true, _max: { seq: true } });
  if (count === 0) return null;
  const says = `${counted(count, 'message')} to your own system: nobody took them, and they are given up.`;
  const read = { where, orderBy: { seq: 'desc' }, take: MAX_REASONS_READ, select: { seq: true } } as const;
  const ids = (await prisma.message.findMany(read)).map(({ seq }) => String(seq));
  return { says, todo: 'npm run cli -- messages list, and messages resend ID', upTo: Number(newest.seq), ids };
}

const MAX_SENTENCES = 5;
/**
 * A case gets its number before COMMIT, and transactions are shorter than this: no smaller number
 * turns up later.
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

/** A light run that was completed does not end what a whole one began. */
async function reconciliation({ prisma, gateway: { mode } }: LookParts) {
  const newest = { orderBy: { startedAt: 'desc' }, select: { verdict: true, endedAt: true } } as const;
  const ended = { mode, endedAt: { not: null } };
  const last = await prisma.run.findFirst({ where: ended, ...newest });
  const whole = await prisma.run.findFirst({ where: { ...ended, full: true }, ...newest });
  const todo = 'npm run reconcile';
  if (last?.verdict === 'incomplete' || whole?.verdict === 'incomplete')
    return { says: 'The last reconciliation was not completed.', todo, kinds: ['incomplete'] };
  const first = whole ? null : await prisma.payment.findFirst({ where: { mode }, orderBy: { createdAt: 'asc' } });
  const since = whole?.endedAt ?? first?.createdAt ?? new Date();
  if (since > ago(36 * HOUR_MS)) return null;
  const says = 'No whole reconciliation for a day and a half: nobody knows whether the money agrees.';
  return { says, todo, kinds: ['overdue'] };
}

/** One that was taken shows that the settings are right, and the others are a stranger's. */
async function refusedWebhooks({ prisma, gateway: { mode } }: LookParts) {
  const lately = { mode, lastAt: { gte: ago(HOUR_MS) } };
  const refused = { ...lately, signature: 'refused', reason: { not: 'too-many-requests' } };
  const { _sum: sum } = await prisma.webhook.aggregate({ where: refused, _sum: { times: true } });
  if (sum.times === null) return null;
  if ((await prisma.webhook.findFirst({ where: { ...lately, signature: { not: 'refused' } } })) !== null) return null;
  const says = `${counted(sum.times, 'webhook')} refused in the last hour, and none taken.`;
  return { says, todo: 'compare WEBHOOK_SECRETS with the payment service, and webhook.signature of the adapter' };
}

async function stops({ prisma, gateway: { mode } }: LookParts) {
  const stopped = await prisma.stop.findMany({ where: { mode, endedAt: null, by: 'program' }, orderBy: { id: 'asc' } });
  const [last] = stopped.slice(-1);
  if (last === undefined) return null;
  const says = stopped.map(({ what, reason }) => `Nobody can pay in ${what}: ${reason}.`).join('\n');
  return { says, todo: `npm run cli -- checkouts resume ${last.what}`, upTo: Number(last.id) };
}
